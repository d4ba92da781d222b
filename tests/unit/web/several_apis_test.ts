/** Several APIs of one server on a web server: one sign-in, or one for each. */

import { assert, assertEquals } from "@std/assert";
import {
  memoryStore,
  publicClient,
  type Session,
  type SessionStore,
  sharedSignIn,
} from "../../../mod.ts";
import {
  createWebSignIn,
  type WebSignInOptions,
} from "../../../lib/web/mod.ts";
import { Site } from "../../../lib/web/_site.ts";
import { webSettingsOf } from "../../../lib/web/_web_settings.ts";
import { deferred, untyped } from "../../support/stub_fetch.ts";
import { KEY, ORIGIN } from "./_world.ts";
import { pinRejected } from "../../support/fixtures.ts";

const issuer = "https://as.example";
const calendar = "https://calendar.example/v1";
const mail = "https://mail.example/v1";

/** How servers differ: whether they know requests for several resources. */
type Sharing =
  | "yes"
  /** `invalid_target` at the authorization endpoint. */
  | "not asked"
  /** `invalid_target` at a refresh; the refresh token counts as used. */
  | "not redeemed"
  /** `invalid_grant` in place of it. */
  | "ends"
  /** The token of a refresh is for the first resource, whatever is named. */
  | "ignored";

interface Granted {
  readonly named: string[];
  readonly scope: string;
  readonly sub: string;
  readonly nonce: string | null;
}

const base64 = (value: object) =>
  btoa(JSON.stringify(value)).replaceAll("=", "");

