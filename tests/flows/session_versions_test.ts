/** Sessions that another version of the library has stored. */

import { assert, assertEquals } from "@std/assert";
import {
  adviceFor,
  type AuthorizedFetch,
  memoryStore,
  type SessionStore,
  startAuthorization,
} from "../../mod.ts";
import { redisStore, webStorageStore } from "../../lib/stores/mod.ts";
import {
  AS,
  assertRejectsCode,
  CONTEXT,
  MCP,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import { resourceFetch, SESSION, SESSION_CLIENT } from "../support/resource.ts";
import { untyped } from "../support/stub_fetch.ts";
import { fakeLocks, fakeRedis, fakeStorage } from "../unit/stores/_fakes.ts";

const REVOKE = `${AS}/revoke`;
const LATER = { ...SESSION, version: 2, later: true };

const METHODS: Record<string, (api: AuthorizedFetch) => Promise<unknown>> = {
  "a call": (api) => api(MCP),
  "signIn()": (api) => api.signIn(),
  "signIn({ fresh })": (api) => api.signIn({ fresh: true }),
  "session()": (api) => api.session(),
  "save()": (api) => api.save(SESSION),
  "revoke()": (api) => api.revoke(),
  async "finish()"(api) {
    const { pending } = await startAuthorization(CONTEXT, {
      client: SESSION_CLIENT,
      redirectUri: REDIRECT_URI,
    });
    const { state } = pending;
    const callback = new URLSearchParams({ code: "c", state, iss: AS });
    return await api.finish(callback, pending);
  },
};

/** Stores with a value of another version, and the value that they have now. */
const STORES: Record<string, () => [SessionStore, () => unknown]> = {
  "a store of the user's own"() {
    const { load, save } = memoryStore(untyped(LATER));
    return [{ load, save }, load];
  },
  "redisStore"() {
    const values = new Map([["key", JSON.stringify(LATER)]]);
    const now = () => JSON.parse(values.get("key") ?? "null");
    return [redisStore(fakeRedis(values), "key"), now];
  },
  "webStorageStore"() {
    const storage = fakeStorage()();
    storage.setItem("key", JSON.stringify(LATER));
    const now = () => JSON.parse(storage.getItem("key") ?? "null");
    return [webStorageStore(storage, "key", { locks: fakeLocks() }), now];
  },
};

for (const [place, create] of Object.entries(STORES)) {
  Deno.test(`nothing uses, replaces or deletes a session of another version in ${place}`, async () => {
    for (const [name, method] of Object.entries(METHODS)) {
      const [store, stored] = create();
      const { api, urls } = resourceFetch(
        ({ url }) =>
          url === TOKEN_ENDPOINT
            ? Response.json({ access_token: "t2" })
            : undefined,
        { store },
      );
      const error = await assertRejectsCode(
        () => method(api),
        "invalid_session",
      );
      assertEquals(error.sessionVersion, 2, name);
      assert(/version 2, expected 1/.test(error.message), error.message);
      assertEquals(adviceFor(error).action, "give_up", name);
      assertEquals(await stored(), LATER, name);
      // What finish() has obtained is not left behind.
      const obtained = name === "finish()" ? [TOKEN_ENDPOINT, REVOKE] : [];
      assertEquals(urls, obtained, name);
    }
  });
}

Deno.test("save() and revoke() replace and delete a value without a version, which is no session", async () => {
  const { version: _, ...unversioned } = SESSION;
  const store = memoryStore(untyped(unversioned));
  const { api } = resourceFetch(() => undefined, { store });
  const error = await assertRejectsCode(() => api(MCP), "invalid_session");
  assertEquals(error.sessionVersion, undefined);
  assertEquals(adviceFor(error).action, "reauthorize");
  await api.save(SESSION);
  assertEquals(await store.load(), SESSION);
  await store.save(untyped(unversioned));
  assertEquals(await api.revoke(), false);
  assertEquals(await store.load(), undefined);
});

Deno.test("save() stores a session where the store cannot be read", async () => {
  const inner = memoryStore();
  const { api } = resourceFetch(() => undefined, {
    store: {
      save: inner.save,
      load: () => Promise.reject(new Error("down")),
    },
  });
  await api.save(SESSION);
  assertEquals(await inner.load(), SESSION);
});
