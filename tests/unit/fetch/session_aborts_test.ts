/** Aborts while the store is slow: they end a call, and no page opens. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  memoryStore,
  OAuthClientError,
  type PendingAuthorization,
  type Session,
} from "../../../mod.ts";
import { AS, MCP, pinRejected, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { deferred, never } from "../../support/stub_fetch.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

const REVOKE = `${AS}/revoke`;
const redirectUri = "https://app.example/callback";
const CALLBACK = `${redirectUri}?code=c1&state=s1`;
const PENDING: PendingAuthorization = {
  ...{ version: 1, issuer: AS, resource: MCP, scopes: ["read"], state: "s1" },
  ...{ codeVerifier: "v".repeat(43), redirectUri },
  ...{ server: SESSION.server, client: SESSION.client },
};

Deno.test("createAuthorizedFetch() opens no page after an abort while the store is slow to mark the client", async () => {
  const inner = memoryStore(SESSION);
  const marking = deferred<void>();
  const released = deferred<void>();
  const store = {
    load: inner.load,
    async save(session: Session | undefined) {
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
    flow: codeFlow({ redirectUri, visit }),
  });
  const { signal, ...controller } = aborting();
  const call = assertRejects(
    () => api.signIn({ fresh: true, signal }),
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
  const { signal, ...controller } = aborting();
  const finished = assertRejects(
    () => api.finish(CALLBACK, PENDING, { signal }),
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
    server: { ...SESSION.server, revocation_endpoint: REVOKE },
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

Deno.test("createAuthorizedFetch().save() that is aborted asks no user who has left a sign-in", async () => {
  const inner = memoryStore();
  const waiting = deferred<void>();
  let isHeld = false;
  let asked = 0;
  const { api } = resourceFetch(
    ({ url }) => url === MCP ? new Response(null, { status: 401 }) : undefined,
    {
      store: {
        ...inner,
        lock: (task, signal) => {
          if (!isHeld) return task();
          waiting.resolve();
          return new Promise((_, reject) =>
            signal?.addEventListener("abort", () => reject(signal.reason))
          );
        },
      },
      flow: () => {
        asked++;
        return Promise.reject(new OAuthClientError("expired", "Left"));
      },
    },
  );
  await assertRejects(() => api(MCP), OAuthClientError, "Left");
  isHeld = true;
  const { signal, ...controller } = aborting();
  const saved = assertRejects(() => api.save(SESSION, { signal }), Error);
  await within(LIMIT_MS, waiting.promise);
  controller.abort();
  await within(LIMIT_MS, saved);
  isHeld = false;
  await pinRejected(() => api(MCP), "sign_in_required");
  assertEquals(asked, 1);
});

Deno.test("createAuthorizedFetch().finish() that is aborted is no sign-in that the user has left", async () => {
  const controller = new AbortController();
  let asked = 0;
  const { api } = resourceFetch(({ url }) => {
    if (url === SESSION.server.token_endpoint) controller.abort();
    return url === MCP ? new Response(null, { status: 401 }) : undefined;
  }, {
    store: memoryStore(),
    flow: () => (asked++, Promise.reject(new Error("asked"))),
  });
  const { signal } = controller;
  await assertRejects(() => api.finish(CALLBACK, PENDING, { signal }));
  await assertRejects(() => api(MCP), Error, "asked");
  assertEquals(asked, 1);
});

Deno.test("createAuthorizedFetch().finish() ends with an abort while the store hangs after the server has refused", async () => {
  // Of the session whose client it was, and of what the user has left.
  for (const hanging of [1, 2]) {
    let loads = 0;
    const reached = deferred<void>();
    const { api } = resourceFetch(
      () => Response.json({ error: "invalid_grant" }, { status: 400 }),
      {
        store: {
          ...memoryStore(),
          load() {
            if (++loads < hanging) return Promise.resolve(undefined);
            reached.resolve();
            return never();
          },
        },
      },
    );
    const { signal, ...controller } = aborting();
    const finish = () => api.finish(CALLBACK, PENDING, { signal });
    const finished = assertRejects(finish, Error, "left");
    await within(LIMIT_MS, reached.promise);
    controller.abort();
    await within(LIMIT_MS, finished);
  }
});

Deno.test("createAuthorizedFetch().signIn() ends with an abort while the store hangs after an early renewal has failed", async () => {
  const now = 1_000_000;
  const token = { ...SESSION.token, expires_in: 3_600, expires_at: now + 20 };
  const inner = memoryStore({ ...SESSION, token });
  let hasFailed = false;
  const reached = deferred<void>();
  const { api, urls } = resourceFetch(() => {
    hasFailed = true;
    return new Response(null, { status: 503 });
  }, {
    now: () => now * 1_000,
    store: {
      ...inner,
      load() {
        if (!hasFailed) return inner.load();
        reached.resolve();
        return never();
      },
    },
  });
  const { signal, ...controller } = aborting();
  const call = assertRejects(() => api.signIn({ signal }), Error, "left");
  await within(LIMIT_MS, reached.promise);
  controller.abort();
  await within(LIMIT_MS, call);
  assertEquals(urls, [SESSION.server.token_endpoint]);
});

Deno.test("createAuthorizedFetch().finish() ends with an abort while it revokes what came after revoke()", async () => {
  const server = { ...SESSION.server, revocation_endpoint: REVOKE };
  const issuing = deferred<void>();
  const issued = deferred<Response>();
  const revoking = deferred<void>();
  const revoked = deferred<Response>();
  const { api } = resourceFetch(({ url }) => {
    if (url === REVOKE) {
      revoking.resolve();
      return revoked.promise;
    }
    issuing.resolve();
    return issued.promise;
  }, { store: memoryStore() });
  const { signal, ...controller } = aborting();
  const pending = { ...PENDING, server };
  const finished = assertRejects(
    () => api.finish(CALLBACK, pending, { signal }),
    Error,
    "left",
  );
  await within(LIMIT_MS, issuing.promise);
  await within(LIMIT_MS, api.revoke());
  issued.resolve(Response.json({ access_token: "t2", token_type: "Bearer" }));
  await within(LIMIT_MS, revoking.promise);
  controller.abort();
  await within(LIMIT_MS, finished);
  // The request ends all the same.
  revoked.resolve(new Response());
  for (let n = 0; n < 50; n++) await turn();
});

function aborting() {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("The user has left"));
  return { signal: controller.signal, abort };
}