/** A server that rotates refresh tokens, two APIs, a site and the browser of its user. */
function world(
  sharing: Sharing = "yes",
  options: Partial<WebSignInOptions> = {},
) {
  let clock = 1_800_000_000_000;
  let last = 0;
  const state = {
    sub: "ann",
    claims: {} as Record<string, unknown>,
    needsConsent: false,
    /** What a refresh waits for, after the refresh token was used. */
    refreshing: undefined as Promise<void> | undefined,
    /** Whether a response has its URL, as one of `fetch`. */
    hasUrl: true,
    issuers: { [calendar]: issuer, [mail]: issuer } as Record<string, string>,
  };
  const seen = {
    visits: [] as string[],
    signIns: 0,
    tokens: 0,
    replays: 0,
    revoked: [] as string[],
  };
  const grants = new Map<string, Granted>();
  const used = new Set<string>();
  const access = new Map<
    string,
    { aud: string; scope: string; exp: number; sub: string }
  >();
  const refuse = (error: string) => Response.json({ error }, { status: 400 });

  function token(request: URLSearchParams): Response {
    const resource = request.get("resource") ?? "";
    const isCode = request.has("code");
    const code = request.get(isCode ? "code" : "refresh_token") ?? "";
    if (used.has(code)) seen.replays++;
    const grant = grants.get(code);
    if (!grant) return refuse("invalid_grant");
    used.add(code);
    grants.delete(code);
    const { named, sub, scope, nonce } = grant;
    const isOther = !isCode && resource !== named[0];
    if (!named.includes(resource) || (isOther && sharing === "not redeemed")) {
      return refuse("invalid_target");
    }
    if (isOther && sharing === "ends") return refuse("invalid_grant");
    const aud = sharing === "ignored" ? named[0]! : resource;
    const id = ++last;
    seen.tokens++;
    if (isCode) seen.signIns++;
    access.set(`at${id}`, { aud, scope, exp: clock + 3600_000, sub });
    grants.set(`rt${id}`, grant);
    const now = Math.floor(clock / 1000);
    const claims = { iss: issuer, aud: "site", sub, iat: now, exp: now + 600 };
    const idToken = [
      base64({ alg: "RS256" }),
      base64({ ...claims, nonce, ...state.claims }),
      "AAAA",
    ].join(".");
    return Response.json({
      access_token: `at${id}`,
      refresh_token: `rt${id}`,
      token_type: "Bearer",
      expires_in: 3600,
      ...(isCode && scope.includes("openid") && { id_token: idToken }),
    });
  }

  function api(url: URL, request: Request): Response {
    const resource = `${url.origin}/v1`;
    const metadata = `${url.origin}/.well-known/oauth-protected-resource/v1`;
    if (url.href === metadata) {
      const authorization_servers = [state.issuers[resource]];
      return Response.json({ resource, authorization_servers });
    }
    const sent = request.headers.get("Authorization")?.slice(7) ?? "";
    const found = access.get(sent);
    const challenge = (status: number, params: string) =>
      new Response(null, {
        status,
        headers: {
          "WWW-Authenticate": `Bearer ${params}resource_metadata="${metadata}"`,
        },
      });
    if (found?.aud !== resource || found.exp <= clock) {
      return challenge(401, "");
    }
    return url.pathname.endsWith("/send") && !found.scope.includes("mail.send")
      ? challenge(403, 'error="insufficient_scope", scope="mail.send", ')
      : new Response(found.sub);
  }

  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (/^(calendar|mail)\./.test(url.hostname)) {
      return Object.defineProperty(api(url, request), "url", {
        value: state.hasUrl ? url.href : "",
      });
    }
    const body = new URLSearchParams(await request.text());
    if (url.pathname === "/token") {
      const response = token(body);
      if (body.has("refresh_token")) await state.refreshing;
      return response;
    }
    if (url.pathname === "/revoke") {
      seen.revoked.push(body.get("token")!);
      return new Response();
    }
    if (!url.pathname.startsWith("/.well-known/")) return refuse("not_found");
    const { origin } = url;
    return Response.json({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    });
  };

  /** The server, which signs the user in without asking. */
  function authorize({ searchParams }: URL): URL {
    const named = searchParams.getAll("resource");
    const scope = searchParams.get("scope") ?? "";
    seen.visits.push(named.map((one) => new URL(one).hostname[0]).join(" "));
    const back = new URL(`${ORIGIN}/callback`);
    back.searchParams.set("state", searchParams.get("state") ?? "");
    if (sharing === "not asked" && named.length > 1) {
      back.searchParams.set("error", "invalid_target");
      return back;
    }
    const isAsked = searchParams.get("prompt") === "consent";
    if (state.needsConsent && !isAsked) {
      back.searchParams.set("error", "consent_required");
      return back;
    }
    const { sub } = state;
    const nonce = searchParams.get("nonce");
    grants.set(`code${++last}`, { named, scope, sub, nonce });
    back.searchParams.set("code", `code${last}`);
    return back;
  }

  const stores = new Map<string, SessionStore>();
  const errors: unknown[] = [];
  const events: string[] = [];
  const signIn = createWebSignIn(calendar, {
    origin: ORIGIN,
    client: {
      issuer,
      client_id: "site",
      client_secret: "secret",
      token_endpoint_auth_method: "client_secret_post",
    },
    storeOf: (id) => {
      const store = stores.get(id) ?? memoryStore();
      stores.set(id, store);
      return store;
    },
    cookieKeys: [KEY],
    fetch,
    now: () => clock,
    scopes: ["openid"],
    apis: sharedSignIn({
      [calendar]: { scopes: ["cal.read"] },
      [mail]: { scopes: ["mail.read"] },
    }),
    onError: (error) => void errors.push(error),
    onEvent: ({ type, resource }: { type: string; resource?: string }) =>
      events.push(`${type} ${resource}`),
    ...options,
  });
  const serve = async (request: Request) => {
    const handled = await signIn.handle(request);
    if (handled) return handled;
    const { pathname } = new URL(request.url);
    return await signIn.respond(request, async (api) => {
      if (pathname === "/calendar") return await api(calendar);
      if (pathname === "/refused") return await fetch(mail);
      const other = await signIn.apiOf(request, mail);
      if (pathname === "/mail") return await other!(mail);
      if (pathname === "/send") return await other!(`${mail}/send`);
      const responses = [await api(calendar), await other!(mail)];
      const refused = responses.find(({ status }) => status !== 200);
      if (refused) return refused;
      const texts = await Promise.all(responses.map((one) => one.text()));
      return new Response(texts.join(" "));
    });
  };

  const cookies = new Map<string, string>();
  const requestOf = (url: string, init: RequestInit = {}) => {
    const pairs = [...cookies].map(([name, value]) => `${name}=${value}`);
    const headers = new Headers(init.headers);
    headers.set("Cookie", pairs.join("; "));
    if (!headers.has("Sec-Fetch-Site")) headers.set("Sec-Fetch-Site", "none");
    return new Request(url, { ...init, headers });
  };
  /** Opens a page, and follows redirects to the server and back, or to a path. */
  async function open(path: string, end?: string): Promise<string> {
    let url = new URL(path, ORIGIN);
    for (let redirects = 0; redirects < 20; redirects++) {
      if (url.pathname === "/authorize") {
        url = authorize(url);
        if (url.pathname === end) return url.href;
        continue;
      }
      const response = await serve(requestOf(url.href));
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        assert(name.length + value.length <= 1_700);
        if (value) cookies.set(name, value);
        else cookies.delete(name);
      }
      const location = response.headers.get("Location");
      const { status } = response;
      if (!location) return `${status} ${await response.text()}`;
      url = new URL(location);
    }
    return "endless";
  }
  return {
    ...{ signIn, seen, state, errors, events, cookies, grants, access },
    ...{ open, serve, requestOf },
    advance: (seconds: number) => clock += seconds * 1000,
    sessions: async () => {
      const all = await Promise.all([...stores.values()].map((s) => s.load()));
      return all.filter((one): one is Session => Boolean(one));
    },
  };
}

