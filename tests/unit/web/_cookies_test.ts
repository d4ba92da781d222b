/**
 * Cookies of a web server are read exactly, and written in the size that browsers
 * keep.
 */

import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import { createWebSignIn } from "../../../lib/web/mod.ts";
import { isOAuthClientError } from "../../../mod.ts";
import { type Browser, KEY, ORIGIN, World } from "./_world.ts";
import { pinMessage } from "../../support/pin_message.ts";

const SESSION = "__Host-sign-in";
const locationOf = ({ headers }: Response) => headers.get("Location");
const sizeOf = (browser: Browser) =>
  [...browser.cookies].reduce(
    (sum, [name, { value }]) => sum + name.length + value.length + 3,
    0,
  );

Deno.test("createWebSignIn() ignores a cookie whose name is not exactly that of ours", async () => {
  const world = new World();
  const attacker = world.browser();
  await attacker.signIn();
  const value = attacker.value(SESSION)!;
  const isSignedIn = async (cookie: string) => {
    const headers = new Headers({ Cookie: `a=b${cookie}` });
    return await world.signIn.apiOf({ headers }) !== undefined;
  };
  assertEquals(await isSignedIn(`; ${SESSION}=${value}`), true);
  assertEquals(await isSignedIn(`;${SESSION}=${value}`), true);
  assertEquals(await isSignedIn(`;\t${SESSION}=${value}; c`), true);
  // Another host of the domain can set these, as browsers see no prefix in them.
  for (const name of [`\u00a0${SESSION}`, ` ${SESSION}`, `\v${SESSION}`]) {
    assertEquals(await isSignedIn(`; ${name}=${value}`), false);
  }
  for (const name of [`${SESSION} `, `${SESSION}\u00a0`, "__host-sign-in"]) {
    assertEquals(await isSignedIn(`; ${name}=${value}`), false);
  }
  // Of two, the first.
  assertEquals(await isSignedIn(`; ${SESSION}=x; ${SESSION}=${value}`), false);
});

Deno.test("createWebSignIn() decrypts the cookie of a sign-in once, and not for other keys", async () => {
  const world = new World();
  const browser = world.browser();
  await browser.signIn();
  const request = { headers: browser.headers() };
  const { subtle } = crypto;
  const own = subtle.decrypt.bind(subtle);
  using decrypt = stub(subtle, "decrypt", (...given) => own(...given));
  for (let pages = 0; pages < 3; pages++) {
    assert(await world.signIn.apiOf(request));
  }
  assertEquals(decrypt.calls.length, 1);
  // A key that is compromised is removed.
  const other = createWebSignIn(world.servers.resource, {
    ...world.options,
    cookieKeys: [new Uint8Array(32).fill(8)],
  });
  assertEquals(await other.apiOf(request), undefined);
  assertEquals(decrypt.calls.length, 2);
  // What is changed is decrypted each time, and is not kept.
  const value = browser.value(SESSION)!;
  const changed = (value[0] === "A" ? "B" : "A") + value.slice(1);
  const headers = new Headers({ Cookie: `${SESSION}=${changed}` });
  for (let pages = 0; pages < 3; pages++) {
    assertEquals(
      await world.signIn.apiOf({ headers }),
      undefined,
    );
  }
  assertEquals(decrypt.calls.length, 5);
});

Deno.test("createWebSignIn() reads a Cookie of any length once", async () => {
  const world = new World();
  // With a regular expression, this would take hours.
  const Cookie = `a${" ".repeat(2_000_000)}b`;
  const headers = { get: (name: string) => name === "Cookie" ? Cookie : null };
  assertEquals(await world.signIn.apiOf({ headers }), undefined);
});

Deno.test("createWebSignIn() bounds the cookies of all visits, and leaves out a long returnTo", async () => {
  const world = new World();
  const browser = world.browser();
  const callbacks: string[] = [];
  for (const length of [700, 100, 3_000, 7_000, 500]) {
    const path = `/${"x".repeat(length)}`;
    callbacks.push(await browser.visit(`/login?returnTo=${path}`));
    world.servers.advance(1);
    assert(sizeOf(browser) < 7_000, `${sizeOf(browser)} characters`);
  }
  const last = [];
  for (const callback of callbacks.slice(1)) {
    last.push(locationOf(await browser.clone().open(callback)));
  }
  assertEquals(last, [
    `${ORIGIN}/${"x".repeat(100)}`,
    `${ORIGIN}/`,
    `${ORIGIN}/`,
    `${ORIGIN}/${"x".repeat(500)}`,
  ]);
});

Deno.test("createWebSignIn() keeps one visit if it is long, and refuses one that no browser would keep", async () => {
  const scopes = Array.from({ length: 60 }, (_, n) => `${n}`.padStart(20, "s"));
  const world = new World({ scopes });
  const browser = world.browser();
  const login = async (parameters?: Record<string, string>) => {
    const request = {
      method: "GET",
      url: "/login",
      headers: browser.headers(),
    };
    const response = await world.signIn.login(request, { parameters });
    browser.keep(response);
    return response;
  };
  // At the same moment, too.
  const both = await Promise.all(
    [1, 2].map(() => browser.clone().open("/login")),
  );
  for (const response of both) browser.keep(response);
  assertEquals(browser.cookies.size, 1);
  await login();
  assertEquals(browser.cookies.size, 1);
  assert(sizeOf(browser) > 2_000, `${sizeOf(browser)} characters`);
  assertEquals(world.errors, []);
  // A short one does not stand beside it.
  const short = createWebSignIn(world.servers.resource, {
    ...world.options,
    scopes: ["read"],
  });
  const request = { method: "GET", url: "/login", headers: browser.headers() };
  browser.keep(await short.login(request));
  assertEquals(browser.cookies.size, 1);
  assert(sizeOf(browser) < 2_000, `${sizeOf(browser)} characters`);

  // Nor does a long one beside short ones.
  browser.keep(await short.login({ ...request, headers: browser.headers() }));
  assertEquals(browser.cookies.size, 2);
  await login();
  assertEquals(browser.cookies.size, 1);

  const refused = await login({ claims: "x".repeat(3_000) });
  assertEquals([refused.status, refused.headers.getSetCookie()], [502, []]);
  const [error] = world.errors;
  assert(isOAuthClientError(error, "unsupported"));
  pinMessage(error.message.replace(/\d+/, "N"));
});

Deno.test("createWebSignIn() keeps the sign-ins of one site apart by their names", async () => {
  // The name of the second is that of a visit of the first.
  const one = new World({ cookieName: "a" });
  const other = new World({ cookieName: "a-visit-0" });
  const browser = other.browser();
  await browser.signIn();
  const [cookie] = browser.cookies;
  assertEquals(cookie?.[0], "__Host-a-visit-0");
  const strange = one.browser();
  strange.cookies.set(...cookie!);
  assertEquals((await strange.open("/login")).status, 303);
  assertEquals((await strange.open("/callback?state=x&code=y")).status, 400);
  assertEquals(other.options.cookieKeys, [KEY]);
});
