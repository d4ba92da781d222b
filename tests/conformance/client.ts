/**
 * A client of the Model Context Protocol that lists the tools of a server and
 * calls the first of them. The official conformance suite runs it
 * (`deno task conformance`). It is also an example of how to use this library:
 * begin with `authorize`. What it does depends on the responses of the servers
 * and on its configuration, never on the name of a scenario.
 */
import * as oauth from "../../mod.ts";

type Context = oauth.IAuthorizationContext;

/** A service with a secret, or with a private key for ES256 (PKCS #8 in PEM). */
type Service =
  | { client_id: string; client_secret: string }
  | { client_id: string; private_key_pem: string };

/** A workload with an assertion of its platform. */
type Workload = { client_id: string; valid_jwt: string };

/** A client with the ID token of a user, from an identity provider. */
interface ISignedInUser {
  client_id: string;
  client_secret: string;
  idp_client_id: string;
  idp_id_token: string;
  idp_issuer: string;
  idp_token_endpoint: string;
}

/** The configuration: nothing, a client for users, or a client without users. */
type Config =
  | { client_id?: never }
  | oauth.IKnownClient
  | Service
  | Workload
  | ISignedInUser;

const MAX_ATTEMPTS = 3;
const REDIRECT_URI =
  `http://127.0.0.1:${oauth.DEFAULT_AUTH_FLOW_PORT}/callback`;
const CLIENT_METADATA_URL =
  "https://conformance-test.local/client-metadata.json";

const [target = ""] = Deno.args;
const revision = Deno.env.get("MCP_CONFORMANCE_PROTOCOL_VERSION") ?? "";
const config: Config = JSON.parse(
  Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}",
);
/** The timeout of the whole run. */
const signal = AbortSignal.timeout(20_000);

/** Clients by the issuer that they are registered with. */
const clients = new Map<string, oauth.IKnownClient>();
if ("issuer" in config) clients.set(config.issuer, config);
/** The scopes requested so far, by issuer: a step-up requests them again. */
const requestedScopes = new Map<string, string[]>();
/** What requests to the resource are sent with, after the first `401`. */
let token: oauth.IToken | undefined;
let dpop: oauth.IDpop | undefined;

/** Gets a token, after the resource responded with `401` or `403`. */
async function authorize(challenge: Response): Promise<void> {
  // Each time, as the resource may have moved to another authorization server.
  const context = await oauth.discoverAuthorization(target, {
    challenge,
    signal,
  });
  const isBound = context.challenge?.scheme.toLowerCase() === "dpop";
  dpop = isBound ? dpop ?? await oauth.createDpop() : undefined;
  token = await obtainToken(context);
}

/** Uses the grant for this configuration. */
async function obtainToken(context: Context): Promise<oauth.IToken> {
  if (config.client_id === undefined || "issuer" in config) {
    return await authorizeUser(context);
  }
  // The suite does not name the issuer of these credentials. If yours is known,
  // compare it with `context.issuer` before you send them.
  if ("idp_id_token" in config) return await crossApp(context, config);
  if ("valid_jwt" in config) return await useAssertion(context, config);
  return await authorizeService(context, config);
}

/** Authorization code grant with PKCE. */
async function authorizeUser(context: Context): Promise<oauth.IToken> {
  const { issuer, resource, serverMetadata } = context;
  const registration = await findClient(context);
  const scopes = oauth.mergeScopes(
    requestedScopes.get(issuer),
    oauth.selectScopes({ ...context, offlineAccess: true }),
  );
  requestedScopes.set(issuer, scopes);

  const state = oauth.createState();
  const { codeChallenge, codeVerifier } = await oauth.createPkcePair();
  const url = oauth.buildAuthorizationUrl(serverMetadata, {
    clientId: registration.client_id,
    redirectUri: REDIRECT_URI,
    state,
    codeChallenge,
    scopes,
    resource,
    // Revision 2025-03-26 requires PKCE of servers without metadata, too.
    assumePkce: context.serverMetadataUrl === undefined,
  });
  const callback = await visit(url);
  const expected = { state, serverMetadata };
  const { code } = oauth.parseAuthorizationResponse(callback, expected);

  const body = oauth.buildAuthorizationCodeBody({
    code,
    codeVerifier,
    redirectUri: REDIRECT_URI,
    resource,
  });
  const client = oauth.selectClientAuthentication(serverMetadata, registration);
  return await oauth.fetchToken(serverMetadata, body, { client, dpop, signal });
}

/** Returns the client for this issuer; registers one if necessary. */
async function findClient({ issuer, serverMetadata }: Context) {
  const selection = oauth.selectClient(serverMetadata, {
    knownClients: [...clients.values()],
    clientMetadataUrl: CLIENT_METADATA_URL,
  });
  if ("client" in selection) return selection.client;
  if (selection.kind === "ask_user") {
    throw new Error(`${issuer} requires a client that its operator registers`);
  }
  // A native app cannot keep a secret (RFC 8252, section 8.5).
  const methods = serverMetadata.token_endpoint_auth_methods_supported;
  const registration = await oauth.registerClient(serverMetadata, {
    client_name: "Conformance client",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    ...(methods?.includes("none") && { token_endpoint_auth_method: "none" }),
  }, { signal });
  clients.set(issuer, { ...registration, issuer });
  return registration;
}

