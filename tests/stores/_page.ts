/** The program of a tab: functions that a test calls. */

import { createAuthorizedFetch } from "../../mod.ts";
import { webStorageStore } from "../../lib/stores/mod.ts";

// localStorage of the page, which is not that of Deno.
const store = webStorageStore(localStorage, "session");
const resource = new URL("/mcp", location.href).href;
const api = createAuthorizedFetch(resource, {
  store,
  flow: () => Promise.reject(new Error("The user would have to sign in")),
});

Object.assign(globalThis, {
  store,
  async call() {
    const response = await api(resource);
    await response.text();
    return response.status;
  },
  hold: () =>
    new Promise((resolve) => {
      store.lock?.(() => {
        resolve("held");
        return new Promise(() => {});
      });
    }),
  async damage() {
    localStorage.setItem("session", '{"token":{"access_token":"s3cret');
    const error = await store.load().catch(String);
    return `${error}, ${localStorage.getItem("session")?.length} characters`;
  },
});
