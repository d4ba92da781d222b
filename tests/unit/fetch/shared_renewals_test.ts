/** Calls that wait for one renewal: the result of each is its own. */
import { assertEquals, assertRejects } from "@std/assert";
import { memoryStore, type Session, type SessionStore } from "../../../mod.ts";
import {
  assertRejectsCode,
  MCP,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  resourceFetch,
  type Respond,
  SESSION,
} from "../../support/resource.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { deferred, statusOf } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";

const START = 1_000_000;
/** A session whose token expires soon after `START`, and one second later. */
const EXPIRING: Session = {
  ...SESSION,
  token: { ...SESSION.token, expires_in: 3_600, expires_at: START + 20 },
};

/** A store of this session whose lock another process holds until `release()`. */
function held(session: Session | undefined) {
  const [waiting, released] = [deferred<void>(), deferred<void>()];
  const store: SessionStore = {
    ...memoryStore(session),
    async lock(task, signal) {
      waiting.resolve();
      const aborted = new Promise<never>((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason))
      );
      await Promise.race([released.promise, aborted]);
      return await task();
    },
  };
  return { store, waiting: waiting.promise, release: released.resolve };
}

/** Makes the first wait of a second end at once, and no other. */
function skipFirstWait() {
  let waits = 0;
  return skipWaits((ms) => ms === 1_000 && ++waits === 1);
}

/** A server that refreshes to `t2`, and a resource that rejects the token before it. */
const refreshing: Respond = ({ url, headers }) => {
  if (url === TOKEN_ENDPOINT) {
    return Response.json({ access_token: "t2", token_type: "Bearer" });
  }
  const isNew = headers.get("Authorization") === "Bearer t2";
  return new Response(null, { status: isNew ? 200 : 401 });
};

Deno.test("createAuthorizedFetch() refreshes for a call whose token expires while its early renewal is put off", async () => {
  using _waits = skipFirstWait();
  let now = START;
  const { store, waiting, release } = held(EXPIRING);
  const lock: SessionStore["lock"] = async (task, signal) => {
    try {
      return await store.lock!(task, signal);
    } finally {
      now = START + 60;
    }
  };
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === TOKEN_ENDPOINT ? refreshing({ url } as never) : undefined,
    { store: { ...store, lock }, now: () => now * 1_000 },
  );
  const calls = [api(MCP), api(MCP)];
  await within(LIMIT_MS, waiting);
  // The first waits no more, and uses its token.
  assertEquals(await statusOf(calls[0]!), 200);
  release();
  assertEquals(await statusOf(calls[1]!), 200);
  assertEquals(
    received.filter(({ url }) => url === MCP)
      .map(({ headers }) => headers.get("Authorization")),
    [`Bearer ${EXPIRING.token.access_token}`, "Bearer t2"],
  );
});

Deno.test("createAuthorizedFetch() uses what another process has stored while its early renewal failed", async () => {
  const other: Session = {
    ...SESSION,
    token: { access_token: "other", token_type: "Bearer" },
  };
  const { token: _, ...ofClient } = SESSION;
  const rows = [[other, "Bearer other"], [ofClient, "fails"]] as const;
  await eachRowInTurn(rows, async ([stored, expected]) => {
    const store = memoryStore(EXPIRING);
    const { api, received } = resourceFetch(async ({ url }) => {
      if (url !== TOKEN_ENDPOINT) return undefined;
      await store.save(stored);
      throw new TypeError("No connection");
    }, { store, now: () => START * 1_000 });
    const failed = await api(MCP).then(() => undefined, () => "fails");
    const last = received.findLast(({ url }) => url === MCP);
    assertEquals(failed ?? last?.headers.get("Authorization"), expected);
  });
});

Deno.test("createAuthorizedFetch() refreshes for a rejected token although an early renewal of it is put off", async () => {
  using _waits = skipFirstWait();
  let now = START - 3_000;
  const rejection = deferred<void>();
  let sent = 0;
  const { store, waiting, release } = held(EXPIRING);
  const { api } = resourceFetch(async (one) => {
    if (one.url !== MCP) return await refreshing(one);
    // Of a token that still has an hour.
    if (sent++ > 0) return undefined;
    await rejection.promise;
    return await refreshing(one);
  }, { store, now: () => now * 1_000 });
  const rejected = api(MCP);
  await turn();
  now = START;
  const early = [api(MCP), api(MCP)];
  await within(LIMIT_MS, waiting);
  assertEquals(await statusOf(early[0]!), 200);
  rejection.resolve();
  // More than enough to join a renewal.
  for (let n = 0; n < 50; n++) await turn();
  release();
  assertEquals(await statusOf(rejected), 200);
  assertEquals(await statusOf(early[1]!), 200);
});

Deno.test("createAuthorizedFetch() does not prompt the user for an signIn() that was aborted while it waited with a call", async () => {
  const token = { ...SESSION.token, expires_in: 60, expires_at: START - 60 };
  const { store, waiting, release } = held({ ...SESSION, token });
  let isHeld = false;
  const lock: SessionStore["lock"] = (task, signal) =>
    isHeld ? store.lock!(task, signal) : task();
  let prompts = 0;
  const { api } = resourceFetch(
    () => new Response(null, { status: 503, headers: { "Retry-After": "60" } }),
    {
      store: { ...store, lock },
      now: () => START * 1_000,
      flow: () => Promise.resolve((prompts++, SESSION)),
    },
  );
  // The server puts refreshes off: only a user who wants a sign-in need not wait.
  await assertRejectsCode(() => api(MCP), "unexpected_status");
  isHeld = true;
  const call = assertRejectsCode(() => api(MCP), "unexpected_status");
  await within(LIMIT_MS, waiting);
  const controller = new AbortController();
  const click = assertRejects(
    () => api.signIn({ signal: controller.signal }),
    Error,
    "left",
  );
  // More than enough to join the renewal of the call.
  for (let n = 0; n < 50; n++) await turn();
  controller.abort(new Error("The user has left"));
  await within(LIMIT_MS, click);
  release();
  await within(LIMIT_MS, call);
  assertEquals(prompts, 0);
});
