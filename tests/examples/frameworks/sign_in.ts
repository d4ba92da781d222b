import process from "node:process";
import { memoryStore, type SessionStore } from "@oauth-helper/client";
import { createWebSignIn, type WebRequest } from "@oauth-helper/client/web";

// The URLs of the API and of the site, the output of register_client.ts, and of
// `openssl rand -base64 32`.
const { RESOURCE = "", ORIGIN = "", CLIENT = "", COOKIE_KEY } = process.env;
// For a first try. In production, use `redisStore` or another store with a lock.
const stores = new Map<string, SessionStore>();

export const signIn = createWebSignIn(RESOURCE, {
  origin: ORIGIN,
  client: JSON.parse(CLIENT),
  storeOf(id) {
    const store = stores.get(id) ?? memoryStore();
    stores.set(id, store);
    return store;
  },
  cookieKeys: [COOKIE_KEY!],
});

/** Responds to the three routes and to `/api`; returns undefined for other paths. */
export const answer = async (request: WebRequest, path = "/api") =>
  await signIn.handle(request) ?? await signIn.forward(request, { path });
