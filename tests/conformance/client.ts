/**
 * A client of the Model Context Protocol that lists the tools of a server and
 * calls the first of them. The official conformance suite runs it
 * (`deno task conformance`). What it does depends on the responses of the servers
 * and on its configuration, never on the name of a scenario.
 */
import * as oauth from "../../mod.ts";

/** What the suite configures: nothing, a client for users, or one without users. */
interface IConfig extends Partial<oauth.IKnownClient> {
  /** Key of a service for ES256, as PKCS #8 in PEM. */
  private_key_pem?: string;
  /** Assertion of the platform that a workload runs on. */
  valid_jwt?: string;
  /** ID token of a user, with the client at the identity provider. */
  idp_id_token?: string;
  idp_client_id?: string;
  idp_issuer?: string;
  idp_token_endpoint?: string;
}

const [target = ""] = Deno.args;
const revision = Deno.env.get("MCP_CONFORMANCE_PROTOCOL_VERSION") ?? "";
const config: IConfig = JSON.parse(
  Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}",
);
const { client_id = "" } = config;
/** The timeout of the whole run. */
const signal = AbortSignal.timeout(20_000);

/** Authorization code grant, for a user who consents. */
const authorizeUser: oauth.Authorize = (request) =>
  oauth.codeFlow({
    knownClients: config.issuer ? [config as oauth.IKnownClient] : [],
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientMetadata: { client_name: "Conformance client" },
    redirectUri: `http://127.0.0.1:${oauth.DEFAULT_AUTH_FLOW_PORT}/callback`,
    offlineAccess: true,
    // Revision 2025-03-26 requires PKCE of servers without metadata, too.
    assumePkce: request.context.serverMetadataUrl === undefined,
    async visit(url) {
      const response = await fetch(url, { redirect: "manual", signal });
      await response.body?.cancel();
      return response.headers.get("Location") ?? "";
    },
  })(request);

async function importKey(pem: string): Promise<CryptoKey> {
  const base64 = pem.replace(/-----[^-]+-----|\s/g, "");
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const { subtle } = crypto;
  return await subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
}

/**
 * Client credentials grant. The suite does not name the issuer of the credentials;
 * if yours is known, do not take it from the request.
 */
const authorizeService: oauth.Authorize = async (request) => {
  const { issuer } = request.context;
  const { client_secret, private_key_pem: pem } = config;
  const client = pem
    ? oauth.privateKeyJwt(client_id, await importKey(pem), { issuer })
    : { issuer, client_id, client_secret };
  return await oauth.clientCredentialsFlow({ client })(request);
};

/** JWT bearer grant: the assertion of a platform, or an ID-JAG for a user. */
const authorizeByAssertion: oauth.Authorize = async (request) => {
  const { context, scopes, dpop } = request;
  const { issuer, resource, serverMetadata } = context;
  const client = { issuer, client_id, client_secret: config.client_secret };
  const options = { client, dpop, signal };
  const { valid_jwt: assertion } = config;
  const token = assertion
    ? await oauth.fetchToken(
      serverMetadata,
      oauth.buildJwtBearerBody({ assertion, resource, scopes }),
      options,
    )
    : await oauth.redeemIdJag(serverMetadata, await fetchIdJag(request), {
      ...options,
      resource,
      scopes,
    });
  const known = { issuer, client_id };
  return { issuer, resource, serverMetadata, client: known, token, scopes };
};

/** Exchanges the ID token of the user for an ID-JAG, at the identity provider. */
async function fetchIdJag(
  { context: { issuer, resource }, scopes }: oauth.IAuthorizeRequest,
): Promise<oauth.IIdJag> {
  const { idp_id_token = "", idp_client_id = "", idp_issuer = "" } = config;
  const idp = { issuer: idp_issuer, token_endpoint: config.idp_token_endpoint };
  return await oauth.fetchIdJag(idp, {
    client: oauth.publicClient(idp_client_id, idp),
    subjectToken: idp_id_token,
    audience: issuer,
    resourceClientId: client_id,
    resource,
    scopes,
    signal,
  });
}

/** Calls a method of the server; returns the result, of JSON or an event stream. */
async function call(
  api: oauth.IAuthorizedFetch,
  method: string,
  params: object,
  id?: number,
): Promise<{ tools?: { name: string }[] } | undefined> {
  const response = await api(target, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": method,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
    signal,
  });
  const text = await response.text();
  if (!response.ok) {
    const message = `${method} failed with status ${response.status}`;
    throw new oauth.OAuthClientError("unexpected_status", message);
  }
  const [, json] = /^(?:data: *)?(\{.+\})$/m.exec(text) ?? [];
  if (!json) return undefined;
  const { error, result } = JSON.parse(json);
  if (error) throw new Error(`Error of the server: ${JSON.stringify(error)}`);
  return result;
}

/** Initializes the session, or sends `_meta` instead in later revisions. */
async function useServer(api: oauth.IAuthorizedFetch): Promise<void> {
  const clientInfo = { name: "Conformance client", version: "1.0.0" };
  const protocolVersion = revision;
  const prefix = "io.modelcontextprotocol/";
  const _meta = {
    [`${prefix}protocolVersion`]: revision,
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: clientInfo,
  };
  const common = revision >= "2026-07-28" ? { _meta } : {};
  if (!("_meta" in common)) {
    const params = { protocolVersion, capabilities: {}, clientInfo };
    await call(api, "initialize", params, 1);
    await call(api, "notifications/initialized", {});
  }
  const list = await call(api, "tools/list", common, 2);
  const name = list?.tools?.[0]?.name;
  await call(api, "tools/call", { ...common, name, arguments: {} }, 3);
}

console.log(`${target} at revision ${revision}`);
try {
  const challenge = await fetch(target, { method: "POST", signal });
  await challenge.body?.cancel();
  const scheme = oauth.findChallenge(challenge)?.scheme.toLowerCase();
  const dpop = scheme === "dpop" ? await oauth.createDpop() : undefined;
  const { valid_jwt, idp_id_token, issuer } = config;
  const authorize = valid_jwt || idp_id_token
    ? authorizeByAssertion
    : client_id && !issuer
    ? authorizeService
    : authorizeUser;
  await useServer(oauth.createAuthorizedFetch(target, { authorize, dpop }));
} catch (failure) {
  const isKnown = failure instanceof oauth.OAuthClientError;
  console.error(isKnown ? `${failure.code}: ${failure.message}` : failure);
  Deno.exit(1);
}
