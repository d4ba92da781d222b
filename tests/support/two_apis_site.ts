/** A site of two APIs that share a sign-in, for the load test: `/` and `/other`. */

import { createServer } from "node:http";
import process from "node:process";
import { createClient } from "redis";
import { sharedSignIn } from "../../mod.ts";
import { redisStore } from "../../lib/stores/mod.ts";
import {
  createWebSignIn,
  sendResponse,
  webRequestOf,
} from "../../lib/web/mod.ts";

const { RESOURCE = "", OTHER = "", ORIGIN = "", PORT } = process.env;
const { CLIENT = "", REDIS = "", COOKIE_KEY = "" } = process.env;
const redis = createClient({ url: REDIS });
await redis.on("error", console.error).connect();
const signIn = createWebSignIn(RESOURCE, {
  origin: ORIGIN,
  client: JSON.parse(CLIENT),
  storeOf: (id) => redisStore(redis, `user:${id}`),
  cookieKeys: [COOKIE_KEY],
  apis: sharedSignIn({
    [RESOURCE]: { scopes: ["mcp:read"] },
    [OTHER]: { scopes: ["mcp:write"] },
  }),
});

createServer(async (incoming, outgoing) => {
  const request = webRequestOf(incoming);
  const url = incoming.url?.startsWith("/other") ? OTHER : RESOURCE;
  const response = await signIn.handle(request) ??
    await signIn.respond(
      request,
      async () => await (await signIn.apiOf(request, url))!(url),
    );
  await sendResponse(response, outgoing);
}).listen(Number(PORT), "127.0.0.1");
