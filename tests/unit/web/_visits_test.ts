/** A visit leads to a session for the browser that began it, and for no other. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { createDpop, isOAuthClientError } from "../../../mod.ts";
import type { Visit } from "../../../lib/web/_cookies.ts";
import { Seal } from "../../../lib/web/_seal.ts";
import type { WebSignInOptions } from "../../../lib/web/mod.ts";
import { type Browser, ORIGIN, World } from "./_world.ts";

const SESSION = "__Host-sign-in";
const locationOf = ({ headers }: Response) => headers.get("Location");
const queryOf = (response: Response) =>
  new URL(locationOf(response)!).searchParams;
const codes = (errors: unknown[]) =>
  errors.map((error) =>
    isOAuthClientError(error) ? error.error ?? error.code : String(error)
  );

/** The callback of a redirect, after the user has consented. */
async function callbackOf(world: World, response: Response): Promise<string> {
  const { receiver } = world.servers;
  const { pathname, search } = new URL(
    await receiver.visit(locationOf(response)!),
  );
  return pathname + search;
}

Deno.test("createWebSignIn() gives the session of a visit only for the code of the visit", async () => {
  const world = new World();
  const victim = world.browser();
  const callback = await victim.visit();
  // Who has the cookie of the visit, and has not seen the response of the server.
  const attacker = victim.clone();
  await victim.open(callback);
  assertEquals(await victim.isSignedIn(), true);
  const params = new URLSearchParams(callback.slice("/callback?".length));
  for (
    const change of [
      { code: "unknown" },
      { error: "access_denied" },
      { code: undefined },
      { code: undefined, error: "access_denied" },
      { code: "" },
    ]
  ) {
    const changed = new URLSearchParams(params);
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) changed.delete(name);
      else changed.set(name, value);
    }
    const copy = attacker.clone();
    const { status } = await copy.open(`/callback?${changed}`);
    assert(status >= 400, `${status}`);
    assertEquals(copy.value(SESSION), undefined);
    assertEquals(await copy.isSignedIn(), false);
  }
});

Deno.test("createWebSignIn() begins a visit once more whose cookie another tab has overwritten", async () => {
  using _random = stub(Math, "random", () => 0);
  const world = new World();
  /** Two tabs that begin at the same moment; their callbacks. */
  const begin = async (browser: Browser) => {
    const both = await Promise.all(
      ["/a?b", "/c"].map((page) => browser.clone().open(page)),
    );
    for (const response of both) browser.keep(response);
    assertEquals(browser.cookies.size, 1);
    return await Promise.all(both.map((one) => callbackOf(world, one)));
  };
  const browser = world.browser();
  const [lost = "", kept = ""] = await begin(browser);
  const again = await browser.open(lost);
  assertEquals(again.status, 303);
  assertEquals(
    locationOf(await browser.open(await callbackOf(world, again))),
    `${ORIGIN}/a?b`,
  );
  assertEquals(await browser.isSignedIn(), true);
  assertEquals(locationOf(await browser.open(kept)), `${ORIGIN}/c`);

  // Once the other tab has signed in, no further visit is needed.
  const later = world.browser();
  const [late = "", first = ""] = await begin(later);
  assertEquals(locationOf(await later.open(first)), `${ORIGIN}/c`);
  assertEquals(locationOf(await later.open(late)), `${ORIGIN}/a?b`);
  assertEquals(world.errors, []);

  // A denial is not repeated, nor is a state that is not of the site.
  const denied = await begin(world.browser());
  const strange = world.browser();
  for (
    const callback of [
      denied[0]!.replace("code=", "error=access_denied&x="),
      "/callback?state=unknown&code=x",
      "/callback?code=x",
    ]
  ) {
    assertEquals((await strange.open(callback)).status, 400);
  }
  assertEquals(codes(world.errors), ["expired", "expired", "expired"]);
  assertEquals(strange.cookies.size, 0);
});

Deno.test("createWebSignIn() puts a state into the request that is new, and hides the page", async () => {
  const world = new World();
  const states = new Set<string>();
  for (const page of ["/secret", "/secret", `/${"x".repeat(300)}`]) {
    const state = queryOf(await world.browser().open(page)).get("state")!;
    assert(!atob(state.replace(/-/g, "+").replace(/_/g, "/")).includes("secr"));
    assert(state.length < 400, `${state.length}`);
    states.add(state);
  }
  assertEquals(states.size, 3);
});

