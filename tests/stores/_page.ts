/**
 * The program of a tab. It does what the server says, one thing after another, and
 * reports what came of it.
 */

import { createAuthorizedFetch } from "../../mod.ts";
import { webStorageStore } from "../../lib/stores/mod.ts";

// localStorage of the page, which is not that of Deno.
const store = webStorageStore(localStorage, "session");
const tab = new URLSearchParams(location.search).get("tab");
const resource = new URL("/mcp", location.href).href;
const api = createAuthorizedFetch(resource, {
  store,
  authorize: () => Promise.reject(new Error("The user would have to sign in")),
});

const ACTIONS: Record<string, (argument: string) => Promise<string>> = {
  async save(session) {
    await store.save(JSON.parse(session));
    return "saved";
  },
  async call() {
    const response = await api(resource);
    await response.text();
    return String(response.status);
  },
  hold: () =>
    new Promise((resolve) => {
      store.lock?.(() => {
        resolve("held");
        return new Promise(() => {});
      });
    }),
  lock: async () => await store.lock?.(() => Promise.resolve("locked")) ?? "",
  async damage() {
    localStorage.setItem("session", '{"token":{"access_token":"s3cret');
    const error = await store.load().catch(String);
    return `${error}, ${localStorage.getItem("session")?.length} characters`;
  },
};

let outcome = "ready";
while (true) {
  const response = await fetch(`/next?tab=${tab}`, {
    method: "POST",
    body: outcome,
  });
  const { action, argument } = await response.json();
  outcome = await ACTIONS[action]?.(argument).catch(String) ?? "no action";
}
