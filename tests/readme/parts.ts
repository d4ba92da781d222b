/** Parts of README.md, in the code that they leave out: each `part` is there, dedented. */

import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import {
  createAuthorizedFetch,
  discoverAuthorization,
  type IAuthorizedFetch,
  type IKnownClient,
  type IPendingAuthorization,
  startAuthorization,
} from "@oauth-helper/client";
import { type IRedisClient, redisStore } from "@oauth-helper/client/stores";

export async function connect(url: string, api: IAuthorizedFetch) {
  // part
  await api.authorize(); // Before `connect`, whose requests end after a minute.
  const client = new Client({ name: "Notes", version: "1.0.0" });
  const options = { fetch: api };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), options),
  );
  // end
  return client;
}

export async function serve(
  { issuer, client_id, client_secret = "" }: IKnownClient & { issuer: string },
  [RESOURCE, redirectUri, id]: readonly [string, string, string],
  redis: IRedisClient,
  receive: (url: URL, pending: IPendingAuthorization) => Promise<Request>,
) {
  // part
  const client = { issuer, client_id, client_secret };
  const apiOf = (id: string) =>
    createAuthorizedFetch(RESOURCE, { client, store: redisStore(redis, id) });
  // GET /login: redirect to start.url, with start.pending in the cookie.
  const challenge = await fetch(RESOURCE);
  const context = await discoverAuthorization(RESOURCE, { challenge });
  const options = { client, redirectUri, offlineAccess: true };
  const start = await startAuthorization(context, options);
  // end
  const { pending } = start;
  const request = await receive(start.url, pending);
  // part
  // GET /callback: a new id, which the cookie has from now on.
  await apiOf(id).finish(request, pending);
  // Everywhere else: the 401 of the API, if the user is signed out.
  const response = await apiOf(id)(RESOURCE);
  // POST /logout
  await apiOf(id).revoke();
  // end
  return response;
}
