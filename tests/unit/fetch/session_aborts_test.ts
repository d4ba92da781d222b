/** Aborts while the store is slow: they end a call, and no page opens. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  type IPendingAuthorization,
  type ISession,
  memoryStore,
} from "../../../mod.ts";
import { AS, MCP, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { deferred, never } from "../../support/stub_fetch.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

const REVOKE = `${AS}/revoke`;
const redirectUri = "https://app.example/callback";

Deno.test("createAuthorizedFetch() opens no page after an abort while the store is slow to mark the client", async () => {
  const inner = memoryStore(SESSION);
  const marking = deferred<void>();
  const released = deferred<void>();
  const store = {
    load: inner.load,
    async save(session: ISession | undefined) {
      marking.resolve();
      await released.promise;
      await inner.save(session);
    },
  };
  let pages = 0;
  const visit = () => (pages++, never<string>());
  const { api } = resourceFetch(() => undefined, {
    store,
    serverMetadata: { ...SERVER, authorization_endpoint: `${AS}/authorize` },
    authorize: codeFlow({ redirectUri, visit }),
  });
  const { signal, ...controller } = aborting();
  const call = assertRejects(
    () => api.authorize({ fresh: true, signal }),
    Error,
    "left",
  );
  await within(LIMIT_MS, marking.promise);
  controller.abort();
  await within(LIMIT_MS, call);
  released.resolve();
  await turn();
  assertEquals(pages, 0);
});

Deno.test("createAuthorizedFetch().finish() ends with an abort while the store hangs", async () => {
  const asked = deferred<void>();
  const { api } = resourceFetch(() => {
    asked.resolve();
    return never();
  }, { store: { load: never<undefined>, save: never<void> } });
  const pending: IPendingAuthorization = {
    ...{ issuer: AS, resource: MCP, scopes: ["read"], state: "s1" },
    ...{ codeVerifier: "v".repeat(43), redirectUri },
    ...{ serverMetadata: SESSION.serverMetadata, client: SESSION.client },
  };
  const { signal, ...controller } = aborting();
  const callback = `${redirectUri}?code=c1&state=s1`;
  const finished = assertRejects(
    () => api.finish(callback, pending, { signal }),
    Error,
    "left",
  );
  await within(LIMIT_MS, asked.promise);
  controller.abort();
  await within(LIMIT_MS, finished);
});

Deno.test("createAuthorizedFetch().revoke() that is aborted revokes the tokens of the session that it deletes", async () => {
  const inner = memoryStore({
    ...SESSION,
    serverMetadata: { ...SESSION.serverMetadata, revocation_endpoint: REVOKE },
  });
  const deleting = deferred<void>();
  const released = deferred<void>();
  const revoked = deferred<void>();
  const { api, received } = resourceFetch(() => {
    if (received.length === 2) revoked.resolve();
    return undefined;
  }, {
    store: {
      load: inner.load,
      async save(session) {
        deleting.resolve();
        await released.promise;
        await inner.save(session);
      },
    },
  });
  const { signal, ...controller } = aborting();
  const ended = assertRejects(() => api.revoke({ signal }), Error, "left");
  await within(LIMIT_MS, deleting.promise);
  controller.abort();
  await within(LIMIT_MS, ended);
  released.resolve();
  await within(LIMIT_MS, revoked.promise);
  const { refresh_token, access_token } = SESSION.token;
  assertEquals(
    received.map(({ body }) => new URLSearchParams(body).get("token")),
    [refresh_token!, access_token],
  );
  assertEquals(await inner.load(), undefined);
});

/** A signal, and a function that aborts it. */
function aborting() {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("The user has left"));
  return { signal: controller.signal, abort };
}
