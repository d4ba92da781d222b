/** The end of a session that the server wants: `session_expiry` of IPSIE SL1. */

import { assert, assertEquals } from "@std/assert";
import { getClaimsFromJWT, isOAuthClientError } from "../../../mod.ts";
import { World } from "./_world.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

/** A browser that signs in, with a claim that the server adds to the ID token. */
async function signIn(expiry: (now: number) => unknown) {
  const scopes = ["openid", "read"];
  const world = new World({ scopes }, { scopes });
  world.change = async (response, init) => {
    if (init?.method !== "POST" || !response.ok) return response;
    const { id_token, ...members } = await response.json();
    if (typeof id_token !== "string") return Response.json(members);
    const [header, , signature] = id_token.split(".");
    const now = Math.floor(world.servers.now() / 1000);
    const session_expiry = expiry(now);
    const claims = { ...getClaimsFromJWT(id_token), session_expiry };
    const payload = btoa(JSON.stringify(claims)).replaceAll("=", "")
      .replaceAll("+", "-").replaceAll("/", "_");
    const token = [header, payload, signature].join(".");
    return Response.json({ ...members, id_token: token });
  };
  const browser = world.browser();
  const done = await browser.signIn();
  const request = () => ({ method: "GET", headers: browser.headers() });
  return {
    ...{ world, browser, done },
    user: () => world.signIn.userOf(request()),
    api: () => world.signIn.apiOf(request()),
  };
}

Deno.test("createWebSignIn() ends a session at its session_expiry, and refreshes nothing after it", async () => {
  const { world, browser, user, api } = await signIn((now) => now + 7_200);
  const { servers } = world;
  const cookies = new Map(browser.cookies);
  servers.advance(7_000);
  assert(await user());
  assertEquals((await (await api())!(servers.resource)).status, 200);
  const refreshes = () => servers.received("token", "refresh_token").length;
  assertEquals(refreshes(), 1);
  servers.advance(201);
  // A browser that keeps the cookie for longer.
  for (const [name, { value }] of cookies) {
    browser.cookies.set(name, { value, ends: Infinity });
  }
  assertEquals([await user(), await api()], [undefined, undefined]);
  assertEquals(refreshes(), 1);
});

Deno.test("apiOfSession() returns nothing after the session_expiry of the user's session", async () => {
  const { world, browser } = await signIn((now) => now + 7_200);
  const { servers, signIn: site } = world;
  const id = await site.sessionIdOf({ headers: browser.headers() });
  servers.advance(7_199);
  assert(await site.apiOfSession(id!));
  servers.advance(2);
  assertEquals(await site.apiOfSession(id!), undefined);
});

Deno.test("apiOfSession() follows the session_expiry of a refresh, and pages the one of the sign-in", async () => {
  const rows: [refreshed: number, ofJob: boolean, ofPage: boolean][] = [
    [3_700, false, true],
    [90_000, true, false],
  ];
  await eachRowInTurn(rows, async ([refreshed, ofJob, ofPage]) => {
    let end = 7_200;
    let start: number | undefined;
    const { world, browser, api, user } = await signIn((now) =>
      (start ??= now) + end
    );
    const { servers, signIn: site } = world;
    const id = await site.sessionIdOf({ headers: browser.headers() });
    end = refreshed;
    servers.advance(3_600);
    assertEquals((await (await api())!(servers.resource)).status, 200);
    servers.advance(ofPage ? 200 : 3_700);
    assertEquals([await api(), await user()].map(Boolean), [ofPage, ofPage]);
    assertEquals(Boolean(await site.apiOfSession(id!)), ofJob);
  });
});

Deno.test("createWebSignIn() shortens its lifetime by session_expiry, and ignores one that is no number", async () => {
  const month = 30 * 24 * 3600;
  const rows: [expiry: (now: number) => unknown, seconds: number][] = [
    [(now) => now + 60, 60],
    [(now) => now + 60.9, 60],
    [(now) => now + 2 * month, month],
    [(now) => `${now + 60}`, month],
    [() => null, month],
    [() => undefined, month],
  ];
  await eachRowInTurn(rows, async ([expiry, seconds]) => {
    const { done } = await signIn(expiry);
    const line = done.headers.getSetCookie().find((one) =>
      one.startsWith("__Host-sign-in=")
    );
    assertEquals(/Max-Age=(\d+)/.exec(line ?? "")?.[1], `${seconds}`);
  });
});

Deno.test("createWebSignIn() shows an error for a session_expiry that has passed, and revokes the tokens", async () => {
  const { world, done, user } = await signIn((now) => now - 60);
  assertEquals([done.status, await user()], [502, undefined]);
  assert(isOAuthClientError(world.errors[0], "invalid_id_token"));
  assert(world.servers.received("revocation").length > 0);
  assertEquals(await world.sessions(), []);
});
