/** Sessions that are saved or revoked while another one is about to be stored. */
import { internalOf } from "../../../lib/session/_internal.ts";
import { assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  codeFlow,
  memoryStore,
  type Session,
} from "../../../mod.ts";
import {
  AS,
  MCP,
  REGISTRATION_ENDPOINT,
  SERVER,
} from "../../support/fixtures.ts";
import {
  resourceFetch,
  type Respond,
  SESSION,
} from "../../support/resource.ts";
import { deferred, never, statusOf } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

const TOKEN = SERVER.token_endpoint;
const REVOKE = `${AS}/revoke`;
const REVOKING = { ...SESSION.server, revocation_endpoint: REVOKE };
const { refresh_token: _, ...token } = SESSION.token;

/** What a user has just signed in to, at another place. */
const SAVED: Session = {
  ...SESSION,
  token: { access_token: "saved", token_type: "Bearer" },
};

/** A resource that accepts the saved session only. */
const refusing: Respond = ({ url, headers }) => {
  if (url === REGISTRATION_ENDPOINT) return Response.json({ client_id: "c2" });
  if (url === TOKEN) {
    return Response.json({ error: "invalid_request" }, { status: 400 });
  }
  const isSaved = headers.get("Authorization") === "Bearer saved";
  return url === MCP
    ? new Response(null, { status: isSaved ? 200 : 401 })
    : undefined;
};

/** A fetch whose token response waits for the test. */
function holding(options: Partial<AuthorizedFetchOptions>) {
  const asked = deferred<void>();
  const response = deferred<Response>();
  const world = resourceFetch((received) => {
    if (received.url !== TOKEN) return refusing(received);
    asked.resolve();
    return response.promise;
  }, options);
  return {
    ...world,
    asked: () => within(LIMIT_MS, asked.promise),
    respond: (status: number, members: object) =>
      response.resolve(Response.json(members, { status })),
    revoked: () =>
      world.received.filter(({ url }) => url === REVOKE)
        .map(({ body }) => new URLSearchParams(body).get("token")),
  };
}

/** Saves and revocations wait so long for a lock. */
const isWaitForLock = (ms: number) => ms === 1_000;

const REFRESHES: [name: string, status: number, members: object][] = [
  ["succeeds", 200, { access_token: "t2" }],
  ["fails", 400, { error: "invalid_grant" }],
  ["shows that the server has forgotten the client", 401, {
    error: "invalid_client",
  }],
];

for (const [name, status, members] of REFRESHES) {
  for (const authorize of [() => never<Session>(), undefined]) {
    Deno.test(`createAuthorizedFetch() ${authorize ? "with" : "without"} authorize keeps a session that another process saves during a refresh that ${name}`, async () => {
      const store = memoryStore(SESSION);
      const { api, asked, respond } = holding({ store, flow: authorize });
      const call = api(MCP);
      await asked();
      await store.save(SAVED);
      respond(status, members);
      assertEquals(await statusOf(call), 200);
      assertEquals(await store.load(), SAVED);
    });
  }
}

/** A user who has been sent away with the registration of a session. */
async function withVisit() {
  const store = memoryStore({ ...SESSION, token });
  const left = deferred<string>();
  const callback = deferred<string>();
  const { api } = resourceFetch(
    (received) =>
      received.url.startsWith(`${AS}/.well-known`)
        ? Response.json({
          ...SERVER,
          authorization_endpoint: `${AS}/authorize`,
          code_challenge_methods_supported: ["S256"],
        })
        : refusing(received),
    {
      store,
      flow: codeFlow({
        redirectUri: "https://app.example/callback",
        visit: (_url, { pending }) => {
          left.resolve(pending.state);
          return callback.promise;
        },
      }),
    },
  );
  const call = api(MCP).catch((error) => error);
  const state = await within(LIMIT_MS, left.promise);
  assertEquals(internalOf(await store.load()).isUserAway, true);
  return {
    ...{ api, store, call },
    /** Ends the visit, whose function does not listen to its signal. */
    async end() {
      callback.resolve(
        `https://app.example/callback?error=access_denied&state=${state}`,
      );
      const outcome = await within(LIMIT_MS, call);
      await turn();
      return outcome;
    },
  };
}

Deno.test("createAuthorizedFetch() stores nothing after revoke() where a visit does not end with its signal", async () => {
  const { api, store, end } = await withVisit();
  await within(LIMIT_MS, api.revoke());
  assertEquals((await end()).name, "AbortError");
  assertEquals(await store.load(), undefined);
});

Deno.test("createAuthorizedFetch() stores nothing after save() where a visit does not end with its signal", async () => {
  const { api, store, end } = await withVisit();
  await within(LIMIT_MS, api.save(SAVED));
  assertEquals(await statusOf(end()), 200);
  assertEquals(await store.load(), SAVED);
});

