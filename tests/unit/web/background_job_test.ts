/** A background job uses the session of a signed-in user, without a request. */

import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { assertRejectsCode } from "../../support/fixtures.ts";
import { World } from "./_world.ts";

async function signIn(world = new World()) {
  const browser = world.browser();
  await browser.signIn();
  const sessionId = () =>
    world.signIn.sessionIdOf({ headers: browser.headers() });
  const id = await sessionId();
  assert(id);
  return { world, browser, id, sessionId };
}

Deno.test("sessionIdOf() returns what storeOf() receives, and nothing for a user who is signed out", async () => {
  const { world, browser, id, sessionId } = await signIn();
  assertEquals([...world.stores.keys()], [id]);
  await browser.signOut();
  assertEquals(await sessionId(), undefined);
  const headers = world.browser().headers();
  assertEquals(await world.signIn.sessionIdOf({ headers }), undefined);
});

Deno.test("apiOfSession() calls the API for the user, and refreshes after the cookie has expired", async () => {
  const { world, browser, id } = await signIn(
    new World({ lifetimeSeconds: 60 }),
  );
  const { servers } = world;
  servers.advance(4_000);
  assertEquals(await browser.isSignedIn(), false);
  const api = await world.signIn.apiOfSession(id);
  assertEquals((await api!(servers.resource)).status, 200);
  assertEquals(servers.received("token", "refresh_token").length, 1);
});

Deno.test("apiOfSession() shares one refresh with the requests of the user", async () => {
  const { world, browser, id } = await signIn();
  const { servers } = world;
  servers.advance(4_000);
  const job = async () => {
    const api = await world.signIn.apiOfSession(id);
    return (await api!(servers.resource)).status === 200;
  };
  assertEquals(await Promise.all([job(), browser.isSignedIn(), job()]), [
    true,
    true,
    true,
  ]);
  assertEquals(servers.received("token", "refresh_token").length, 1);
});

Deno.test("apiOfSession() returns nothing once the user has signed out or signed in again", async () => {
  const { world, browser, id, sessionId } = await signIn();
  await browser.signIn();
  const next = await sessionId();
  assertEquals(await world.signIn.apiOfSession(id), undefined);
  assert(await world.signIn.apiOfSession(next!));
  await browser.signOut();
  assertEquals(await world.signIn.apiOfSession(next!), undefined);
});

Deno.test("revoke() of apiOfSession() signs the user out", async () => {
  const { world, browser, id } = await signIn();
  const api = await world.signIn.apiOfSession(id);
  await api!.revoke();
  assertEquals(await browser.isSignedIn(), false);
  assertEquals(await world.sessions(), []);
});

Deno.test("apiOfSession() rejects an empty identifier, the URL of another API, and with the store's error", async () => {
  const broken = new Error("The store is down");
  const { world, id } = await signIn();
  const { signIn: site } = world;
  await assertRejectsCode(() => site.apiOfSession(""), "invalid_argument");
  await assertRejectsCode(
    () => site.apiOfSession(id, "https://other.example"),
    "invalid_argument",
  );
  world.stores.get(id)!.load = () => Promise.reject(broken);
  const error = await site.apiOfSession(id).catch((reason) => reason);
  assertStrictEquals(error, broken);
});