Deno.test("createWebSignIn() revokes the tokens of a session that cannot be saved", async () => {
  for (const part of ["save", "storeOf"] as const) {
    let isDown = false;
    const storeOf: WebSignInOptions["storeOf"] = (id) => {
      if (isDown && part === "storeOf") throw new Error("down");
      const store = world.storeOf(id);
      const save = () => Promise.reject(new Error("down"));
      return isDown ? { ...store, save } : store;
    };
    const world: World = new World({ storeOf });
    const browser = world.browser();
    await browser.signIn();
    const before = world.servers.accessTokens();
    const callback = await browser.visit();
    isDown = true;
    const failure = await browser.open(callback);
    assertEquals([failure.status, part], [500, part]);
    // The former session is as it was.
    assertEquals(world.servers.accessTokens(), before);
    assertEquals(codes(world.errors), ["Error: down"]);
    assertEquals((await browser.signOut()).status, 500);
    assertEquals((await browser.open("/login")).status, 303);
    isDown = false;
    assertEquals(await browser.isSignedIn(), true);
    // Of the caller, as `storeOf` is.
    isDown = part === "storeOf";
    if (isDown) await assertRejects(() => browser.isSignedIn(), Error, "down");
  }
});

Deno.test("createWebSignIn() logs errors, but not the callbacks of strangers", async () => {
  using log = stub(console, "error", () => {});
  const world = new World({ onError: undefined }, { user: "refuses" });
  await world.browser().open("/callback?code=x&state=y");
  assertEquals(log.calls, []);
  await world.browser().signIn();
  assertEquals(codes(log.calls.map(({ args }) => args[0])), ["access_denied"]);
});

Deno.test("createWebSignIn() responds although onError fails", async () => {
  using log = stub(console, "error", () => {});
  for (
    const onError of [
      () => {
        throw new Error("of onError");
      },
      () => Promise.reject(new Error("of onError")),
    ]
  ) {
    const world = new World({ onError }, { user: "refuses" });
    assertEquals((await world.browser().signIn()).status, 403);
    assertEquals(String(log.calls.at(-1)?.args[0]), "Error: of onError");
  }
});

Deno.test("createWebSignIn() requests a sign-in once more with the prompt for consent", async () => {
  const world = new World({}, {
    serverMetadata: { scopes_supported: ["read", "offline_access"] },
  });
  const { servers } = world;
  const refuse = () => {
    servers.intercept = ({ endpoint, params }) => {
      if (endpoint !== "authorization" || isGranted(params)) return undefined;
      const back = new URL(params.get("redirect_uri")!);
      back.searchParams.set("error", "consent_required");
      back.searchParams.set("state", params.get("state")!);
      back.searchParams.set("iss", servers.issuer);
      const headers = { Location: back.href };
      return new Response(null, { status: 302, headers });
    };
  };
  let isGranted = (params: URLSearchParams) =>
    params.get("prompt") === "consent";
  refuse();
  const browser = world.browser();
  const login = await world.signIn.login({
    method: "GET",
    url: "/notes",
    headers: browser.headers(),
  }, { parameters: { login_hint: "alice" } });
  browser.keep(login);
  const again = await browser.open(await callbackOf(world, login));
  assertEquals(queryOf(again).get("prompt"), "consent");
  assertEquals(queryOf(again).get("scope"), queryOf(login).get("scope"));
  assertEquals(queryOf(again).get("login_hint"), "alice");
  assertEquals(browser.cookies.size, 1);
  assertEquals(
    locationOf(await browser.open(await callbackOf(world, again))),
    `${ORIGIN}/notes`,
  );
  assertEquals(world.errors, []);
  // Also for more, with all that it was for.
  servers.advance(60);
  servers.requiredScopes = ["write"];
  const scopes = await browser.open("/notes");
  const more = await browser.open(await callbackOf(world, scopes));
  assertEquals(queryOf(more).get("prompt"), "consent");
  assertEquals(queryOf(more).get("scope"), "read offline_access write");
  servers.requiredScopes = [];
  servers.requiredAcr = "mfa";
  const factor = await browser.open("/notes");
  const again2 = await browser.open(await callbackOf(world, factor));
  assertEquals(queryOf(again2).get("acr_values"), "mfa");
  // Only once.
  isGranted = () => false;
  const other = world.browser();
  const second = await other.open(await other.visit());
  const last = await other.open(await callbackOf(world, second));
  assertEquals([last.status, codes(world.errors)], [502, ["consent_required"]]);
});