const BOTH = "200 ann ann";

Deno.test("createWebSignIn() signs in once for two APIs, over expiries", async () => {
  const { open, seen, advance, sessions, signIn, requestOf } = world();
  for (let round = 0; round < 4; round++) {
    assertEquals(await open("/"), BOTH);
    assertEquals(await open("/calendar"), "200 ann");
    assertEquals(await open("/mail"), "200 ann");
    advance(3_600);
  }
  assertEquals([seen.visits, seen.replays, seen.tokens], [["c m"], 0, 8]);
  const text = JSON.stringify(await sessions());
  assertEquals(text.match(/"refresh_token":/g)?.length, 1);
  const user = await signIn.userOf(requestOf(ORIGIN));
  assertEquals(user?.sub, "ann");
});

Deno.test("createWebSignIn() signs in for each API, once, at a server that refuses to share", async () => {
  const rows: [Sharing, visits: string[], signIns: number][] = [
    ["not asked", ["c m", "c", "m"], 2],
    ["not redeemed", ["c m", "m", "c"], 3],
  ];
  for (const [sharing, visits, signIns] of rows) {
    // Without ID tokens too: the server does not say who has signed in.
    for (const scopes of [["openid"], undefined]) {
      const { open, seen, advance, errors, events, cookies } = world(
        sharing,
        { scopes },
      );
      for (let round = 0; round < 5; round++) {
        assertEquals(await open("/"), BOTH, sharing);
        advance(3_600);
      }
      assertEquals(seen.visits, visits, sharing);
      assertEquals([seen.signIns, seen.replays], [signIns, 0], sharing);
      assertEquals(errors, []);
      assertEquals([...cookies.keys()], ["__Host-sign-in"]);
      assertEquals(
        events.includes(`sharing_refused ${calendar}`),
        sharing === "not asked",
      );
    }
  }
});

Deno.test("createWebSignIn() signs in for each API at a server that ignores which one a refresh names", async () => {
  const { open, seen, advance, errors } = world("ignored");
  for (let round = 0; round < 5; round++) {
    assertEquals(await open("/"), BOTH);
    advance(3_600);
  }
  // The calendar keeps the refresh token.
  assertEquals([seen.visits, errors], [["c m", "m"], []]);
});

Deno.test("createWebSignIn() does not redirect without end between two APIs", async () => {
  const { open, seen } = world("ends");
  assertEquals(await open("/"), "401 ");
  assertEquals(seen.visits, ["c m", "m c", "c m"]);
});

