/** A process shows its user one page at a time. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { codeFlow, createAuthorizedFetch, memoryStore } from "../../../mod.ts";
import {
  createLoopbackReceiver,
  type LoopbackReceiverOptions,
} from "../../../lib/native/mod.ts";
import { replaceGlobals } from "../../support/globals.ts";
import {
  AS,
  assertRejectsCode,
  MCP,
  metadataOf,
  pinThrown,
} from "../../support/fixtures.ts";
import { json, stubFetch } from "../../support/stub_fetch.ts";
import { LIMIT_MS, turn, until, within } from "../../support/within.ts";

const ignore = () => {};

/** Waits for a promise whose rejection a test may await later. */
function settled<T>(promise: Promise<T>): Promise<T> {
  const limited = within(LIMIT_MS, promise);
  limited.catch(ignore);
  return limited;
}
const CLIENT = { issuer: AS, client_id: "c1" };
const PAR = `${AS}/par`;
const TOKEN = `${AS}/token`;

/** Ends the visit of an URL, as the redirect of a browser does. */
async function respond(redirectUri: string, state: string, query = "code=c") {
  const response = await fetch(`${redirectUri}?state=${state}&${query}`);
  await response.body?.cancel();
  return response.status;
}

interface Visited {
  redirectUri: string;
  result: Promise<URL>;
}

/** A visit of a receiver of its own; `opened` has what all of them have opened. */
async function visit(
  state: string,
  opened: string[],
  options: LoopbackReceiverOptions = {},
  signal?: AbortSignal,
): Promise<Visited> {
  const receiver = createLoopbackReceiver({
    port: 0,
    open: () => void opened.push(state),
    print: ignore,
    ...options,
  });
  const redirectUri = await receiver.redirectUri();
  const pending = { state, redirectUri };
  const url = new URL(`${AS}/authorize`);
  const result = settled(receiver.visit(url, { pending, signal }));
  return { redirectUri, result };
}

Deno.test("createLoopbackReceiver() shows one page at a time, and accepts a response before its turn", async () => {
  const opened: string[] = [];
  const visits = [];
  for (const state of ["a", "b", "c"]) visits.push(await visit(state, opened));
  const [a, b, c] = visits as [
    typeof visits[0],
    typeof visits[0],
    typeof visits[0],
  ];
  assertEquals(opened, ["a"]);
  // The program may have shown the URL in another way.
  assertEquals(await respond(b.redirectUri, "b"), 200);
  assertEquals((await b.result).searchParams.get("state"), "b");
  assertEquals(opened, ["a"]);
  await respond(a.redirectUri, "a");
  await a.result;
  assertEquals(opened, ["a", "c"]);
  await respond(c.redirectUri, "c");
  await c.result;
});

Deno.test("createLoopbackReceiver() ends the wait by its signal, and counts its time from its turn", async () => {
  const opened: string[] = [];
  const controller = new AbortController();
  const first = await visit("a", opened);
  const aborted = await visit("b", opened, {}, controller.signal);
  const timers: unknown[] = [];
  const start = setTimeout;
  using _timers = replaceGlobals({
    setTimeout(handler: () => void, ms?: number) {
      timers.push(ms);
      return start(handler, ms);
    },
  });
  const last = await visit("c", opened, { timeoutMs: 50 });
  controller.abort(new Error("over"));
  await assertRejects(() => aborted.result, Error, "over");
  await assertRejects(() => fetch(aborted.redirectUri));
  assertEquals([opened, timers.includes(50)], [["a"], false]);
  await respond(first.redirectUri, "a");
  await first.result;
  await assertRejectsCode(() => last.result, "timeout");
  assertEquals([opened, timers.includes(50)], [["a", "c"], true]);
});