Deno.test("sign_in_started of a site has the reason no_session unless the user has a session", async () => {
  const reasons: string[] = [];
  const world = new World({
    onEvent: (event) =>
      void (event.type === "sign_in_started" && reasons.push(event.reason)),
  });
  const browser = world.browser();
  const reasonsOf = async (path?: string) => {
    reasons.length = 0;
    await browser.signIn(path);
    return reasons;
  };
  assertEquals(await reasonsOf(), ["no_session"]);
  assertEquals(await reasonsOf(), ["fresh"]);
  world.servers.requiredScopes = ["write"];
  assertEquals(await reasonsOf("/notes"), ["step_up"]);
  world.stores.clear();
  assertEquals(await reasonsOf(), ["no_session"]);
});

Deno.test("sign_in_started of a site has the same reason where the server requires consent", async () => {
  const reasons: string[] = [];
  const world = new World({
    onEvent: (event) =>
      void (event.type === "sign_in_started" && reasons.push(event.reason)),
  }, { serverMetadata: { scopes_supported: ["read", "offline_access"] } });
  const browser = world.browser();
  for (const expected of ["no_session", "fresh"]) {
    reasons.length = 0;
    const state = new URL(await browser.visit(), ORIGIN).searchParams;
    state.delete("code");
    state.set("error", "consent_required");
    const again = await browser.open(`/callback?${state}`);
    await browser.open(await callbackOf(world, again));
    assertEquals(reasons, [expected, expected]);
  }
});

Deno.test("createWebSignIn() discovers the server anew after a callback has failed", async () => {
  const world = new World();
  const { servers } = world;
  const discoveries = () => servers.received("server_metadata").length;
  const browser = world.browser();
  const callback = await browser.visit();
  assertEquals(discoveries(), 1);
  servers.failNext("token", 503);
  assertEquals((await browser.open(callback)).status, 503);
  await browser.open("/login");
  assertEquals(discoveries(), 2);
});

Deno.test("createWebSignIn() keeps the discovery after a callback that anyone could make up", async () => {
  const world = new World();
  const { servers } = world;
  const discoveries = () => servers.received("server_metadata").length;
  const browser = world.browser();
  const stateOf = async () =>
    new URLSearchParams((await browser.visit()).split("?")[1]).get("state");
  const made = [
    (state: string | null) => `error=made_up&state=${state}`,
    (state: string | null) => `code=made-up&state=${state}`,
    (state: string | null) => `code=a&iss=https://evil.example&state=${state}`,
    () => "code=made-up&state=made-up",
  ];
  for (const query of made) {
    const path = `/callback?${query(await stateOf())}`;
    assertEquals((await browser.open(path)).status >= 400, true, path);
    await browser.open("/login");
    assertEquals(discoveries(), 1, path);
  }
});

Deno.test("createWebSignIn() seals no returnTo that fits into no cookie", async () => {
  const world = new World();
  const browser = world.browser();
  const { subtle } = crypto;
  const sizes: number[] = [];
  const { encrypt } = subtle;
  subtle.encrypt = (algorithm, key, data) => {
    sizes.push(data.byteLength);
    return encrypt.call(subtle, algorithm, key, data);
  };
  try {
    await browser.open(`/login?returnTo=/${"a".repeat(100_000)}`);
  } finally {
    subtle.encrypt = encrypt;
  }
  assertEquals(sizes.length > 0 && Math.max(...sizes) < 4_000, true);
});

