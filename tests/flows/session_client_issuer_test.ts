/** A client with an issuer, and a resource that does not name its server. */
import { assertEquals } from "@std/assert";
import {
  clientCredentialsFlow,
  codeFlow,
  createAuthorizedFetch,
  isOAuthClientError,
} from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { eachRowInTurn } from "../support/each_row.ts";

const client_secret = "site-secret-1";

/** Servers, and what was requested; `status` is that of the resource metadata. */
function world(
  status: number,
  body: object | null = null,
  challenge = "Bearer",
) {
  const servers = createTestServers({
    clients: [{
      client_id: "c1",
      client_secret,
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["authorization_code", "client_credentials"],
      redirect_uris: ["http://127.0.0.1:33418/callback"],
    }],
  });
  const hosts = new Set<string>();
  const requested = new Set<string>();
  const { issuer, resource, receiver, now } = servers;
  const fetch: typeof servers.fetch = async (input, init) => {
    const { host, pathname } = new URL(String(input));
    requested.add(host + pathname);
    if (String(init?.body).includes(client_secret)) hosts.add(host);
    const isMetadata = pathname.includes("oauth-protected-resource");
    if (isMetadata) return Response.json(body, { status });
    const response = await servers.fetch(input, init);
    if (response.status !== 401) return response;
    const headers = { "WWW-Authenticate": challenge };
    return new Response(null, { status: 401, headers });
  };
  const client = {
    issuer,
    client_id: "c1",
    client_secret,
    token_endpoint_auth_method: "client_secret_post",
  };
  const own = { redirectUri: "http://127.0.0.1:33418/callback" };
  const flows = {
    code: codeFlow({ ...own, visit: receiver.visit }),
    known: codeFlow({ ...own, visit: receiver.visit, knownClients: [client] }),
    credentials: clientCredentialsFlow({ client }),
  };
  const call = async (
    flow: keyof typeof flows,
    { issuer = client.issuer, ofFetch = true } = {},
  ) => {
    const options = { fetch, now, flow: flows[flow] };
    const api = createAuthorizedFetch(
      resource,
      ofFetch ? { ...options, client: { ...client, issuer } } : options,
    );
    return await api(resource).then(
      ({ status }) => status,
      (error) => isOAuthClientError(error) ? error.code : error,
    );
  };
  return { servers, call, hosts, requested };
}

Deno.test("createAuthorizedFetch() signs in at the issuer of its client, if the resource names no server", async () => {
  const { resource } = createTestServers();
  await eachRowInTurn(
    [[404], [200, { resource }]] as const,
    async ([status, body]) => {
      const { call, hosts, requested, servers } = world(status, body);
      assertEquals(await call("code"), 200);
      assertEquals(await call("credentials"), 200);
      assertEquals(await call("credentials", { ofFetch: false }), 200);
      assertEquals([...hosts], [new URL(servers.issuer).host]);
      // What the resource may publish about a server of its own is not requested.
      const { host } = new URL(resource);
      assertEquals(
        [...requested].filter((one) =>
          one.startsWith(host) && !one.includes("oauth-protected-resource")
        ),
        [host + new URL(resource).pathname],
      );
    },
  );
});

Deno.test("createAuthorizedFetch() sends the secret to the issuer of its client only, if a challenge names metadata that does not exist", async () => {
  const url = "https://evil.example/oauth-protected-resource";
  const { call, hosts, servers } = world(
    ...[404, null, `Bearer resource_metadata="${url}"`] as const,
  );
  assertEquals(await call("code"), 200);
  assertEquals([...hosts], [new URL(servers.issuer).host]);
});

Deno.test("createAuthorizedFetch() does not select a server by the issuer of knownClients", async () => {
  const { call, hosts, servers } = world(404);
  assertEquals(await call("known", { ofFetch: false }), "unsupported");
  assertEquals([...hosts], []);
  assertEquals(servers.received("authorization"), []);
});

Deno.test("createAuthorizedFetch() still assumes the endpoints of a resource without metadata that is the issuer of its client", async () => {
  const paths: string[] = [];
  const origin = "https://legacy.example";
  const client = { issuer: origin, client_id: "c1", client_secret };
  const api = createAuthorizedFetch(`${origin}/mcp`, {
    flow: clientCredentialsFlow({ client }),
    fetch: (input, init) => {
      const { pathname } = new URL(String(input));
      paths.push(pathname);
      if (pathname === "/token") {
        return Promise.resolve(Response.json({ access_token: "t" }));
      }
      const isSent = new Headers(init?.headers).has("Authorization");
      const status = pathname !== "/mcp" ? 404 : isSent ? 200 : 401;
      const headers = { "WWW-Authenticate": "Bearer" };
      return Promise.resolve(new Response(null, { status, headers }));
    },
  });
  assertEquals((await api(`${origin}/mcp`)).status, 200);
  assertEquals(paths.includes("/token"), true);
});

Deno.test("createAuthorizedFetch() sends no secret to another server than that of its client", async () => {
  const { call, hosts, servers } = world(404);
  const issuer = "https://other.example";
  assertEquals(await call("code", { issuer }), "discovery_failed");
  assertEquals([...hosts], []);
  // The resource names another server than that of the client.
  const authorization_servers = [servers.issuer];
  const { resource } = servers;
  const named = world(200, { resource, authorization_servers });
  assertEquals(await named.call("code", { issuer }), "issuer_mismatch");
  assertEquals([...named.hosts], []);
});

Deno.test("createAuthorizedFetch() does not use the issuer of its client while the metadata of the resource cannot be read", async () => {
  const { call, servers } = world(503);
  assertEquals(await call("code"), "discovery_failed");
  assertEquals(servers.received("authorization"), []);
});
