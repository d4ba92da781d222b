/**
 * A sign-out deletes and revokes the session, whatever a server or another process
 * does.
 */

import { assertEquals } from "@std/assert";
import type { SessionStore } from "../../../mod.ts";
import { deferred } from "../../support/stub_fetch.ts";
import { skipWaits } from "../../support/timers.ts";
import { turn } from "../../support/within.ts";
import { type Browser, ORIGIN, World } from "./_world.ts";

const SESSION = "__Host-sign-in";
const locationOf = ({ headers }: Response) => headers.get("Location");

async function signedIn(world: World): Promise<[Browser, SessionStore]> {
  const browser = world.browser();
  await browser.signIn();
  return [browser, [...world.stores.values()].at(-1)!];
}

Deno.test("logout() deletes and revokes what a slow refresh of another process has stored", async () => {
  using _waits = skipWaits((ms) => ms === 1_000);
  const world = new World();
  const { servers } = world;
  const [browser, store] = await signedIn(world);
  const response = deferred<void>();
  world.change = async (one) => {
    if (one.url.endsWith("/token")) await response.promise;
    return one;
  };
  servers.advance(3600);
  const refreshing = world.signIn.apiOf({ headers: browser.headers() })
    .then((api) => api!(servers.resource));
  while (servers.received("token", "refresh_token").length === 0) await turn();
  let hasEnded = false;
  const out = browser.signOut().finally(() => hasEnded = true);
  // More than a second, after which no other function waits for the lock.
  for (let turns = 0; turns < 300; turns++) await turn();
  assertEquals(hasEnded, false);
  response.resolve();
  await refreshing;
  assertEquals((await out).status, 303);
  assertEquals(await store.load(), undefined);
  assertEquals(servers.accessTokens(), []);
});

Deno.test("logout() leaves the user signed in if the store cannot be read for a moment", async () => {
  const world = new World();
  const [browser, store] = await signedIn(world);
  const { load } = store;
  store.load = () => Promise.reject(new Error("down"));
  const out = await browser.signOut();
  assertEquals([out.status, out.headers.getSetCookie()], [500, []]);
  store.load = load;
  assertEquals(await browser.isSignedIn(), true);
  assertEquals((await browser.signOut()).status, 303);
  assertEquals([browser.value(SESSION), world.servers.accessTokens()], [
    undefined,
    [],
  ]);
});

Deno.test("logout() ends at home if the server has no page that a user may be sent to", async () => {
  for (const end of ["http://auth.example/end", "javascript:alert(1)", 7]) {
    const world = new World({}, {
      serverMetadata: { end_session_endpoint: end },
    });
    const [browser] = await signedIn(world);
    const out = await browser.signOut();
    assertEquals([out.status, locationOf(out)], [303, `${ORIGIN}/`]);
    assertEquals(browser.cookies.size, 0);
    assertEquals(world.errors, []);
  }
});

Deno.test("logout() signs out although the server revokes nothing", async () => {
  const world = new World();
  const { servers } = world;
  const [browser] = await signedIn(world);
  servers.failNext("revocation", 503);
  servers.failNext("revocation", 503);
  assertEquals((await browser.signOut()).status, 303);
  assertEquals(browser.cookies.size, 0);
  assertEquals(await world.sessions(), []);
});

Deno.test("logout() sends the client's credentials to no other server than its own", async () => {
  const world = new World();
  const [browser, store] = await signedIn(world);
  const session = (await store.load())!;
  const evil = "https://evil.example";
  const serverMetadata = {
    ...session.server,
    issuer: evil,
    revocation_endpoint: `${evil}/revoke`,
  };
  await store.save({ ...session, issuer: evil, server: serverMetadata });
  const { length } = world.servers.requests;
  assertEquals((await browser.signOut()).status, 303);
  assertEquals(world.servers.requests.length, length);
  assertEquals(await store.load(), undefined);
});

Deno.test("login() refuses the form of another site, which comes without the cookies", async () => {
  const world = new World();
  const [browser] = await signedIn(world);
  const callback = await browser.visit();
  for (const path of ["/login", "/notes"]) {
    const form = { method: "POST", site: "cross-site" };
    const response = await browser.open(path, form);
    assertEquals([response.status, response.headers.getSetCookie()], [403, []]);
  }
  await browser.open(callback);
  assertEquals(world.servers.received("token").length, 2);
  // One of the site itself leads to a sign-in, and to the home page then.
  const own = { method: "POST", site: "same-origin" };
  const response = await world.browser().open("/notes", own);
  assertEquals(response.status, 303);
});
