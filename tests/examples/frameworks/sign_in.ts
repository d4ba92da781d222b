import process from "node:process";
import { memoryStore, type SessionStore } from "@oauth-helper/client";
import { createWebSignIn } from "@oauth-helper/client/web";

// RESOURCE is the URL of the API and ORIGIN the URL of the site, as browsers see it.
// CLIENT is what register_client.ts prints, and COOKIE_KEY what `openssl rand -base64 32`
// does.
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