Deno.test("a sign-in for one API keeps what a refresh of the other is about to store", async () => {
  const { open, state, seen, serve, requestOf, advance } = world("not asked");
  assertEquals(await open("/calendar"), "200 ann");
  advance(3_600);
  const { promise, resolve } = deferred<void>();
  state.refreshing = promise;
  const tick = () => new Promise((resolve) => setTimeout(resolve));
  const callback = await open("/mail", "/callback");
  const page = serve(requestOf(`${ORIGIN}/calendar`));
  while (seen.tokens < 2) await tick();
  const other = open(callback);
  while (seen.signIns < 2) await tick();
  for (let ticks = 0; ticks < 5; ticks++) await tick();
  resolve();
  assertEquals(await (await page).text(), "ann");
  assertEquals(await other, "200 ann");
  advance(3_600);
  assertEquals(await open("/"), BOTH);
  assertEquals([seen.visits, seen.replays], [["c m", "c", "m"], 0]);
});

Deno.test("a second sign-in whose session cannot be saved leaves the tokens of the first", async () => {
  const stores = new Map<string, SessionStore>();
  let isDown = false;
  const { open, errors } = world("yes", {
    storeOf: (id) => {
      const { load, save } = stores.get(id) ?? memoryStore();
      const down = () => Promise.reject(new Error("down"));
      const store = { load, save };
      stores.set(id, store);
      return { load, save: (next) => isDown && next ? down() : save(next) };
    },
  });
  assertEquals(await open("/"), BOTH);
  isDown = true;
  assertEquals((await open("/login?returnTo=/")).slice(0, 3), "500");
  isDown = false;
  assertEquals(errors.map(String), ["Error: down"]);
  assertEquals(await open("/"), BOTH);
});

Deno.test("createWebSignIn() repeats a visit for its own API", async () => {
  const mailFirst = world("not asked");
  const login = `/login?${new URLSearchParams({
    resource: mail,
    returnTo: "/mail",
  })}`;
  assertEquals(await mailFirst.open(login), "200 ann");
  assertEquals(mailFirst.seen.visits, ["m c", "m"]);
  const { open, state, seen, errors } = world("not asked", {
    scopes: ["openid", "offline_access"],
  });
  assertEquals(await open("/calendar"), "200 ann");
  state.needsConsent = true;
  assertEquals(await open("/"), BOTH);
  assertEquals([seen.visits, errors], [["c m", "c", "m", "m"], []]);
});

Deno.test("respond() knows the API of a response without a URL", async () => {
  const { open, state, seen } = world("not asked");
  state.hasUrl = false;
  assertEquals(await open("/"), BOTH);
  assertEquals(seen.visits, ["c m", "c", "m"]);
});

Deno.test("createWebSignIn() tells a script the sign-in of the API that lacks one", async () => {
  const { open, seen, serve, requestOf, advance } = world("not asked", {
    scopes: undefined,
  });
  assertEquals(await open("/calendar"), "200 ann");
  const script = async (path: string) => {
    const headers = {
      "Sec-Fetch-Dest": "empty",
      "Sec-Fetch-Site": "same-origin",
    };
    const response = await serve(requestOf(ORIGIN + path, { headers }));
    return response.status === 200 ? undefined : (await response.json()).login;
  };
  const login = await script("/mail");
  assertEquals(new URL(login).searchParams.get("resource"), mail);
  await open(login);
  assertEquals(await script("/mail"), undefined);
  assertEquals(await script("/calendar"), undefined);
  advance(3_600);
  assertEquals(await open("/"), BOTH);
  assertEquals(seen.visits, ["c m", "c", "m"]);
});

Deno.test("createWebSignIn() never mixes two users, of whom each has signed in for one API", async () => {
  for (const sharing of ["not asked", "not redeemed"] as const) {
    const { open, state, seen } = world(sharing);
    assertEquals(await open("/calendar"), "200 ann");
    state.sub = "bob";
    const page = await open("/");
    assertEquals(page, "200 bob bob", sharing);
    assert(seen.visits.length <= 5);
  }
  // A user who signs in anew may be another one, if the server does not say who it is.
  const { open, state } = world("not asked", { scopes: undefined });
  assertEquals(await open("/"), BOTH);
  state.sub = "bob";
  await open("/login");
  assertEquals(await open("/"), "200 bob bob");
});

