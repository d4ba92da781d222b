/**
 * A client of the Model Context Protocol that lists the tools of a server and
 * calls the first of them. The official conformance suite runs it
 * (`deno task conformance`). What it does depends on the responses of the servers
 * and on its configuration, never on the name of a scenario.
 */
import * as oauth from "../../mod.ts";

/** What the suite configures: nothing, a client for users, or one without users. */
interface Config extends Partial<oauth.KnownClient> {
  /** Key of a service for ES256, as PKCS #8 in PEM. */
  private_key_pem?: string;
  /** Assertion of the platform that a workload runs on. */
  valid_jwt?: string;
  /** ID token of a user, with the client at the identity provider. */
  idp_id_token?: string;
  idp_client_id?: string;
  idp_issuer?: string;
}

const [target = ""] = Deno.args;
const revision = Deno.env.get("MCP_CONFORMANCE_PROTOCOL_VERSION") ?? "";
const config: Config = JSON.parse(
  Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}",
);
const { client_id = "" } = config;
const signal = AbortSignal.timeout(20_000); // For the whole run.

/** Authorization code grant, for a user who consents. */
const authorizeUser: oauth.Flow = (request) =>
  oauth.codeFlow({
    knownClients: config.issuer ? [config as oauth.KnownClient] : [],
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientMetadata: { client_name: "Conformance client" },
    redirectUri: `http://127.0.0.1:${oauth.DEFAULT_AUTH_FLOW_PORT}/callback`,
    // Revision 2025-03-26 requires PKCE of servers without metadata, too.
    assumePkce: request.context.serverMetadataUrl === undefined,
    async visit(url) {
      const response = await fetch(url, { redirect: "manual", signal });
      await response.body?.cancel();
      return response.headers.get("Location") ?? "";
    },
  })(request);

/**
 * A service, a workload, or an application of an enterprise. The suite does not name the
 * issuer of the credentials; if yours is known, do not take it from the request.
 */
const authorizeWithoutUser: oauth.Flow = (request) => {
  const { issuer } = request.context;
  const { client_secret, private_key_pem: pem } = config;
  const { valid_jwt: jwt, idp_issuer: idp, idp_client_id = "" } = config;
  const client = pem
    ? oauth.privateKeyJwt(client_id, pem, { issuer })
    : { issuer, client_id, client_secret };
  if (jwt) {
    return oauth.assertionFlow({ client, getAssertion: () => jwt })(request);
  }
  if (!idp) return oauth.clientCredentialsFlow({ client })(request);
  const idpClient = oauth.publicClient(idp_client_id);
  const getSubjectToken = () => config.idp_id_token ?? "";
  // The suite does not list the profile.
  const enterprise = { idp, idpClient, getSubjectToken, assumeProfile: true };
  return oauth.crossAppFlow({ ...enterprise, client })(request);
};

/** Calls a method of the server; returns the result, of JSON or an event stream. */
async function call(
  api: oauth.AuthorizedFetch,
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
async function useServer(api: oauth.AuthorizedFetch): Promise<void> {
  const clientInfo = { name: "Conformance client", version: "1.0.0" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
  const common = revision >= "2026-07-28" ? { _meta } : {};
  if (!("_meta" in common)) {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
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
  const isService = client_id && !config.issuer;
  const authorize = isService ? authorizeWithoutUser : authorizeUser;
  await useServer(
    oauth.createAuthorizedFetch(target, { flow: authorize, dpop }),
  );
} catch (failure) {
  const isKnown = failure instanceof oauth.OAuthClientError;
  console.error(isKnown ? `${failure.code}: ${failure.message}` : failure);
  Deno.exit(1);
}