/** Plays the browser of a user who consents; returns the callback URL. */
async function visit(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: "manual", signal });
  await response.body?.cancel();
  const callback = response.headers.get("Location");
  if (!callback) {
    throw new Error(`${url.origin} did not redirect to the client`);
  }
  return callback;
}

/** Client credentials grant. */
async function authorizeService(
  { issuer, resource, scopes, serverMetadata }: Context,
  service: Service,
): Promise<oauth.IToken> {
  const body = oauth.buildClientCredentialsBody({ resource, scopes });
  const client = "client_secret" in service
    ? oauth.selectClientAuthentication(serverMetadata, service)
    : oauth.privateKeyJwt(
      service.client_id,
      await importKey(service.private_key_pem),
      { issuer },
    );
  return await oauth.fetchToken(serverMetadata, body, { client, dpop, signal });
}

async function importKey(pem: string): Promise<CryptoKey> {
  const base64 = pem.replace(/-----[^-]+-----|\s/g, "");
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { subtle } = crypto;
  return await subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
}

/** JWT bearer grant, with the assertion of the platform. */
async function useAssertion(
  { issuer, resource, scopes, serverMetadata }: Context,
  { client_id, valid_jwt: assertion }: Workload,
): Promise<oauth.IToken> {
  const body = oauth.buildJwtBearerBody({ assertion, resource, scopes });
  const client = oauth.publicClient(client_id, { issuer });
  return await oauth.fetchToken(serverMetadata, body, { client, dpop, signal });
}

/** Cross-app access, with an ID-JAG of the identity provider. */
async function crossApp(
  { issuer, resource, scopes, serverMetadata }: Context,
  user: ISignedInUser,
): Promise<oauth.IToken> {
  const idp = {
    issuer: user.idp_issuer,
    token_endpoint: user.idp_token_endpoint,
  };
  const idJag = await oauth.fetchIdJag(idp, {
    client: oauth.publicClient(user.idp_client_id, { issuer: idp.issuer }),
    subjectToken: user.idp_id_token,
    audience: issuer,
    resourceClientId: user.client_id,
    resource,
    scopes,
    signal,
  });
  const client = oauth.selectClientAuthentication(serverMetadata, user);
  const options = { client, resource, scopes, dpop, signal };
  return await oauth.redeemIdJag(serverMetadata, idJag, options);
}

/** Returns the headers with the token, if there is one. */
async function authorizationHeaders(): Promise<Record<string, string>> {
  const accessToken = token?.access_token;
  if (!accessToken) return {};
  return dpop
    ? await dpop.createHeaders({ method: "POST", url: target, accessToken })
    : { Authorization: `Bearer ${accessToken}` };
}

/** Posts a message, again if the proof needs a nonce (RFC 9449, section 9). */
async function post(method: string, body: string): Promise<Response> {
  const send = async () => {
    const headers = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": method,
      ...await authorizationHeaders(),
    };
    return await fetch(target, { method: "POST", headers, body, signal });
  };
  const response = await send();
  if (!dpop?.noteResponse(target, response)) return response;
  await response.body?.cancel();
  return await send();
}

/** Calls a method of the server, and gets a token or a better one as required. */
async function call(method: string, params: object, id?: number) {
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  for (let attempt = 1;; attempt++) {
    const response = await post(method, body);
    const text = await response.text();
    const { ok, status } = response;
    if (ok) return readResult(text);
    const error = oauth.findChallenge(response)?.params.error;
    const isStepUp = status === 403 && error === "insufficient_scope";
    if (status !== 401 && !isStepUp) throw new Error(`${method}: ${status}`);
    if (attempt === MAX_ATTEMPTS) {
      const message = `${method} failed ${attempt} times`;
      throw new oauth.OAuthClientError("oauth_error", message, { error });
    }
    await authorize(response);
  }
}

/** Returns the result in a response of JSON, or of an event stream with JSON. */
function readResult(text: string): { tools?: { name: string }[] } | undefined {
  const json = /^(?:data: *)?(\{.+\})$/m.exec(text)?.[1];
  if (!json) return undefined;
  const { error, result } = JSON.parse(json);
  if (error) throw new Error(`Error of the server: ${JSON.stringify(error)}`);
  return result;
}

/** Initializes the session, or sends `_meta` instead in later revisions. */
async function useServer(): Promise<void> {
  const clientInfo = { name: "Conformance client", version: "1.0.0" };
  const isLater = revision >= "2026-07-28";
  const prefix = "io.modelcontextprotocol/";
  const _meta = {
    [`${prefix}protocolVersion`]: revision,
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: clientInfo,
  };
  const common = isLater ? { _meta } : {};
  if (!isLater) {
    const capabilities = {};
    const protocolVersion = revision;
    await call("initialize", { protocolVersion, capabilities, clientInfo }, 1);
    await call("notifications/initialized", {});
  }
  const list = await call("tools/list", common, 2);
  const name = list?.tools?.[0]?.name;
  await call("tools/call", { ...common, name, arguments: {} }, 3);
}

console.log(`${target} at revision ${revision}`);
try {
  await useServer();
} catch (failure) {
  const isKnown = failure instanceof oauth.OAuthClientError;
  console.error(isKnown ? `${failure.code}: ${failure.message}` : failure);
  Deno.exit(1);
}
