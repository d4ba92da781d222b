/** Tests a site with the servers of `./testing`, and a browser that keeps cookies. */
import { memoryStore, type SessionStore } from "@oauth-helper/client";
import { createTestServers } from "@oauth-helper/client/testing";
import { createWebSignIn } from "@oauth-helper/client/web";
import { assertEquals } from "@std/assert";

const client = {
  issuer: "https://auth.example",
  client_id: "my-app",
  client_secret: "secret",
};

Deno.test("a user signs in, and comes back to the page", async () => {
  const servers = createTestServers({
    clients: [{ ...client, redirect_uris: ["https://app.example/callback"] }],
  });
  const { resource, fetch, now } = servers;
  const stores = new Map<string, SessionStore>();
  const signIn = createWebSignIn(resource, {
    origin: "https://app.example",
    client,
    storeOf(id) {
      const store = stores.get(id) ?? memoryStore();
      stores.set(id, store);
      return store;
    },
    cookieKeys: [crypto.getRandomValues(new Uint8Array(32))],
    fetch,
    now,
  });
  const site = async (request: Request) =>
    await signIn.handle(request) ??
      await signIn.respond(request, (api) => api(resource));

  /** Opens a URL in a browser that has these cookies; returns where it is sent. */
  const cookies = new Map<string, string>();
  async function open(url: string): Promise<string> {
    const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await site(new Request(url, { headers: { Cookie } }));
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^(.*?)=(.*?);/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response.headers.get("Location") ?? `${response.status}`;
  }

  const page = "https://app.example/notes";
  const callback = await servers.receiver.visit(await open(page));
  assertEquals(await open(callback), page);
  assertEquals(await open(page), "200");
});
