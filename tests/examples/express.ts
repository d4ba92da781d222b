import process from "node:process";
import type { KnownClient } from "@oauth-helper/client";
import { redisStore } from "@oauth-helper/client/stores";
import * as web from "@oauth-helper/client/web";
// @ts-types="@types/express"
import express from "express";
import { createClient } from "redis";

// RESOURCE is the URL of the API and ORIGIN that of the site, as browsers see it. CLIENT
// is what register_client.ts prints, and COOKIE_KEY what `openssl rand -base64 32` does.
// REDIS is the URL of a Redis, and PORT where the site listens.
const { RESOURCE = "", ORIGIN = "", CLIENT = "", PORT } = process.env;
const { REDIS = "", COOKIE_KEY = "" } = process.env;
const client: KnownClient = JSON.parse(CLIENT);
const redis = createClient({ url: REDIS });
await redis.on("error", console.error).connect();
const lifetimeSeconds = 30 * 24 * 3600;
const signIn = web.createWebSignIn(RESOURCE, {
  origin: ORIGIN,
  client,
  storeOf: (id) => redisStore(redis, `user:${id}`, { lifetimeSeconds }),
  cookieKeys: [COOKIE_KEY],
  lifetimeSeconds,
});
const app = express();
app.use(async (request, response, next) => {
  const handled = await signIn.handle(web.webRequestOf(request));
  return handled ? await web.sendResponse(handled, response) : next();
});
app.get("/", (request, response, next) => {
  signIn.respond(web.webRequestOf(request), (api) => api(RESOURCE))
    .then((result) => web.sendResponse(result, response))
    // Express 5 does this for async functions, and Express 4 ends the process.
    .catch(next);
});
app.listen(Number(PORT), "127.0.0.1");
