/**
 * The OAuth profile of the AT Protocol: pushed requests, DPoP nonces from the first
 * request on, and a client metadata document, from the metadata to a call.
 */
import { assertEquals } from "@std/assert";
import { codeFlow, createAuthorizedFetch, createDpop } from "../../mod.ts";
import { startAtprotoServers } from "../servers/atproto_servers.ts";

const CLIENT_ID = "https://app.example/client-metadata.json";
const REDIRECT_URI = "http://127.0.0.1:33418/callback";
const DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";

async function openUrl(url: URL): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  await response.body?.cancel();
  return response.headers.get("Location") ?? "";
}

Deno.test("createAuthorizedFetch() signs in at an AT Protocol server, and refreshes", async () => {
  await using servers = startAtprotoServers({
    clientDocuments: { [CLIENT_ID]: { redirect_uris: [REDIRECT_URI] } },
    did: DID,
  });
  let now = Date.now();
  const api = createAuthorizedFetch(servers.resource, {
    authorize: codeFlow({
      clientMetadataUrl: CLIENT_ID,
      redirectUri: REDIRECT_URI,
      scopes: ["atproto"],
      parameters: { login_hint: DID },
      visit: openUrl,
    }),
    dpop: await createDpop(),
    now: () => now,
  });
  const url = `${servers.resource}/xrpc/com.atproto.server.getSession`;
  const path = "/xrpc/com.atproto.server.getSession";
  assertEquals(await (await api(url)).json(), { did: DID });
  assertEquals(servers.requests, [
    `GET ${path} 401`,
    "GET /.well-known/oauth-protected-resource 200",
    "GET /.well-known/oauth-authorization-server 200",
    // Each server has its own nonces, of which the client has none yet.
    "POST /par 400",
    "POST /par 201",
    "GET /authorize 302",
    "POST /token 200",
    `GET ${path} 200`,
  ]);
  const session = (await api.session())!;
  assertEquals(session.client.client_id, CLIENT_ID);
  assertEquals(session.issuer, servers.issuer);
  assertEquals(session.token.sub, DID);

  servers.requests.length = 0;
  now += 290_000;
  assertEquals(await (await api(url)).json(), { did: DID });
  assertEquals(servers.requests, ["POST /token 200", `GET ${path} 200`]);
});