Deno.test("logout() ends the sign-ins of all APIs", async () => {
  for (const sharing of ["yes", "not asked", "not redeemed"] as const) {
    const { open, serve, requestOf, sessions, seen, access } = world(sharing);
    assertEquals(await open("/"), BOTH);
    const headers = { "Sec-Fetch-Site": "same-origin" };
    const request = requestOf(`${ORIGIN}/logout`, { method: "POST", headers });
    assertEquals((await serve(request)).status, 303);
    assertEquals(await sessions(), []);
    for (const token of access.keys()) {
      assert(seen.revoked.includes(token), `${sharing} ${token}`);
    }
  }
});

Deno.test("logout() revokes the token of an API while the other one has none", async () => {
  const { open, serve, requestOf, signIn, seen } = world("not redeemed");
  assertEquals(await open("/calendar"), "200 ann");
  // The refresh is refused, and the user does not sign in for it.
  const api = await signIn.apiOf(requestOf(ORIGIN), mail);
  assertEquals((await api!(mail)).status, 401);
  assertEquals((await signIn.userOf(requestOf(ORIGIN)))?.sub, "ann");
  const headers = { "Sec-Fetch-Site": "same-origin" };
  await serve(requestOf(`${ORIGIN}/logout`, { method: "POST", headers }));
  assertEquals(seen.revoked.length, 1);
});

Deno.test("a step-up of one API keeps the other", async () => {
  for (
    const [sharing, visits] of [
      ["yes", ["c m", "m c"]],
      ["not asked", ["c m", "c", "m", "m"]],
    ] as const
  ) {
    const { open, seen, advance } = world(sharing);
    assertEquals(await open("/"), BOTH);
    const { tokens } = seen;
    assertEquals(await open("/send"), "200 ann");
    assertEquals(await open("/"), BOTH);
    assertEquals([seen.visits, seen.tokens], [[...visits], tokens + 1]);
    advance(3_600);
    assertEquals(await open("/"), BOTH);
    assertEquals([seen.visits.length, seen.replays], [visits.length, 0]);
  }
});

Deno.test("an API that names another server chooses it neither for itself nor for the other", async () => {
  // The client of the second is of any server.
  for (const options of [{}, { client: publicClient("site") }]) {
    const { open, state, seen, errors } = world("yes", options);
    state.issuers[mail] = "https://evil.example";
    assertEquals(await open("/calendar"), "200 ann");
    assert((await open("/mail")).startsWith("502 "));
    // Nor is the user sent there.
    assert((await open("/refused")).startsWith("502 "));
    assertEquals(await open("/calendar"), "200 ann");
    assertEquals(errors.length, 2);
    assertEquals([seen.visits.length, seen.tokens], [1, 1]);
  }
});

Deno.test("session_expiry of one API ends the sign-ins of all", async () => {
  const { open, state, seen, advance } = world("not asked");
  state.claims = { session_expiry: 1_800_000_000 + 7_200 };
  assertEquals(await open("/calendar"), "200 ann");
  state.claims = {};
  assertEquals(await open("/mail"), "200 ann");
  advance(7_199);
  assertEquals(await open("/"), BOTH);
  assertEquals(seen.signIns, 2);
  advance(2);
  assertEquals(await open("/"), BOTH);
  assertEquals(seen.signIns, 4);
});

Deno.test("a site finds the API of the longest URL if one is below another", () => {
  const inner = `${calendar}/tenant`;
  const all = [calendar, inner];
  for (const resource of all) {
    const site = new Site(webSettingsOf(resource, {
      origin: ORIGIN,
      client: { issuer, client_id: "site" },
      storeOf: () => memoryStore(),
      cookieKeys: [KEY],
      apis: sharedSignIn({ [calendar]: {}, [inner]: {} }),
    }));
    const found = (url: string) => site.apiAt(url)!.resource.href;
    assertEquals(all.map(found), all);
    const pending = (resource: string) => ({ pending: { resource } });
    const visited = all.map((url) =>
      site.visits.apiOf(untyped(pending(url))).resource.href
    );
    assertEquals(visited, all);
  }
});

Deno.test("apiOf() refuses a URL of no API", async () => {
  const { open, signIn, requestOf } = world();
  await open("/calendar");
  await pinRejected(
    () => signIn.apiOf(requestOf(ORIGIN), "https://other.example/v1"),
    "invalid_argument",
  );
});