function idToken(claims: Record<string, unknown>): string {
  const part = (value: unknown) =>
    btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part({ alg: "RS256" })}.${part(claims)}.c2ln`;
}

Deno.test("userOf() returns the claims of an ID token that was checked, and of no other", async () => {
  const scopes = ["openid", "read"];
  const world = new World({ scopes }, { scopes });
  const user = async (one: Browser) =>
    await world.signIn.userOf({ headers: one.headers() });
  const browser = world.browser();
  assertEquals(await user(browser), undefined);
  await browser.signIn();
  const { sub, aud } = (await user(browser))!;
  assertEquals([sub, aud], ["user", "site"]);
  // A refresh keeps them.
  world.servers.advance(3600);
  assertEquals(await browser.isSignedIn(), true);
  assertEquals((await user(browser))?.sub, "user");
  await browser.signOut();
  assertEquals(await user(browser), undefined);

  // Not requested, and so not checked. Without scopes, the granted ones count.
  for (const options of [{ scopes: ["read"] }, { scopes: [] }]) {
    const plain = new World(options, { scopes: [] });
    plain.change = async (response) =>
      response.url.endsWith("/token")
        ? Response.json({
          ...await response.json(),
          id_token: idToken({ sub: "admin" }),
          scope: "openid read",
        })
        : response;
    const stranger = plain.browser();
    await stranger.signIn();
    assertEquals(await stranger.isSignedIn(), true);
    const { headers } = new Request(ORIGIN, { headers: stranger.headers() });
    assertEquals(await plain.signIn.userOf({ headers }), undefined);
    const [session] = await plain.sessions();
    assertEquals(session?.token?.id_token, undefined);
  }
});

Deno.test("createWebSignIn() refuses a sign-in whose ID token is not valid", async () => {
  const world = new World({ scopes: ["openid"] });
  world.change = async (response) =>
    response.url.endsWith("/token")
      ? Response.json({
        ...await response.json(),
        id_token: idToken({ sub: "admin" }),
      })
      : response;
  const browser = world.browser();
  assertEquals((await browser.signIn()).status, 502);
  assertEquals(codes(world.errors), ["invalid_id_token"]);
  assertEquals(browser.cookies.size, 0);
});

Deno.test("createWebSignIn() works with DPoP", async () => {
  const dpop = await createDpop();
  const proofs: string[] = [];
  const world: World = new World({
    dpop,
    async fetch(input, init) {
      const { pathname } = new URL(String(input));
      if (new Headers(init?.headers).has("DPoP")) proofs.push(pathname);
      return await world.servers.fetch(input, init);
    },
  }, { dpop: "required" });
  const browser = world.browser();
  const { searchParams } = new URL(
    locationOf(await browser.open("/login"))!,
  );
  assertEquals(searchParams.get("dpop_jkt"), dpop.thumbprint);
  await browser.signIn();
  assertEquals(await browser.isSignedIn(), true);
  assertEquals(proofs, ["/token", "/mcp"]);
  const [session] = await world.sessions();
  assertEquals(session?.dpopThumbprint, dpop.thumbprint);
});

Deno.test("createWebSignIn() works with an ID token as the token of the API", async () => {
  const world: World = new World({ bearer: "id_token" }, {
    intercept: ({ endpoint, headers }) =>
      endpoint === "resource" &&
        headers.get("Authorization")?.split(".").length === 3
        ? Response.json({})
        : undefined,
    serverMetadata: { end_session_endpoint: "https://auth.example/end" },
  });
  const browser = world.browser();
  await browser.signIn();
  assertEquals(await browser.isSignedIn(), true);
  const { headers } = new Request(ORIGIN, { headers: browser.headers() });
  assertEquals((await world.signIn.userOf({ headers }))?.sub, "user");
  // The token is in no URL.
  const { searchParams } = new URL(locationOf(await browser.signOut())!);
  assertEquals(searchParams.has("id_token_hint"), false);
});

Deno.test("createWebSignIn() pushes the authorization request where the server requires it", async () => {
  const endpoint = "https://auth.example/par";
  const pushed: URLSearchParams[] = [];
  const world = new World({}, {
    serverMetadata: {
      pushed_authorization_request_endpoint: endpoint,
      require_pushed_authorization_requests: true,
    },
    intercept({ url, params }) {
      if (url.href !== endpoint) return undefined;
      pushed.push(params);
      const body = { request_uri: "urn:example:1", expires_in: 60 };
      return Response.json(body, { status: 201 });
    },
  });
  const browser = world.browser();
  const url = new URL(locationOf(await browser.open("/login"))!);
  assertEquals(url.searchParams.get("request_uri"), "urn:example:1");
  url.search = String(pushed[0]);
  const back = new URL(await world.servers.receiver.visit(url));
  assertEquals(
    locationOf(await browser.open(back.pathname + back.search)),
    `${ORIGIN}/`,
  );
  assertEquals(await browser.isSignedIn(), true);
});

Deno.test("createWebSignIn() begins a visit once more that another version began", async () => {
  const world = new World();
  const browser = world.browser();
  const callback = await browser.visit("/a");
  const [[name, cookie] = ["", { value: "", ends: 0 }]] = browser.cookies;
  const { cookieKeys } = world.options;
  const seal = new Seal([cookieKeys].flat(), world.servers.now);
  const { exp, ...visit } = (await seal.open<Visit>(
    "visit",
    name,
    cookie.value,
  ))!;
  assertEquals(visit.pending.version, 1);
  const other = { ...visit, pending: { ...visit.pending, version: 2 } };
  const value = await seal.seal("visit", name, other, exp);
  browser.cookies.set(name, { ...cookie, value });
  const again = await browser.open(callback);
  assertEquals(again.status, 303);
  await browser.open(await callbackOf(world, again));
  assertEquals(await browser.isSignedIn(), true);
  assertEquals(world.errors, []);
});
