import { createServer } from "node:http";
import process from "node:process";
import { memoryStore } from "@oauth-helper/client";
import * as web from "@oauth-helper/client/web";

const { API = "", ISSUER = "", CLIENT_ID = "", PORT = "3000" } = process.env;
const { CLIENT_SECRET, COOKIE_KEY = "" } = process.env;
const stores = new Map(); // For several processes, use redisStore.
const signIn = web.createWebSignIn(API, {
  origin: `http://localhost:${PORT}`,
  client: {
    issuer: ISSUER,
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
  },
  storeOf: (id) => stores.get(id) ?? stores.set(id, memoryStore()).get(id),
  cookieKeys: [COOKIE_KEY], // openssl rand -base64 32
});
createServer(async (incoming, outgoing) => {
  const request = web.webRequestOf(incoming);
  // GET /login, GET /callback, POST /logout
  const handled = await signIn.handle(request);
  const response = handled ?? await signIn.respond(request, (api) => api(API));
  await web.sendResponse(response, outgoing);
}).listen(Number(PORT));
