/** Parts of README.md, in the code that they leave out: each `part` is there, dedented. */

import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { AuthorizedFetch, KnownClient } from "@oauth-helper/client";
import { type RedisClient, redisStore } from "@oauth-helper/client/stores";
import { createWebSignIn } from "@oauth-helper/client/web";

export async function connect(url: string, api: AuthorizedFetch) {
  // part
  await api.signIn(); // First: the requests of `connect` time out after a minute.
  const client = new Client({ name: "Notes", version: "1.0.0" });
  const options = { fetch: api };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), options),
  );
  // end
  return client;
}

export async function serve(
  { issuer, client_id, client_secret = "" }: KnownClient & { issuer: string },
  [RESOURCE, key]: readonly [string, string],
  redis: RedisClient,
  request: Request,
) {
  const lifetimeSeconds = 30 * 24 * 3600;
  // part
  const signIn = createWebSignIn(RESOURCE, {
    origin: "https://app.example",
    client: { issuer, client_id, client_secret },
    storeOf: (id) => redisStore(redis, `user:${id}`, { lifetimeSeconds }),
    cookieKeys: [key],
  });
  // GET /login, GET /callback, POST /logout
  const handled = await signIn.handle(request);
  if (handled) return handled;
  return await signIn.respond(request, (api) => api(RESOURCE));
  // end
}
