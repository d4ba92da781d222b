/** What another process has stored while a caller waits for the lock. */
import { assertEquals } from "@std/assert";
import { memoryStore, type Session } from "../../../mod.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";

const withToken = (access_token: string): Session => ({
  ...SESSION,
  token: { ...SESSION.token, access_token },
});

Deno.test("signIn() with fresh has the user sign in although another process has refreshed the session", async () => {
  const store = memoryStore(SESSION);
  const { load } = store;
  let loads = 0;
  store.load = () => {
    if (++loads === 2) store.save(withToken("refreshed"));
    return load();
  };
  const fresh = withToken("fresh");
  const authorize = () => Promise.resolve(fresh);
  const { api } = resourceFetch(undefined, { store, flow: authorize });
  assertEquals(await api.signIn({ fresh: true }), fresh);
});
