/** The examples that ask a server about its user, and about a token. */

import { assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  clientSecretBasic,
  codeFlow,
  createAuthorizedFetch,
  type IAuthorizationServerMetadata,
} from "../../mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { introspect } from "./introspection.ts";
import { userInfo } from "./user_info.ts";

const { authorize: visit } = createBrowser();

function apiAt(
  serverMetadata: IAuthorizationServerMetadata,
  options: Partial<AuthorizedFetchOptions> = {},
) {
  const endpoint = serverMetadata.userinfo_endpoint ?? "";
  const authorize = codeFlow({
    clientMetadata: { client_name: "My tool" },
    redirectUri: "http://127.0.0.1/callback",
    resourceIndicator: false,
    scopes: ["openid"],
    visit,
  });
  const given = { serverMetadata, flow: authorize, ...options };
  return { endpoint, api: createAuthorizedFetch(endpoint, given) };
}

Deno.test("userInfo() returns the claims of the user who has signed in, and no others", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { api, endpoint } = apiAt(serverMetadata);
  assertEquals(await userInfo(api, endpoint), { sub: "alice" });

  const mallory = apiAt(serverMetadata, {
    fetch: (input, init) =>
      input === endpoint
        ? Promise.resolve(Response.json({ sub: "mallory" }))
        : fetch(input, init),
  });
  await assertRejects(
    () => userInfo(mallory.api, endpoint),
    Error,
    "The claims are of another user",
  );
});

Deno.test("introspect() returns the claims of an active token only", async () => {
  const secret = "secret-of-the-api";
  await using servers = await startFlowServers({
    clients: [{
      client_id: "api",
      client_secret: secret,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    }],
  });
  const { context: { serverMetadata }, server: { issuer } } = servers;
  const client = clientSecretBasic("api", secret, { issuer });
  const { api } = apiAt(serverMetadata);
  const { token: { access_token } } = await api.signIn();
  const introspected = () => introspect(serverMetadata, client, access_token);
  const claims = await introspected();
  assertEquals([claims?.sub, claims?.iss], ["alice", issuer]);
  await api.revoke();
  assertEquals(await introspected(), undefined);
  const remote = { ...serverMetadata, issuer: "https://as.example" };
  await assertRejects(
    () => introspect(remote, clientSecretBasic("api", secret), access_token),
    Error,
    "The token is not sent to http://",
  );
});
