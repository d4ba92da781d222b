/** A web server signs its users in and out, apart for each browser, tab and site. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import {
  isOAuthClientError,
  memoryStore,
  OAuthClientError,
  type SessionStore,
} from "../../../mod.ts";
import {
  createWebSignIn,
  type WebSignInOptions,
} from "../../../lib/web/mod.ts";
import { type Browser, KEY, ORIGIN, World } from "./_world.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinThrown } from "../../support/fixtures.ts";

const SESSION = "__Host-sign-in";
const codes = (errors: unknown[]) =>
  errors.map((error) =>
    isOAuthClientError(error) ? error.error ?? error.code : String(error)
  );
const locationOf = ({ headers }: Response) => headers.get("Location");
const valuesOf = ({ cookies }: Browser) => [...cookies.keys()];

Deno.test("createWebSignIn() signs users in and out", async () => {
  const world = new World();
  const { servers } = world;
  const alice = world.browser();
  const bob = world.browser();
  assertEquals(await alice.isSignedIn(), false);
  const login = await alice.open("/login");
  assertEquals(login.status, 303);
  const url = new URL(locationOf(login)!);
  assertEquals(url.searchParams.get("redirect_uri"), `${ORIGIN}/callback`);
  assertEquals(login.headers.get("Cache-Control"), "no-store");
  const done = await alice.signIn();
  assertEquals([done.status, locationOf(done)], [303, `${ORIGIN}/`]);
  assertEquals(await alice.isSignedIn(), true);
  assertEquals(await bob.isSignedIn(), false);
  assertEquals(servers.accessTokens().length, 1);
  const out = await alice.open("/logout", {
    method: "POST",
    site: "same-origin",
  });
  assertEquals([out.status, locationOf(out)], [303, `${ORIGIN}/`]);
  assertEquals([await alice.isSignedIn(), servers.accessTokens()], [false, []]);
  assertEquals([valuesOf(alice), await world.sessions()], [[], []]);
  assertEquals(world.errors, []);
});

Deno.test("createWebSignIn() keeps two tabs apart, and returns to the page of each", async () => {
  const world = new World();
  const browser = world.browser();
  const first = await browser.visit("/login?returnTo=/a%3Fb=1%23c");
  const second = await browser.visit("/notes/7?x=y");
  assertEquals(locationOf(await browser.open(first)), `${ORIGIN}/a?b=1#c`);
  assertEquals(locationOf(await browser.open(second)), `${ORIGIN}/notes/7?x=y`);
  assertEquals(valuesOf(browser), [SESSION]);
  // The session of the first tab is deleted.
  assertEquals((await world.sessions()).length, 1);
});

Deno.test("createWebSignIn() bounds the cookies of tabs that begin at the same moment", async () => {
  const world = new World();
  const browser = world.browser();
  const headers = () => browser.headers();
  const begun = await Promise.all(
    Array.from(
      { length: 40 },
      () =>
        world.signIn.login({
          method: "GET",
          url: "/login",
          headers: headers(),
        }),
    ),
  );
  for (const response of begun) browser.keep(response);
  assert(browser.cookies.size <= 4, `${browser.cookies.size}`);
  const size = headers().get("Cookie")!.length;
  assert(size < 6_000, `${size} characters`);
  // One after another, the oldest is replaced.
  const later = world.browser();
  const callbacks: string[] = [];
  for (let tab = 0; tab < 5; tab++) {
    callbacks.push(await later.visit(`/login?returnTo=/${tab}`));
    world.servers.advance(1);
  }
  assertEquals(later.cookies.size, 4);
  const ends: (string | null)[] = [];
  for (const one of callbacks.reverse()) {
    ends.push(locationOf(await later.open(one)));
  }
  // The last has lost its place, and its user has signed in by then.
  assertEquals(ends, [4, 3, 2, 1, 0].map((one) => `${ORIGIN}/${one}`));
  assertEquals(world.servers.received("token").length, 4);
});

Deno.test("createWebSignIn() refuses a logout of another site, and sets no cookie for it", async () => {
  const world = new World();
  const browser = world.browser();
  await browser.signIn();
  await eachRowInTurn(
    [
      ["cross-site", {}],
      ["same-site", {}],
      ["cross-site", { Origin: "https://evil.example" }],
    ] as const,
    async ([site, further]) => {
      const out = await browser.open("/logout", {
        method: "POST",
        site,
        further,
      });
      assertEquals([out.status, out.headers.getSetCookie()], [403, []]);
      assertEquals(await browser.isSignedIn(), true);
    },
  );
  // Browsers without Sec-Fetch-Site.
  const { signIn } = world;
  const post = async (origin: string | undefined) => {
    const headers = browser.headers();
    headers.delete("Sec-Fetch-Site");
    if (origin) headers.set("Origin", origin);
    return await signIn.logout({ method: "POST", url: "/logout", headers });
  };
  const evil = ["https://evil.example", "http://app.example", "null"];
  for (const origin of [...evil, undefined]) {
    assertEquals((await post(origin)).status, 403);
  }
  assertEquals((await browser.open("/logout")).status, 405);
  assertEquals(await browser.isSignedIn(), true);
  // A stranger receives no cookie.
  const stranger = await world.browser().open("/logout", {
    method: "POST",
    site: "same-origin",
  });
  assertEquals([stranger.status, stranger.headers.getSetCookie()], [303, []]);
  assertEquals((await post(ORIGIN)).status, 303);
  assertEquals(await browser.isSignedIn(), false);
});

Deno.test("createWebSignIn() gives each sign-in a new identifier", async () => {
  const world = new World();
  const victim = world.browser();
  await victim.signIn();
  const before = victim.value(SESSION)!;
  const [id] = [...world.stores.keys()];
  await victim.signIn();
  assertNotEquals(victim.value(SESSION), before);
  // The former cookie is of no use, and nothing is left in its store.
  const thief = world.browser();
  thief.cookies.set(SESSION, { value: before, ends: Infinity });
  assertEquals(await thief.isSignedIn(), false);
  assertEquals(await world.storeOf(id!).load(), undefined);
  assertEquals((await world.sessions()).length, 1);
});

Deno.test("createWebSignIn() redirects to its own origin only", async () => {
  const world = new World();
  await eachRowInTurn(
    [
      ["//evil.example/x", "/"],
      ["/\\evil.example", "/"],
      ["\\\\evil.example", "/"],
      ["/\t/evil.example", "/"],
      ["https://evil.example/x", "/"],
      ["https://app.example.evil.example/x", "/"],
      ["https://app.example@evil.example/x", "/"],
      ["https://user@app.example/x", "/"],
      ["javascript:alert(1)", "/"],
      ["data:text/html,x", "/"],
      ["blob:https://app.example/x", "/"],
      ["/.//evil.example", "//evil.example"],
      ["/x/..//evil.example", "//evil.example"],
      ["https://app.example/a?b#c", "/a?b#c"],
      ["a/b", "/a/b"],
      ["/login?returnTo=/login", "/"],
      ["/callback?x", "/"],
      ["/logout", "/"],
      [`/${"x".repeat(2000)}`, "/"],
      ["", "/"],
    ] as const,
    async ([returnTo, expected]) => {
      const browser = world.browser();
      const path = `/login?returnTo=${encodeURIComponent(returnTo)}`;
      const { headers } = await browser.signIn(path);
      const location = headers.get("Location")!;
      // Absolute, so that no path can be read as another host.
      assertEquals([returnTo, location], [returnTo, ORIGIN + expected]);
      assertEquals(new URL(location, "https://other.example").origin, ORIGIN);
    },
  );
});

async function repeatCallback(storeOf?: WebSignInOptions["storeOf"]) {
  const world = new World(storeOf && { storeOf });
  const { servers } = world;
  const browser = world.browser();
  const callback = await browser.visit();
  const twice = await Promise.all([1, 2].map(() =>
    world.serve(
      new Request(new URL(callback, world.internal), {
        headers: browser.headers(),
      }),
    )
  ));
  assertEquals(twice.map(({ status }) => status), [303, 303]);
  for (const response of twice) browser.keep(response);
  assertEquals(servers.received("token").length, 1);
  assertEquals(await browser.isSignedIn(), true);
  // A reload, and the button "back".
  const again = await browser.open(callback);
  assertEquals([again.status, locationOf(again)], [303, `${ORIGIN}/`]);
  assertEquals(servers.received("token").length, 1);
  assertEquals(await browser.isSignedIn(), true);
  // Another browser signs in itself, with a code of its own.
  const other = world.browser();
  const own = locationOf(await other.open(callback))!;
  assertEquals(new URL(own).origin, servers.issuer);
  assertEquals(await other.isSignedIn(), false);
  // One that keeps no cookies: no endless redirects.
  const { pathname, search } = new URL(await servers.receiver.visit(own));
  const last = await world.browser().open(pathname + search);
  assertEquals([last.status, last.headers.getSetCookie()], [400, []]);
  assertEquals(codes(world.errors), ["expired"]);
  assertEquals(servers.received("token").length, 1);
}

Deno.test("createWebSignIn() redeems a code once, and survives a repeated callback", async () => {
  await repeatCallback();
  // Without a lock, in one process.
  const stores = new Map<string, SessionStore>();
  await repeatCallback((id) => {
    const store = stores.get(id) ?? memoryStore();
    stores.set(id, store);
    return store;
  });
});

Deno.test("createWebSignIn() opens cookies of an older key, and writes those of the newest", async () => {
  const old = new World();
  const browser = old.browser();
  await browser.signIn();
  const pending = await browser.visit();
  const next = new Uint8Array(32).fill(9);
  const rotated = (cookieKeys: WebSignInOptions["cookieKeys"]) =>
    createWebSignIn(old.servers.resource, { ...old.options, cookieKeys });
  const signIn = rotated([next, KEY]);
  const request = (path: string) => ({
    method: "GET",
    url: path,
    headers: browser.headers(),
  });
  assert(await signIn.apiOf(request("/")));
  const done = await signIn.callback(request(pending));
  assertEquals(done.status, 303);
  browser.keep(done);
  assertEquals(await rotated([KEY]).apiOf(request("/")), undefined);
  assert(await rotated([next]).apiOf(request("/")));
});

Deno.test("createWebSignIn() shows a denial and errors, without secrets", async () => {
  const world = new World({}, { user: "refuses" });
  const { servers, errors } = world;
  const browser = world.browser();
  const refusal = await browser.signIn("/login?returnTo=/notes");
  const text = await refusal.text();
  assertEquals(refusal.status, 403);
  assert(
    text.includes("access_denied") && text.includes("/login?returnTo=%2Fnotes"),
  );
  assertEquals(refusal.headers.get("Referrer-Policy"), "no-referrer");
  assertEquals(valuesOf(browser), []);
  servers.user = "consents";
  for (const fault of ["lose_request", 503] as const) {
    servers.failNext("token", fault);
    const failure = await browser.signIn();
    const seconds = failure.headers.get("Retry-After");
    assertEquals([failure.status, seconds], [503, fault === 503 ? "1" : "10"]);
  }
  servers.iss = "https://evil.example";
  assertEquals((await browser.signIn()).status, 502);
  assertEquals(codes(errors), [
    "access_denied",
    "network_error",
    "temporarily_unavailable",
    "issuer_mismatch",
  ]);
  assert(!JSON.stringify(errors).includes("code-"));
  assertEquals(valuesOf(browser), []);
});

Deno.test("createWebSignIn() ends a visit after an hour, and a sign-in after its lifetime", async () => {
  const world = new World({ lifetimeSeconds: 7200 });
  const { servers } = world;
  const browser = world.browser();
  const late = await browser.visit();
  const { cookies } = browser;
  // A browser that keeps cookies for longer.
  for (const one of cookies.values()) one.ends = Infinity;
  servers.advance(3601);
  assertEquals((await browser.open(late)).status, 400);
  assertEquals(codes(world.errors), ["expired"]);
  await browser.signIn();
  for (const one of cookies.values()) one.ends = Infinity;
  servers.advance(7190);
  assertEquals(await browser.isSignedIn(), true);
  servers.advance(11);
  assertEquals(await browser.isSignedIn(), false);
});

Deno.test("createWebSignIn() ignores cookies that were changed, or that it has not written", async () => {
  const world = new World();
  const browser = world.browser();
  await browser.signIn();
  const good = browser.value(SESSION)!;
  await browser.open("/login");
  const [visit] = valuesOf(browser).filter((one) => one !== SESSION);
  const flipped = good[20] === "A" ? "B" : "A";
  for (
    const value of [
      "",
      "A",
      "e30",
      good.slice(0, -4),
      good.slice(0, 20) + flipped + good.slice(21),
      `${good}AAAA`,
      // The value of another cookie.
      browser.value(visit!)!,
      `"${good}"`,
      "x".repeat(100_000),
    ]
  ) {
    browser.cookies.set(SESSION, { value, ends: Infinity });
    assertEquals(await browser.isSignedIn(), false);
  }
  browser.cookies.set(SESSION, { value: good, ends: Infinity });
  assertEquals(await browser.isSignedIn(), true);
});

Deno.test("createWebSignIn() works at http on loopback, without a prefix", async () => {
  const world = new World({ origin: "http://localhost:3000" });
  const browser = world.browser();
  assertEquals(locationOf(await browser.signIn()), "http://localhost:3000/");
  assertEquals(valuesOf(browser), ["sign-in"]);
  assertEquals(await browser.isSignedIn(), true);
});

Deno.test("createWebSignIn() does not begin a visit for a prefetch, a script or HEAD", async () => {
  const world = new World();
  const browser = world.browser();
  const fields: Record<string, string>[] = [
    { "Sec-Purpose": "prefetch;prerender" },
    { "Purpose": "prefetch" },
    { "Sec-Fetch-Dest": "empty" },
    { "Sec-Fetch-Dest": "image" },
  ];
  for (const further of fields) {
    for (const path of ["/login", "/notes"]) {
      const response = await browser.open(path, { further });
      assertEquals(response.status, 403);
    }
  }
  assertEquals((await browser.open("/login", { method: "HEAD" })).status, 403);
  const callback = await browser.visit();
  assertEquals((await browser.open(callback, { method: "HEAD" })).status, 405);
  assertEquals((await browser.open(callback, { method: "POST" })).status, 405);
  const further = { "Sec-Purpose": "prefetch" };
  assertEquals((await browser.open(callback, { further })).status, 403);
  // None of these has ended the visit.
  await browser.open(callback);
  assertEquals(await browser.isSignedIn(), true);
});

Deno.test("createWebSignIn() signs the user out at the server", async () => {
  const page = "https://auth.example/end";
  const world = new World({ scopes: ["openid", "read"] }, {
    serverMetadata: { end_session_endpoint: page },
    scopes: ["openid", "read"],
  });
  const browser = world.browser();
  await browser.signIn();
  const post = { method: "POST", site: "same-origin" };
  const { searchParams, origin, pathname } = new URL(
    locationOf(await browser.open("/logout", post))!,
  );
  assertEquals(origin + pathname, page);
  assertEquals(searchParams.get("post_logout_redirect_uri"), `${ORIGIN}/`);
  assertEquals(searchParams.get("client_id"), "site");
  assert(searchParams.has("id_token_hint"));
  await browser.signIn();
  const request = {
    method: "POST",
    url: "/logout",
    headers: browser.headers(post),
  };
  const local = await world.signIn.logout(request, { atServer: false });
  assertEquals(locationOf(local), `${ORIGIN}/`);
});

Deno.test("loginFor() asks for further scopes, and not again without end", async () => {
  const world = new World({}, { scopes: ["read"] });
  const { servers } = world;
  const browser = world.browser();
  const wanted = (location: string | null) =>
    new URL(location!).searchParams.get("scope");
  await browser.signIn();
  assertEquals((await browser.open("/notes")).status, 200);
  servers.requiredScopes = ["write"];
  const up = await browser.open("/notes?a");
  assertEquals(wanted(locationOf(up)), "read write");
  const callback = await servers.receiver.visit(locationOf(up)!);
  const { pathname, search } = new URL(callback);
  assertEquals(
    locationOf(await browser.open(pathname + search)),
    `${ORIGIN}/notes?a`,
  );
  assertEquals((await browser.open("/notes?a")).status, 200);
  // The user does not grant it: the answer of the API is shown.
  servers.withheldScopes = ["admin"];
  servers.requiredScopes = ["admin"];
  await browser.signIn("/notes");
  assertEquals((await browser.open("/notes")).status, 403);
  // A second factor.
  servers.requiredScopes = [];
  servers.advance(60);
  servers.requiredAcr = "mfa";
  const factor = new URL(locationOf(await browser.open("/notes"))!);
  assertEquals(factor.searchParams.get("acr_values"), "mfa");
  servers.requiredAcr = null;
  // An API that accepts no token at all: no endless redirects.
  servers.handle = () => new Response("no", { status: 401 });
  await browser.signIn();
  assertEquals((await browser.open("/notes")).status, 401);
  servers.advance(60);
  assertEquals((await browser.open("/notes")).status, 303);
  // A script gets the answer of the API.
  const further = { "Sec-Fetch-Dest": "empty" };
  assertEquals((await browser.open("/notes", { further })).status, 401);
});

Deno.test("createWebSignIn() puts neither secrets nor the client into a cookie, in the clear or sealed", async () => {
  const world = new World();
  const browser = world.browser();
  await browser.visit();
  const [value] = [...browser.cookies.values()].map((one) => one.value);
  const bytes = Uint8Array.from(
    atob(value!.replaceAll("-", "+").replaceAll("_", "/")),
    (one) => one.charCodeAt(0),
  );
  const raw = Uint8Array.from(atob(KEY), (one) => one.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, [
    "decrypt",
  ]);
  const [name] = browser.cookies.keys();
  const text = new TextDecoder().decode(
    await crypto.subtle.decrypt(
      {
        name: "AES-GCM",
        iv: bytes.slice(0, 12),
        additionalData: new TextEncoder().encode(`visit ${name}`),
      },
      key,
      bytes.slice(12),
    ),
  );
  assertMatch(text, /codeVerifier/);
  assert(!text.includes("secret of the site"));
  assert(value!.length < 1000, `${value!.length}`);
});

Deno.test("createWebSignIn() makes the discovery once for many logins", async () => {
  const world = new World();
  const { requests } = world.servers;
  await world.browser().open("/login");
  const first = requests.length;
  await world.browser().open("/login");
  assertEquals(requests.length, first);
  world.servers.advance(301);
  await world.browser().open("/login");
  assertEquals(requests.length, 2 * first);
});

Deno.test("createWebSignIn() repeats the discovery once for logins at the same moment, which do not wait for it", async () => {
  const world = new World();
  const { servers, servers: { requests } } = world;
  const logins = () =>
    Promise.all(
      Array.from({ length: 30 }, () => world.browser().open("/login")),
    );
  await logins();
  // Each login of a process that has started searches, as production.md says.
  assertEquals(requests.length, 90);
  requests.length = 0;
  servers.advance(301);
  const responses = await logins();
  assertEquals(requests.length, 3);
  assert(responses.every(({ status }) => status === 303));
  // The one whose discovery fails says so; the others go on, until the next ten seconds.
  servers.advance(301);
  servers.failNext("server_metadata", 503);
  const statuses = (await logins()).map(({ status }) => status);
  assertEquals(statuses.sort(), [...Array(29).fill(303), 503]);
  requests.length = 0;
  servers.advance(11);
  await logins();
  assertEquals(requests.length, 3);
});

Deno.test("createWebSignIn() discovers nothing for a server that it is given", async () => {
  const issuer = "https://auth.example";
  const world = new World({
    serverMetadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
    },
  });
  assertEquals((await world.browser().open("/login")).status, 303);
  assertEquals(world.servers.requests, []);
});

Deno.test("onError may respond, and a store that fails leaves the user signed in", async () => {
  const world = new World({
    onError: (error, { page, step }) =>
      new Response(`${step}: ${error}`, { status: 418, headers: page.headers }),
  });
  const browser = world.browser();
  await browser.signIn();
  const [store] = world.stores.values();
  const { save } = store!;
  store!.save = () => Promise.reject(new Error("down"));
  const out = await browser.open("/logout", {
    method: "POST",
    site: "same-origin",
  });
  assertEquals([out.status, await out.text()], [418, "logout: Error: down"]);
  store!.save = save;
  assertEquals(await browser.isSignedIn(), true);
  const { load } = store!;
  const post = { method: "POST", site: "same-origin" };
  store!.load = () => Promise.reject(new Error("down"));
  assertEquals((await browser.open("/login")).status, 303);
  assertEquals((await browser.open("/logout", post)).status, 418);
  store!.load = load;
  assertEquals(await browser.isSignedIn(), true);
  // A value that is no session.
  store!.load = () =>
    Promise.reject(new OAuthClientError("invalid_session", "Not a session"));
  assertEquals((await browser.open("/logout", post)).status, 303);
  assertEquals(valuesOf(browser), []);
  store!.load = load;
  assertEquals(await world.sessions(), []);
});

Deno.test("createWebSignIn() leaves the user signed in if the session of another sign-in cannot be saved", async () => {
  let isDown = false;
  const world: World = new World({
    storeOf: (id) => {
      const store = world.storeOf(id);
      const down = () => Promise.reject(new Error("down"));
      return { ...store, save: isDown ? down : store.save };
    },
  });
  const browser = world.browser();
  await browser.signIn();
  const before = world.servers.accessTokens();
  isDown = true;
  assertEquals((await browser.signIn()).status, 500);
  isDown = false;
  // The tokens of the second sign-in are revoked.
  assertEquals(world.servers.accessTokens(), before);
  assertEquals(await browser.isSignedIn(), true);
});

Deno.test("createWebSignIn() checks its options", () => {
  const world = new World();
  const create = (wrong: object) => () =>
    createWebSignIn(world.servers.resource, { ...world.options, ...wrong });
  for (
    const wrong of [
      { origin: "https://app.example/path" },
      { cookieKeys: [] },
      { cookieKeys: ["short"] },
      { cookieKeys: ["not Base64"] },
      { cookieKeys: [undefined] },
      { cookieKeys: [new Uint8Array(31)] },
      { cookieName: "a b" },
      { loginPath: "login" },
      { loginPath: "//evil.example" },
      { lifetimeSeconds: 0 },
      { lifetimeSeconds: Infinity },
      { loginPath: "/login?a" },
      { homePath: "/#a" },
      { homePath: "/login" },
      { parameters: { response_mode: "fragment" } },
      { client: { client_id: "x", client_secret: "y" } },
      { storeOf: undefined },
    ]
  ) {
    pinThrown(create(wrong), "invalid_argument");
  }
  pinThrown(create({ origin: "http://app.example" }), "url_refused");
});

Deno.test("createWebSignIn() keeps the session of a denied step-up", async () => {
  const world = new World();
  const browser = world.browser();
  await browser.signIn();
  world.servers.user = "refuses";
  assertEquals((await browser.signIn()).status, 403);
  assertEquals(await browser.isSignedIn(), true);
  const sessions = await world.sessions();
  assertEquals(sessions.length, 1);
});

Deno.test("createWebSignIn() redirects the POST of another site to itself, as a GET with cookies", async () => {
  const parameters = { response_mode: "form_post" };
  const world = new World({ parameters });
  const browser = world.browser();
  const back = new URL(await browser.visit("/login?returnTo=/a"), ORIGIN);
  const { pathname, searchParams } = back;
  const form = { method: "POST", site: "cross-site", body: searchParams };
  const posted = await browser.open(pathname, form);
  const location = posted.headers.get("Location")!;
  assertEquals([posted.status, location], [303, back.href]);
  assertEquals(posted.headers.getSetCookie(), []);
  assertEquals(await browser.isSignedIn(), false);
  const done = await browser.open(location.slice(ORIGIN.length), {
    site: "cross-site",
  });
  assertEquals(done.headers.get("Location"), `${ORIGIN}/a`);
  assertEquals(await browser.isSignedIn(), true);
  // Not by a script, not another type, and not any length.
  const rows: [further: Record<string, string>, body: BodyInit, number][] = [
    [{ "Sec-Fetch-Dest": "empty" }, searchParams, 405],
    [{ "Content-Type": "text/plain" }, `${searchParams}`, 405],
    [{}, new URLSearchParams({ code: "a".repeat(16_384) }), 405],
  ];
  await eachRowInTurn(rows, async ([further, body, status]) => {
    const opening = { ...form, further, body };
    assertEquals((await browser.open(pathname, opening)).status, status);
  });
});