/** Calls of fetches with a receiver each, at a server that requires PAR. */
function signIns(
  count: number,
  refusals: string[] = [],
) {
  const opened: string[] = [];
  const asked: { state: string; redirect_uri: string }[] = [];
  const stub = stubFetch({
    [PAR]: ({ body }) => {
      const { state = "", redirect_uri = "" } = Object.fromEntries(
        new URLSearchParams(body),
      );
      asked.push({ state, redirect_uri });
      return Response.json(
        { request_uri: `urn:${asked.length}`, expires_in: 5 },
        { status: 201 },
      );
    },
    [TOKEN]: json({ access_token: "a1", token_type: "Bearer" }),
    [MCP]: () => new Response(),
  });
  const serverMetadata = metadataOf(AS, {
    authorization_endpoint: `${AS}/authorize`,
    code_challenge_methods_supported: ["S256"],
    pushed_authorization_request_endpoint: PAR,
    require_pushed_authorization_requests: true,
    scopes_supported: ["offline_access"],
  });
  const start = (signal?: AbortSignal, store = memoryStore()) => {
    const receiver = createLoopbackReceiver({
      port: 0,
      print: ignore,
      open: (url) => void opened.push(url),
    });
    const api = createAuthorizedFetch(MCP, {
      ...{ store, serverMetadata, tokenRequired: true },
      flow: codeFlow({ ...receiver, client: CLIENT, scopes: ["read"] }),
      fetch: stub.globalFetch,
    });
    return settled(api(MCP, signal ? { signal } : {}));
  };
  const next = async () => {
    const { state, redirect_uri } = asked.at(-1)!;
    const error = refusals.shift();
    const query = error ? `error=${error}` : "code=c";
    assertEquals(await respond(redirect_uri, state, query), 200);
  };
  const results = Array.from({ length: count }, () => start());
  return { opened, asked, start, next, results };
}

Deno.test("codeFlow() with a loopback receiver pushes its request and opens its tab when it is its turn", async () => {
  const { opened, asked, next, results } = signIns(5);
  for (let shown = 1; shown <= 5; shown++) {
    await until(LIMIT_MS, () => opened.length === shown);
    for (let i = 0; i < 5; i++) await turn();
    assertEquals([asked.length, opened.length], [shown, shown]);
    await next();
  }
  const responses = await Promise.all(results);
  assertEquals(responses.map(({ status }) => status), Array(5).fill(200));
  for (const { redirect_uri } of asked) {
    await assertRejects(() => fetch(redirect_uri));
  }
});

Deno.test("codeFlow() stops to wait for its turn when its signal aborts, or an earlier sign-in fails", async () => {
  const { opened, asked, start, next, results } = signIns(1, ["access_denied"]);
  await until(LIMIT_MS, () => opened.length === 1);
  const controller = new AbortController();
  const store = memoryStore();
  const waiting = start(controller.signal, store);
  for (let i = 0; i < 5; i++) await turn();
  controller.abort(new Error("over"));
  await assertRejects(() => waiting, Error, "over");
  assertEquals([asked.length, opened.length], [1, 1]);
  // The user has not seen that one, and is asked again.
  const third = start(undefined, store);
  await next();
  await assertRejectsCode(() => results[0]!, "oauth_error");
  await until(LIMIT_MS, () => opened.length === 2);
  await next();
  assertEquals((await third).status, 200);
});

Deno.test("codeFlow() asks for consent in the same turn, with the receiver that still listens", async () => {
  const { opened, asked, next, results } = signIns(2, ["consent_required"]);
  await until(LIMIT_MS, () => opened.length === 1);
  await next();
  await until(LIMIT_MS, () => opened.length === 2);
  assertEquals(asked[0]!.redirect_uri, asked[1]!.redirect_uri);
  await next();
  await until(LIMIT_MS, () => opened.length === 3);
  assert(asked[2]!.redirect_uri !== asked[1]!.redirect_uri);
  await next();
  assertEquals((await Promise.all(results)).length, 2);
});

Deno.test("codeFlow() requires a function as turn", () => {
  const options: object = { ...createLoopbackReceiver(), turn: true };
  const call = () => codeFlow(options as Parameters<typeof codeFlow>[0]);
  pinThrown(call, "invalid_argument");
});
