/** The first ten operations, without the strict functions, at real servers. */
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import {
  AuthorizationDeviceCodeErrorType,
  AuthorizationErrorType,
  buildIdJagExchangeBody,
  buildResourceRedemptionBody,
  DEFAULT_REDIRECT_URIS,
  fetchAuthorizationServerMetadata,
  fetchDynamicRegistration,
  fetchResourceMetadata,
  getClaimsFromJWT,
  isAuthorizationDeviceResponse,
  isAuthorizationErrorResponse,
  isAuthorizationTokenResponse,
  OAuthClientError,
  parseWWWAuthenticateHeader,
  scopesMatch,
} from "../../mod.ts";
import { DEVICE_GRANT, statusFor } from "../servers/_flow.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { startCrossApp } from "../servers/cross_app_access.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";
import { REGISTRATION_GRANT_TYPES } from "../../lib/core/constants.ts";

/** Posts a form; returns the status and the JSON of the response. */
async function post(
  url: string | undefined,
  form: URLSearchParams | Record<string, string>,
): Promise<[status: number, body: unknown]> {
  const body = new URLSearchParams(form);
  const response = await fetch(url!, { method: "POST", body });
  return [response.status, await response.json()];
}

Deno.test("a client of the literal functions gets from a 401 to a pending device flow", async () => {
  await using server = await startAuthorizationServer({ path: "/tenant1" });
  await using target = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
  });
  const { resource } = target;

  const response = await fetch(resource);
  await response.body?.cancel();
  const header = response.headers.get("WWW-Authenticate") ?? "";
  const [challenge] = parseWWWAuthenticateHeader(header);
  const { resource_metadata, scope = "" } = challenge?.params ?? {};
  const found = await fetchResourceMetadata(resource, resource_metadata);
  assertEquals(found.discoveryUrl, target.metadataUrl);
  const [issuer = ""] = found.metadata.authorization_servers ?? [];

  const { metadata, discoveryUrl, errors } =
    await fetchAuthorizationServerMetadata(issuer);
  assertEquals(discoveryUrl, `${issuer}/.well-known/openid-configuration`);
  assertEquals(errors.length, 2);
  for (const error of errors) {
    assertInstanceOf(error, OAuthClientError);
    const { url = "", status, message } = error;
    const page = await (await fetch(url)).text();
    const start = "Failed to fetch authorization server metadata from";
    assertEquals([status, message], [404, `${start} ${url}: 404 ${page}`]);
  }

  const scopes = scope.split(" ");
  const registered = await fetchDynamicRegistration(
    metadata,
    "My client",
    scopes,
  );
  const { client_id } = registered;
  const client = (await server.provider.Client.find(client_id))!.metadata();
  assertEquals(client.client_name, "My client");
  assertEquals(client.redirect_uris, [...DEFAULT_REDIRECT_URIS]);
  assertEquals(client.grant_types, [...REGISTRATION_GRANT_TYPES]);
  assertEquals(client.scope, scope);
  assertEquals(client.token_endpoint_auth_method, "none");
  assertEquals(client.application_type, "native");

  const request = { client_id, scope };
  const [, device] = await post(
    metadata.device_authorization_endpoint,
    request,
  );
  assert(isAuthorizationDeviceResponse(device));
  const [status, pending] = await post(metadata.token_endpoint, {
    client_id,
    grant_type: DEVICE_GRANT,
    device_code: device.device_code,
  });
  assertEquals(status, 400);
  assert(isAuthorizationErrorResponse(pending));
  const { AuthorizationPending } = AuthorizationDeviceCodeErrorType;
  assertEquals(pending.error, AuthorizationPending);
});

Deno.test("a client of the literal functions gets from an ID token to a 200", async () => {
  await using servers = await startCrossApp();
  const { idpMetadata, context, credentials: { atIdp, atServer } } = servers;
  const { resource, scopes = [], serverMetadata, issuer } = context;
  const idToken = await servers.signInAtIdp("ada");
  const [, exchanged] = await post(
    idpMetadata.token_endpoint,
    buildIdJagExchangeBody(
      atIdp.id,
      atIdp.secret,
      idToken,
      issuer,
      resource,
      scopes,
    ),
  );
  assert(isAuthorizationTokenResponse(exchanged));
  const redeem = async (secret: string) =>
    await post(
      serverMetadata.token_endpoint,
      buildResourceRedemptionBody(
        atServer.id,
        secret,
        exchanged.access_token,
        resource,
        scopes,
      ),
    );
  const [status, token] = await redeem(atServer.secret);
  assertEquals(status, 200);
  assert(isAuthorizationTokenResponse(token));
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.sub, claims.aud], ["ada", resource]);
  assert(scopesMatch(scopes, String(claims.scope).split(" ")));
  assertEquals(await statusFor(resource, token), 200);

  const [rejected, error] = await redeem("another secret");
  assertEquals(rejected, 401);
  assert(isAuthorizationErrorResponse(error));
  assertEquals(error.error, AuthorizationErrorType.InvalidClient);
});
