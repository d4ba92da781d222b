/** A visit survives the page that it leaves, and is resumed once. */

import { assertEquals, assertRejects } from "@std/assert";
import { createRedirectReceiver } from "../../../lib/browser/mod.ts";
import type { PendingAuthorization, Session } from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";
import { codeOf, fakeStorage, fakeWindow } from "./_fake_window.ts";

const REDIRECT_URI = "https://app.example/";
const URL_OF_SERVER = new URL("https://as.example/authorize");
const session = untyped({ issuer: "https://as.example" }) as Session;

const pendingFor = (state: string): PendingAuthorization =>
  untyped({ state, redirectUri: REDIRECT_URI, codeVerifier: "v3rifier" });

const create = (storage = fakeStorage()) =>
  createRedirectReceiver({ redirectUri: REDIRECT_URI, storage });

/** A fetch that finishes sign-ins, and records them. */
function recorder(result: () => Promise<Session> = async () => await session) {
  const calls: [callback: string, state: string][] = [];
  return {
    calls,
    finish(callback: string, { state }: PendingAuthorization) {
      calls.push([callback, state]);
      return result();
    },
  };
}

/** Leaves a page for the server; returns the storage. */
async function leave(from: string, state = "s1", storage = fakeStorage()) {
  using page = fakeWindow(from);
  const receiver = create(storage);
  const visit = receiver.visit(URL_OF_SERVER, { pending: pendingFor(state) });
  assertEquals(page.visited, [URL_OF_SERVER.href]);
  page.fire("pagehide");
  assertEquals(await within(LIMIT_MS, codeOf(visit)), "redirected");
  assertEquals(page.listeners, 0);
  return storage;
}

Deno.test("resume() fails on a server", async () => {
  assertEquals(await codeOf(create().resume(recorder())), "unsupported");
});

Deno.test("visit() keeps the visit by its state before the page is left", async () => {
  const { values } = await leave("https://app.example/?note=3#top");
  const [[key, value] = []] = [...values];
  assertEquals(key, "oauth-helper:visit:s1");
  const { at, ...visit } = JSON.parse(value!);
  assertEquals(visit, {
    pending: pendingFor("s1"),
    from: "https://app.example/?note=3#top",
  });
  assertEquals(Math.abs(Date.now() - at) < 60_000, true);
});

Deno.test("visit() goes nowhere after an abort", async () => {
  using page = fakeWindow(REDIRECT_URI);
  const storage = fakeStorage();
  const pending = pendingFor("s1");
  const signal = AbortSignal.abort(new Error("enough"));
  const call = () => create(storage).visit(URL_OF_SERVER, { pending, signal });
  await assertRejects(call, Error, "enough");
  assertEquals([page.visited, storage.values.size], [[], 0]);
});

Deno.test("visit() rejects if the user stops the page of the server, so that they can try again", async () => {
  using page = fakeWindow(REDIRECT_URI);
  const receiver = create();
  const timers = skipWaits();
  const visit = receiver.visit(URL_OF_SERVER, { pending: pendingFor("s1") });
  timers[Symbol.dispose]();
  assertEquals(await within(LIMIT_MS, codeOf(visit)), "timeout");
  assertEquals(page.listeners, 0);
});

Deno.test("resume() cleans the URL and deletes the visit before it finishes the sign-in", async () => {
  const storage = await leave("https://app.example/?note=3#top");
  const response = `${REDIRECT_URI}?code=c0de&state=s1`;
  using page = fakeWindow(response);
  const api = recorder(() => {
    assertEquals(page.replaced, ["https://app.example/?note=3#top"]);
    assertEquals(storage.values.size, 0);
    return Promise.resolve(session);
  });
  const receiver = create(storage);
  assertEquals(await receiver.resume(api), session);
  assertEquals(await receiver.resume(api), undefined);
  assertEquals(api.calls, [[response, "s1"]]);
  assertEquals(page.visited, []);
});

Deno.test("resume() loads the page that was left, if it is another one", async () => {
  const storage = await leave("https://app.example/notes/3");
  using page = fakeWindow(`${REDIRECT_URI}?code=c0de&state=s1`);
  const api = recorder();
  let hasReturned = false;
  void create(storage).resume(api).finally(() => hasReturned = true);
  await turn();
  assertEquals(hasReturned, false);
  assertEquals(page.replaced, [REDIRECT_URI]);
  assertEquals(page.visited, ["https://app.example/notes/3"]);
});

Deno.test("resume() rejects once where the sign-in has failed", async () => {
  const storage = await leave("https://app.example/#top");
  using page = fakeWindow(`${REDIRECT_URI}?error=access_denied&state=s1`);
  const api = recorder(() => Promise.reject(new Error("denied")));
  const receiver = create(storage);
  // Two at once, as frameworks do when they start.
  const both = [receiver.resume(api), receiver.resume(api)];
  for (const one of both) await assertRejects(() => one, Error, "denied");
  assertEquals(api.calls.length, 1);
  assertEquals(page.replaced, ["https://app.example/#top"]);
  assertEquals(await receiver.resume(api), undefined);
});

const UNRELATED: [name: string, url: string][] = [
  ["has no state", `${REDIRECT_URI}?code=c0de`],
  ["has another state", `${REDIRECT_URI}?code=c0de&state=s2`],
  ["has another path", `${REDIRECT_URI}notes?code=c0de&state=s1`],
  ["is that of a page", REDIRECT_URI],
];

for (const [name, url] of UNRELATED) {
  Deno.test(`resume() does nothing where the URL ${name}`, async () => {
    const storage = await leave("https://app.example/");
    using page = fakeWindow(url);
    const api = recorder();
    assertEquals(await create(storage).resume(api), undefined);
    assertEquals([api.calls, page.replaced], [[], []]);
    assertEquals(storage.values.size, 1);
  });
}

Deno.test("resume() and visit() delete visits that are old or damaged, and nothing else", async () => {
  const old = JSON.stringify({
    pending: pendingFor("s0"),
    from: REDIRECT_URI,
    at: Date.now() - 3_700_000,
  });
  const values = [
    ["oauth-helper:visit:s0", old],
    ["oauth-helper:visit:damaged", '{"pending":'],
    ["oauth-helper:visit:null", "null"],
    ["session", "of the page"],
  ] as const;
  const storage = fakeStorage(new Map(values));
  using _page = fakeWindow(REDIRECT_URI);
  assertEquals(await create(storage).resume(recorder()), undefined);
  assertEquals([...storage.values.keys()], ["session"]);

  const kept = await leave(REDIRECT_URI, "s1", fakeStorage(new Map(values)));
  assertEquals([...kept.values.keys()], ["session", "oauth-helper:visit:s1"]);
});
