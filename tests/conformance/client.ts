/**
 * A client of the Model Context Protocol that lists a server's tools and calls
 * the first of them. It is what the official conformance suite drives
 * (`deno task conformance`), and the example of how this library is used: begin
 * with `authorize`. All that has to do with authorization is done by the public
 * functions, those that `oauth.` stands before; what is done follows from what
 * the servers say and from what was set up, never from the name of a scenario.
 */
import * as oauth from "../../mod.ts";

type Context = oauth.IAuthorizationContext;

/** A service that has a secret, or a private key: PKCS #8 as PEM, for ES256. */
type Service =
  | { client_id: string; client_secret: string }
  | { client_id: string; private_key_pem: string };

/** A workload whose platform tells it who it is. */
type Workload = { client_id: string; valid_jwt: string };

/** A client whose user has signed in at an identity provider already. */
interface ISignedInUser {
  client_id: string;
  client_secret: string;
  idp_client_id: string;
  idp_id_token: string;
  idp_issuer: string;
  idp_token_endpoint: string;
}

/** What was set up: nothing, a client for users, or a way to do without them. */
type Setup =
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
const setup: Setup = JSON.parse(
  Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}",
);
/** For all requests together: nobody else ends a client that hangs. */
const signal = AbortSignal.timeout(20_000);

/** Clients by the issuer they are registered with, and shown to no other. */
const clients = new Map<string, oauth.IKnownClient>();
if ("issuer" in setup) clients.set(setup.issuer, setup);
/** Scopes asked for so far, by issuer: a step-up must not lose them. */
const askedScopes = new Map<string, string[]>();
/** What requests to the resource are made with, once there is something. */
let token: oauth.IToken | undefined;
let dpop: oauth.IDpop | undefined;

/** Gets a token, or a better one, after the resource has refused a request. */
async function authorize(refusal: Response): Promise<void> {
  // Every time anew: the resource may have moved to another server.
  const context = await oauth.discoverAuthorization(target, {
    challenge: refusal,
    signal,
  });
  const isBound = context.challenge?.scheme.toLowerCase() === "dpop";
  dpop = isBound ? dpop ?? await oauth.createDpop() : undefined;
  token = await obtainToken(context);
}

/** One way, chosen by the set-up; when it fails, no other is tried. */
async function obtainToken(context: Context): Promise<oauth.IToken> {
  if (setup.client_id === undefined || "issuer" in setup) {
    return await askUser(context);
  }
  // The suite does not tell which issuer these are for. Where that is known,
  // compare it to `context.issuer`, so that secrets reach nobody else.
  if ("idp_id_token" in setup) return await crossApps(context, setup);
  if ("valid_jwt" in setup) return await showAssertion(context, setup);
  return await actAsService(context, setup);
}

/** Authorization code grant with PKCE. */
async function askUser(context: Context): Promise<oauth.IToken> {
  const { issuer, resource, serverMetadata } = context;
  const registration = await findClient(context);
  const scopes = oauth.mergeScopes(
    askedScopes.get(issuer),
    oauth.selectScopes({ ...context, offlineAccess: true }),
  );
  askedScopes.set(issuer, scopes);

  const state = oauth.createState();
  const { codeChallenge, codeVerifier } = await oauth.createPkcePair();
  const url = oauth.buildAuthorizationUrl(serverMetadata, {
    clientId: registration.client_id,
    redirectUri: REDIRECT_URI,
    state,
    codeChallenge,
    scopes,
    resource,
    // Revision 2025-03-26 demands PKCE of servers that publish nothing, too.
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

/** Which client to be; at a server met for the first time, one just registered. */
async function findClient({ issuer, serverMetadata }: Context) {
  const selection = oauth.selectClient(serverMetadata, {
    knownClients: [...clients.values()],
    clientMetadataUrl: CLIENT_METADATA_URL,
  });
  if ("client" in selection) return selection.client;
  if (selection.kind === "ask_user") {
    throw new Error(`${issuer} knows only clients that its operator registers`);
  }
  // A program on people's machines keeps no secret, where it has the choice.
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

/** Stands in for a browser and a user who consents; the address they end at. */
async function visit(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: "manual", signal });
  await response.body?.cancel();
  const callback = response.headers.get("Location");
  if (!callback) throw new Error(`${url.origin} did not send the user back`);
  return callback;
}

/** Client credentials grant. */
async function actAsService(
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

/** JWT bearer grant: the platform vouches for its workload. */
async function showAssertion(
  { issuer, resource, scopes, serverMetadata }: Context,
  { client_id, valid_jwt: assertion }: Workload,
): Promise<oauth.IToken> {
  const body = oauth.buildJwtBearerBody({ assertion, resource, scopes });
  const client = oauth.publicClient(client_id, { issuer });
  return await oauth.fetchToken(serverMetadata, body, { client, dpop, signal });
}

/** Cross-app access: the identity provider vouches for its user. */
async function crossApps(
  { issuer, resource, scopes, serverMetadata }: Context,
  user: ISignedInUser,
): Promise<oauth.IToken> {
  const idp = {
    issuer: user.idp_issuer,
    token_endpoint: user.idp_token_endpoint,
    response_types_supported: [],
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

/** Header fields that show the resource the token, where there is one. */
async function authorizationHeaders(): Promise<Record<string, string>> {
  const accessToken = token?.access_token;
  if (!accessToken) return {};
  return dpop
    ? await dpop.createHeaders({ method: "POST", url: target, accessToken })
    : { Authorization: `Bearer ${accessToken}` };
}

/** Posts a message; once more where the proof is to hold a nonce. */
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

/** Calls a method of the server, with as many tokens as that reasonably takes. */
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
      const message = `${method} was refused ${attempt} times`;
      throw new oauth.OAuthClientError("oauth_error", message, { error });
    }
    await authorize(response);
  }
}

/** The result in a reply that is JSON, or an event stream with JSON in it. */
function readResult(text: string): { tools?: { name: string }[] } | undefined {
  const json = /^(?:data: *)?(\{.+\})$/m.exec(text)?.[1];
  if (!json) return undefined;
  const { error, result } = JSON.parse(json);
  if (error) throw new Error(`The server failed: ${JSON.stringify(error)}`);
  return result;
}

/** Later revisions name themselves in every request, earlier ones at first. */
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
