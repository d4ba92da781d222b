/** What another process stores between the look at the store and the save. */

import { assertEquals, assertRejects } from "@std/assert";
import { memoryStore, type Session, type SessionStore } from "../../../mod.ts";
import { AS, MCP, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { statusOf } from "../../support/stub_fetch.ts";

const TOKEN = SERVER.token_endpoint;
const REVOKE = `${AS}/revoke`;
const STORED: Session = {
  ...SESSION,
  server: { ...SESSION.server, revocation_endpoint: REVOKE },
};
const SAVED: Session = {
  ...STORED,
  token: {
    access_token: "saved",
    token_type: "Bearer",
    refresh_token: "saved-refresh",
  },
};

/**
 * A store whose session another process changes once, after this process has looked at
 * it and before it saves.
 */
function changedBeforeSave(change: (store: SessionStore) => unknown) {
  const inner = memoryStore(STORED);
  let hasChanged = false;
  const store: SessionStore = {
    load: () => inner.load(),
    async save(session, former) {
      if (!hasChanged) {
        hasChanged = true;
        await change(inner);
      }
      return await inner.save(session, former);
    },
  };
  return store;
}

/** A fetch whose first token the resource rejects; its refresh succeeds. */
function refreshing(store: SessionStore) {
  const world = resourceFetch(({ url, headers }) => {
    if (url === TOKEN) {
      return Response.json({
        access_token: "t2",
        token_type: "Bearer",
        refresh_token: "r2",
      });
    }
    const isFirst = headers.get("Authorization")
      ?.endsWith(SESSION.token.access_token);
    if (url === MCP) return new Response(null, { status: isFirst ? 401 : 200 });
  }, { store });
  const revoked = () =>
    world.received.filter(({ url }) => url === REVOKE)
      .map(({ body }) => new URLSearchParams(body).get("token"));
  return { ...world, revoked };
}

Deno.test("createAuthorizedFetch() keeps what another process saves just before the result of a refresh", async () => {
  const store = changedBeforeSave((inner) => inner.save(SAVED));
  const { api } = refreshing(store);
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals(await store.load(), SAVED);
});

Deno.test("createAuthorizedFetch() revokes what a refresh has brought if another process signs out just before it is saved", async () => {
  const store = changedBeforeSave((inner) => inner.save(undefined));
  const { api, revoked } = refreshing(store);
  await assertRejects(() => api(MCP), DOMException);
  assertEquals(await store.load(), undefined);
  assertEquals(revoked(), ["r2", "t2"]);
});

Deno.test("revoke() revokes what another process stores just before the deletion", async () => {
  const store = changedBeforeSave((inner) => inner.save(SAVED));
  const { api, revoked } = refreshing(store);
  assertEquals(await api.revoke(), true);
  assertEquals(await store.load(), undefined);
  assertEquals(revoked(), ["saved-refresh", "saved"]);
});

Deno.test("createAuthorizedFetch() loses no token in a store that finds a difference each time", async () => {
  const inner = memoryStore(STORED);
  let compared = 0;
  const { api } = refreshing({
    load: () => inner.load(),
    async save(session, former) {
      if (former !== undefined) {
        compared++;
        return false;
      }
      await inner.save(session);
    },
  });
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals((await inner.load())?.token?.refresh_token, "r2");
  assertEquals(compared, 5);
});