Deno.test("createAuthorizedFetch() keeps a session that another process saves during a visit", async () => {
  const { store, end } = await withVisit();
  await store.save(SAVED);
  assertEquals((await end()).error, "access_denied");
  assertEquals(await store.load(), SAVED);
});

Deno.test("createAuthorizedFetch() restores no session that another process deletes during a visit", async () => {
  const { store, end } = await withVisit();
  await store.save(undefined);
  assertEquals((await end()).error, "access_denied");
  assertEquals(await store.load(), undefined);
});

Deno.test("createAuthorizedFetch() restores no session that another process deletes during a visit, where the store cannot be read", async () => {
  const { store, end } = await withVisit();
  await store.save(undefined);
  const { load } = store;
  store.load = () => {
    store.load = load;
    return Promise.reject(new Error("down"));
  };
  assertEquals((await end()).error, "access_denied");
  assertEquals(await store.load(), undefined);
});

Deno.test("createAuthorizedFetch().revoke() deletes a session that is being marked for a visit", async () => {
  const inner = memoryStore({ ...SESSION, token });
  const saving = deferred<void>();
  const released = deferred<void>();
  const store = {
    load: inner.load,
    async save(session: Session | undefined) {
      if (internalOf(session).isUserAway) {
        saving.resolve();
        await released.promise;
      }
      await inner.save(session);
    },
  };
  const { api } = resourceFetch(refusing, {
    store,
    serverMetadata: { ...SERVER, authorization_endpoint: `${AS}/authorize` },
    flow: codeFlow({
      redirectUri: "https://app.example/callback",
      visit: () => never(),
    }),
  });
  const call = assertRejects(() => api(MCP), DOMException);
  await within(LIMIT_MS, saving.promise);
  const revoked = api.revoke();
  await turn();
  released.resolve();
  await within(LIMIT_MS, Promise.all([revoked, call]));
  assertEquals(await inner.load(), undefined);
});

Deno.test("createAuthorizedFetch().revoke() ends a finish() that is running", async () => {
  const store = memoryStore();
  const { api, asked, respond, revoked } = holding({ store });
  const redirectUri = "https://app.example/callback";
  const pending = {
    ...{ version: 1 as const, issuer: AS, resource: MCP, scopes: ["read"] },
    ...{ state: "s1", codeVerifier: "v".repeat(43), redirectUri },
    ...{ server: REVOKING, client: SESSION.client },
  };
  const finish = () => api.finish(`${redirectUri}?code=c1&state=s1`, pending);
  const finished = assertRejects(finish, DOMException);
  await asked();
  await within(LIMIT_MS, api.revoke());
  respond(200, { access_token: "t2" });
  assertEquals((await within(LIMIT_MS, finished)).name, "AbortError");
  assertEquals(await store.load(), undefined);
  // The server has issued a token by then.
  assertEquals(revoked(), ["t2"]);
});

Deno.test("createAuthorizedFetch().revoke() deletes the session although another process holds the lock", async () => {
  const inner = memoryStore(SESSION);
  const lock = (_: unknown, signal?: AbortSignal) =>
    new Promise<never>((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason))
    );
  const { api } = resourceFetch(undefined, { store: { ...inner, lock } });
  using _waits = skipWaits(isWaitForLock);
  await within(LIMIT_MS, api.revoke());
  assertEquals(await inner.load(), undefined);
});

Deno.test("createAuthorizedFetch() restores no session that revoke() has deleted during a refresh, and revokes the new tokens", async () => {
  const store = memoryStore({ ...SESSION, server: REVOKING });
  const { api, asked, respond, revoked } = holding({ store });
  const call = assertRejects(() => api(MCP), DOMException);
  await asked();
  using _waits = skipWaits(isWaitForLock);
  await within(LIMIT_MS, api.revoke());
  respond(200, { access_token: "t2", refresh_token: "r2" });
  await within(LIMIT_MS, call);
  assertEquals(await store.load(), undefined);
  const { access_token, refresh_token } = SESSION.token;
  assertEquals(revoked(), [refresh_token!, access_token, "r2", "t2"]);
});

Deno.test("createAuthorizedFetch() restores no session that another process has deleted during a refresh, and revokes the new tokens", async () => {
  const store = memoryStore({ ...SESSION, server: REVOKING });
  const { api, asked, respond, revoked } = holding({ store });
  const call = assertRejects(() => api(MCP), DOMException);
  await asked();
  await store.save(undefined);
  respond(200, { access_token: "t2", refresh_token: "r2" });
  await within(LIMIT_MS, call);
  assertEquals(await store.load(), undefined);
  assertEquals(revoked(), ["r2", "t2"]);
});
