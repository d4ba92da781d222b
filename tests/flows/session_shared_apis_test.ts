/** One sign-in for several APIs of one server (RFC 8707, sections 2.1 and 2.2). */

import { clientIn } from "../../lib/session/_parties.ts";
import { internalOf } from "../../lib/session/_internal.ts";
import { assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetch,
  type AuthorizedFetchOptions,
  codeFlow,
  createAuthorizedFetch,
  discoverAuthorization,
  memoryStore,
  type Session,
  type SessionStore,
  sharedSignIn,
  startAuthorization,
} from "../../mod.ts";
import { viewOf } from "../../lib/fetch/_shared_session.ts";
import { webStorageStore } from "../../lib/stores/mod.ts";
import { assertRejectsCode, pinRejected } from "../support/fixtures.ts";
import { deferred } from "../support/stub_fetch.ts";
import { fakeLocks } from "../unit/stores/_fakes.ts";

const issuer = "https://as.example";
const a = "https://a.example/mcp";
const b = "https://b.example/v1";
const redirectUri = "http://127.0.0.1/callback";

/** A server that rotates refresh tokens, and two APIs; `sharing` as servers differ. */
function world(sharing: "yes" | "not asked" | "not redeemed" = "yes") {
  let clock = 1_800_000_000_000;
  let last = 0;
  let leaves = false;
  const grants = new Map<
    string,
    { named: string[]; scope: string; sub: string }
  >();
  const access = new Map<
    string,
    { aud: string; scope: string; exp: number; sub: string }
  >();
  const used = new Set<string>();
  const seen = {
    visits: [] as string[],
    tokens: [] as string[],
    replays: 0,
    revoked: 0,
    registered: 0,
    scope: "",
  };
  const issuers = { [a]: issuer, [b]: issuer };
  const refuse = (error: string) => Response.json({ error }, { status: 400 });
  const nothing = () => Promise.resolve();
  let meanwhile = nothing;
  const token = (request: URLSearchParams) => {
    const resource = request.get("resource") ?? "";
    const code = request.get("code") ?? request.get("refresh_token") ?? "";
    if (used.has(code)) {
      seen.replays++;
      grants.clear();
    }
    const grant = grants.get(code);
    if (!grant) return refuse("invalid_grant");
    // As oidc-provider 9: it is used, also if the request is refused then.
    used.add(code);
    grants.delete(code);
    const isNamed = grant.named.includes(resource) &&
      (sharing !== "not redeemed" || resource === grant.named[0]);
    if (!isNamed) return refuse("invalid_target");
    const id = ++last;
    seen.tokens.push(`${request.get("grant_type")} ${resource}`);
    const scope = grant.scope.split(" ")
      .filter((one) => one.startsWith(resource === a ? "cal" : "mail")).join(
        " ",
      );
    access.set(`at${id}`, {
      aud: resource,
      scope,
      exp: clock + 3600_000,
      sub: grant.sub,
    });
    grants.set(`rt${id}`, grant);
    return Response.json({
      access_token: `at${id}`,
      refresh_token: `rt${id}`,
      token_type: "Bearer",
      expires_in: 3600,
      scope,
    });
  };
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    for (const api of [a, b] as const) {
      const { origin, pathname } = new URL(api);
      if (url.origin !== origin) continue;
      const metadata =
        `${origin}/.well-known/oauth-protected-resource${pathname}`;
      if (url.href === metadata) {
        return Response.json({
          resource: api,
          authorization_servers: [issuers[api]],
        });
      }
      const found = access.get(
        request.headers.get("Authorization")?.slice(7) ?? "",
      );
      const isValid = found && found.aud === api && found.exp > clock;
      const needed = url.pathname.endsWith("/send") ? "mail.send" : "";
      const WWW = (text: string) => ({
        headers: {
          "WWW-Authenticate": `Bearer ${text}, resource_metadata="${metadata}"`,
        },
      });
      if (!isValid && url.pathname.endsWith("/public")) {
        return new Response("nobody");
      }
      if (!isValid) {
        return new Response(null, { status: 401, ...WWW('realm="x"') });
      }
      return needed && !found.scope.includes(needed)
        ? new Response(null, {
          status: 403,
          ...WWW(`error="insufficient_scope", scope="${needed}"`),
        })
        : new Response(found.sub);
    }
    if (url.pathname === "/register") {
      seen.registered++;
      seen.scope = (await request.clone().json()).scope;
      return Response.json(
        { ...await request.json(), client_id: `c${++last}` },
        { status: 201 },
      );
    }
    if (url.pathname === "/revoke") {
      seen.revoked++;
      return new Response();
    }
    if (url.pathname === "/token") {
      const response = token(new URLSearchParams(await request.text()));
      const once = meanwhile;
      meanwhile = nothing;
      await once();
      return response;
    }
    if (!url.pathname.startsWith("/.well-known/")) {
      return new Response(null, { status: 404 });
    }
    const endpoint = (name: string) => `${url.origin}/${name}`;
    return Response.json({
      issuer: url.origin,
      authorization_endpoint: endpoint("authorize"),
      token_endpoint: endpoint("token"),
      registration_endpoint: endpoint("register"),
      revocation_endpoint: endpoint("revoke"),
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    });
  };
  const visit = ({ searchParams }: URL) => {
    const named = searchParams.getAll("resource");
    const scope = searchParams.get("scope") ?? "";
    seen.visits.push(`${named.join(" ")} | ${scope}`);
    if (leaves) return Promise.reject(new DOMException("Left", "AbortError"));
    const back = new URL(redirectUri);
    back.searchParams.set("state", searchParams.get("state") ?? "");
    if (sharing === "not asked" && named.length > 1) {
      back.searchParams.set("error", "invalid_target");
    } else {
      grants.set(`code${++last}`, { named, scope, sub: "ann" });
      back.searchParams.set("code", `code${last}`);
    }
    return Promise.resolve(back);
  };
  const store = memoryStore();
  const apis = sharedSignIn({
    [a]: { scopes: ["cal.read"] },
    [b]: { scopes: ["mail.read"] },
  });
  const authorize = codeFlow({
    clientMetadata: { client_name: "T" },
    redirectUri,
    visit,
  });
  const events: string[] = [];
  const options: AuthorizedFetchOptions = {
    fetch,
    now: () => clock,
    store,
    apis,
    flow: authorize,
    onEvent: (event) => {
      if (/sign_in_started|session_dropped/.test(event.type)) {
        events.push(
          "reason" in event
            ? event.reason
            : "code" in event
            ? `${event.code}`
            : "",
        );
      }
    },
  };
  const fetchesWith = (store: SessionStore) => ({
    calendar: createAuthorizedFetch(a, { ...options, store }),
    mail: createAuthorizedFetch(b, { ...options, store }),
  });
  const { calendar, mail } = fetchesWith(store);
  return {
    seen,
    store,
    events,
    issuers,
    grants,
    options,
    fetchesWith,
    /** What happens once, before the next response of the token endpoint. */
    set meanwhile(value: () => Promise<void>) {
      meanwhile = value;
    },
    set leaves(value: boolean) {
      leaves = value;
    },
    advance: (seconds: number) => clock += seconds * 1000,
    calendar,
    mail,
  };
}

type World = ReturnType<typeof world>;

/** Fetches whose store can't be read while it fails. */
function withUnreadableStore({ store, fetchesWith }: World) {
  const state = { fails: false };
  const load = () =>
    state.fails ? Promise.reject(new Error("Down")) : store.load();
  return { state, ...fetchesWith({ ...store, load }) };
}

const both = async ({ calendar, mail }: World) => {
  const calls = [1, 2, 3, 4, 5].flatMap(() => [calendar(a), mail(b)]);
  return (await Promise.all(calls)).filter(({ status }) => status !== 200)
    .length;
};

Deno.test("two APIs share one sign-in, one registration and one refresh token", async () => {
  const servers = world();
  for (let round = 0; round < 4; round++) {
    assertEquals(await both(servers), 0);
    servers.advance(3600);
  }
  const { seen, store } = servers;
  assertEquals(seen.visits, [`${a} ${b} | cal.read mail.read`]);
  assertEquals([seen.registered, seen.replays, seen.tokens.length], [1, 0, 8]);
  assertEquals(seen.scope, "cal.read mail.read");
  const text = JSON.stringify(await store.load());
  assertEquals(text.match(/"refresh_token":/g)?.length, 1);
});

Deno.test("the session keeps what is requested for each API: an audience, no resource or another one", async () => {
  const { options } = world();
  const audience = { tokenParameters: { audience: "calendar" } };
  const rows: [Parameters<typeof sharedSignIn>[0][string], object][] = [
    [audience, audience],
    [{ resourceIndicator: false }, { resourceIndicator: false }],
    [{ resourceIndicator: "urn:calendar" }, {
      resourceIndicator: "urn:calendar",
    }],
  ];
  for (const [api, kept] of rows) {
    const apis = sharedSignIn({ [a]: api, [b]: {} });
    const store = memoryStore();
    const mail = createAuthorizedFetch(b, { ...options, apis, store });
    await mail.signIn();
    assertEquals((await mail.session())?.apis, {
      [a]: { scopes: [], internal: kept },
    });
  }
});

Deno.test("a session of the caller's own flow gets the other APIs too", async () => {
  const { options, store, calendar } = world();
  await calendar.signIn();
  const { apis: _, ...session } = (await calendar.session())!;
  await calendar.revoke();
  const authorize = () => Promise.resolve(session);
  await createAuthorizedFetch(a, { ...options, flow: authorize }).signIn();
  assertEquals((await store.load())?.apis, {
    [b]: { scopes: ["mail.read"], internal: {} },
  });
});

Deno.test("a session of the caller's own flow stays one of its API alone", async () => {
  const { options, store, calendar, mail } = world("not redeemed");
  await calendar(a);
  await mail(b);
  const stored = await store.load();
  assertEquals(internalOf(stored).isAlone, true);
  const { apis: _, internal: __, ...session } = (await mail.session())!;
  const flow = () => Promise.resolve(session);
  await createAuthorizedFetch(b, { ...options, flow }).signIn({ fresh: true });
  assertEquals(internalOf(await store.load()).isAlone, true);
});

Deno.test("only the first token for an API reads its metadata, and no refresh does", async () => {
  const servers = world();
  const urls: string[] = [];
  const options: AuthorizedFetchOptions = {
    ...servers.options,
    fetch(input, init) {
      urls.push(input instanceof Request ? input.url : `${input}`);
      return servers.options.fetch!(input, init);
    },
  };
  const read = async () => {
    await createAuthorizedFetch(a, options)(a);
    await createAuthorizedFetch(b, options)(b);
    return urls.splice(0).filter((url) => url.includes(".well-known")).length;
  };
  assertEquals(await read() > 0, true);
  servers.advance(3600);
  assertEquals(await read(), 0);
});

Deno.test("revoke() of one API ends all, and a step-up is for one", async () => {
  const servers = world();
  const { seen, calendar, mail, store } = servers;
  await both(servers);
  assertEquals((await mail(`${b}/send`)).status, 200);
  const { length } = seen.tokens;
  assertEquals((await calendar(a)).status, 200);
  assertEquals([seen.visits.length, seen.tokens.length], [2, length]);
  assertEquals(seen.visits[1], `${b} ${a} | mail.read mail.send cal.read`);
  assertEquals((await calendar.session())?.scopes, ["cal.read"]);
  assertEquals(await calendar.revoke(), true);
  assertEquals(await store.load(), undefined);
  // The refresh token, and both access tokens.
  assertEquals(seen.revoked, 3);
});

Deno.test("a person who leaves the sign-in for one API isn't asked for the other", async () => {
  const servers = world();
  await both(servers);
  servers.grants.clear();
  servers.advance(3600);
  servers.leaves = true;
  const { seen, calendar, mail } = servers;
  await assertRejects(() => calendar(a), DOMException);
  await assertRejectsCode(() => mail(b), "sign_in_required");
  await assertRejectsCode(() => calendar(a), "sign_in_required");
  assertEquals(seen.visits.length, 2);
  servers.leaves = false;
  // For both, whichever API has the button.
  await mail.signIn();
  assertEquals(await both(servers), 0);
  assertEquals([seen.visits.length, seen.replays], [3, 0]);
});

Deno.test("a server that names no two APIs gets a sign-in for each", async () => {
  const servers = world("not asked");
  for (let round = 0; round < 3; round++) {
    assertEquals(await both(servers), 0);
    servers.advance(3600);
  }
  const { seen } = servers;
  assertEquals(seen.visits.map((one) => one.split(" |")[0]), [
    `${a} ${b}`,
    a,
    b,
  ]);
  assertEquals([seen.registered, seen.replays], [1, 0]);
});

Deno.test("a server that doesn't redeem it for the other API gets a sign-in for each", async () => {
  const servers = world("not redeemed");
  for (let round = 0; round < 4; round++) {
    assertEquals(await both(servers), 0);
    servers.advance(3600);
  }
  const { seen, events } = servers;
  // The first refresh token counts as used.
  assertEquals(seen.visits.map((one) => one.split(" |")[0]), [
    `${a} ${b}`,
    b,
    a,
  ]);
  assertEquals([seen.registered, seen.replays], [1, 0]);
  assertEquals(events, [
    "no_session",
    "invalid_target",
    "refresh_failed",
    "expired",
  ]);
});

Deno.test("an early refresh that failed for one API isn't repeated for the other", async () => {
  const servers = world();
  let [isDown, sent] = [false, 0];
  const options: AuthorizedFetchOptions = {
    ...servers.options,
    async fetch(input, init) {
      const isRefresh = isDown && `${input}`.endsWith("/token");
      if (!isRefresh) return await servers.options.fetch!(input, init);
      sent++;
      throw new TypeError("No connection");
    },
  };
  const calls = async () => {
    const responses = [
      await createAuthorizedFetch(a, options)(a),
      await createAuthorizedFetch(b, options)(b),
    ];
    return responses.map(({ status }) => status);
  };
  assertEquals(await calls(), [200, 200]);
  servers.advance(3_580);
  isDown = true;
  assertEquals(await calls(), [200, 200]);
  assertEquals(sent, 1);
  servers.advance(11);
  assertEquals(await calls(), [200, 200]);
  assertEquals(sent, 2);
});

Deno.test("a mark that could not be saved brings no session back that another process has ended", async () => {
  const servers = world("not redeemed");
  const inner = servers.store;
  let saves = 0;
  const store: SessionStore = {
    ...inner,
    // The refused refresh is saved: the API in front has no token. The mark is not.
    save: (session, former) =>
      ++saves === 2
        ? Promise.reject(new Error("Full"))
        : inner.save(session, former),
  };
  const mail = createAuthorizedFetch(b, { ...servers.options, store });
  await servers.calendar(a);
  servers.leaves = true;
  await assertRejects(() => mail(b), DOMException);
  assertEquals(await servers.calendar.revoke(), true);
  await mail(b).catch(() => {});
  assertEquals([saves, await inner.load()], [2, undefined]);
});

Deno.test("an API that names another server gets no token of this one", async () => {
  const servers = world();
  servers.issuers[b] = "https://other.example";
  const { calendar, mail, seen } = servers;
  assertEquals((await calendar(a)).status, 200);
  await assertRejectsCode(() => mail(b), "issuer_mismatch");
  assertEquals(seen.tokens, [`authorization_code ${a}`]);
});

Deno.test("an API that rejects its token and names another server doesn't end the sign-in of the others", async () => {
  const servers = world();
  const { calendar, seen, store, options } = servers;
  assertEquals(await both(servers), 0);
  servers.issuers[b] = "https://other.example";
  const rejecting = createAuthorizedFetch(b, {
    ...options,
    fetch: (input, init) =>
      new Request(input).url === b
        ? Promise.resolve(new Response(null, { status: 401 }))
        : options.fetch!(input, init),
  });
  await pinRejected(() => rejecting(b), "issuer_mismatch");
  assertEquals([seen.visits.length, seen.revoked], [1, 0]);
  assertEquals((await store.load())!.issuer, issuer);
  assertEquals((await calendar(a)).status, 200);
});

Deno.test("a stored session of one API stays valid, and its user signs in once for both", async () => {
  const servers = world();
  const { calendar, mail, seen, store } = servers;
  await calendar(a);
  const { apis: _, ...old } = await store.load() as Session;
  await store.save(old);
  assertEquals((await calendar(a)).status, 200);
  assertEquals(seen.visits.length, 1);
  assertEquals((await mail(b)).status, 200);
  assertEquals((await calendar(a)).status, 200);
  assertEquals(seen.visits.length, 2);
});

Deno.test("a person who leaves the step-up of one API isn't asked for one of the other", async () => {
  const servers = world();
  await both(servers);
  servers.leaves = true;
  const { seen, calendar, mail } = servers;
  await assertRejects(() => mail(`${b}/send`), DOMException);
  await assertRejectsCode(() => calendar(`${a}/send`), "sign_in_required");
  assertEquals(seen.visits.length, 2);
});

Deno.test("a person who leaves the sign-in of one API isn't asked for a step-up of the other", async () => {
  const rows: [name: string, start: () => Promise<World>][] = [
    ["a session from before apis", async () => {
      const servers = world();
      await servers.mail(b);
      const { apis: _, ...old } = await servers.store.load() as Session;
      await servers.store.save(old);
      return servers;
    }],
    ["a sign-in for each", async () => {
      const servers = world("not asked");
      await servers.mail(b);
      return servers;
    }],
  ];
  for (const [name, start] of rows) {
    const servers = await start();
    const { seen, calendar, mail } = servers;
    servers.leaves = true;
    await assertRejects(() => calendar(a), DOMException);
    const { length } = seen.visits;
    await assertRejectsCode(() => mail(`${b}/send`), "sign_in_required");
    await assertRejectsCode(() => calendar(a), "sign_in_required");
    assertEquals((await mail(b)).status, 200, name);
    // Another token of the other API is no other sign-in.
    servers.advance(3600);
    assertEquals((await mail(b)).status, 200, name);
    await assertRejectsCode(() => calendar(a), "sign_in_required");
    await assertRejectsCode(() => mail(`${b}/send`), "sign_in_required");
    assertEquals(seen.visits.length, length, name);
  }
});

Deno.test("a person who leaves the step-up of one API isn't asked again, whichever API was refreshed last", async () => {
  const servers = world();
  const { seen, calendar, mail } = servers;
  await calendar(a);
  await mail(b);
  servers.leaves = true;
  await assertRejects(() => calendar(`${a}/send`), DOMException);
  const again = () => calendar(`${a}/send`);
  await assertRejectsCode(again, "sign_in_required");
  assertEquals(seen.visits.length, 2);
});

Deno.test("a sign-in keeps what is stored for the other API when it ends, not when it began", async () => {
  const newer = { access_token: "newer", token_type: "Bearer" };
  const rows: [
    name: string,
    change: (one: Session) => Session | undefined,
    kept: string | undefined,
  ][] = [
    ["nothing happened", (one) => one, "at1"],
    ["signed out", () => undefined, undefined],
    [
      "another session",
      (one) => ({
        ...one,
        token: { ...one.token, access_token: "saved" },
        apis: { [a]: { ...one.apis![a]!, token: newer } },
      }),
      "newer",
    ],
  ];
  for (const [name, change, kept] of rows) {
    const servers = world();
    const { calendar, mail, store } = servers;
    await calendar(a);
    await mail(b);
    const first = (await calendar.session())!.token.access_token;
    servers.meanwhile = async () => {
      // By another process.
      await store.save(change(await store.load() as Session));
    };
    assertEquals((await mail(`${b}/send`)).status, 200, name);
    const { token } = (await store.load())!.apis![a]!;
    assertEquals(token?.access_token, kept === "at1" ? first : kept, name);
  }
});

Deno.test("a sign-in and finish() keep what another process stores for the other API just before they are saved", async () => {
  const finish = async (mail: AuthorizedFetch, { options, grants }: World) => {
    const context = await discoverAuthorization(b, { fetch: options.fetch });
    const client = clientIn(await mail.session())!;
    const { pending } = await startAuthorization(context, {
      ...{ client, redirectUri, apis: options.apis },
    });
    grants.set("finished", { named: [b], scope: "mail.read", sub: "ann" });
    const query = `code=finished&state=${pending.state}`;
    await mail.finish(`${redirectUri}?${query}`, pending);
  };
  const rows: Record<
    string,
    (mail: AuthorizedFetch, servers: World) => Promise<unknown>
  > = { "a sign-in": (mail) => mail(`${b}/send`), finish };
  for (const [name, end] of Object.entries(rows)) {
    const servers = world("not asked");
    const inner = servers.store;
    let isRefreshed = true;
    const store: SessionStore = {
      ...inner,
      async save(session, former) {
        const stored = await inner.load();
        const isSignIn = session && stored?.apis &&
          viewOf(session, b).token?.access_token !==
            viewOf(stored, b).token?.access_token;
        if (!isRefreshed && isSignIn) {
          isRefreshed = true;
          const all = viewOf(stored, a);
          const token = { ...all.token!, access_token: "newer" };
          await inner.save({ ...all, token });
        }
        return await inner.save(session, former);
      },
    };
    const { calendar, mail } = servers.fetchesWith(store);
    await calendar(a);
    await mail(b);
    servers.meanwhile = () => {
      isRefreshed = false;
      return Promise.resolve();
    };
    await end(mail, servers);
    const { token } = (await calendar.session())!;
    assertEquals([isRefreshed, token.access_token], [true, "newer"], name);
  }
});

Deno.test("a sign-in keeps what was stored for the other API if the store can't be read when it ends", async () => {
  const servers = world("not asked");
  const { state, calendar, mail } = withUnreadableStore(servers);
  await calendar(a);
  await mail(b);
  const { length } = servers.seen.visits;
  servers.meanwhile = () => {
    state.fails = true;
    return Promise.resolve();
  };
  assertEquals((await mail(`${b}/send`)).status, 200);
  state.fails = false;
  assertEquals((await calendar(a)).status, 200);
  assertEquals(servers.seen.visits.length, length + 1);
});

Deno.test("finish() keeps what a refresh for the other API brings meanwhile", async () => {
  const servers = world("not asked");
  const { calendar, mail, store, options, seen, grants } = servers;
  await both(servers);
  const context = await discoverAuthorization(b, { fetch: options.fetch });
  const session = (await mail.session())!;
  const { pending, url } = await startAuthorization(context, {
    ...{ client: clientIn(session)!, redirectUri, apis: options.apis, session },
  });
  const { searchParams } = url;
  grants.set("finished", {
    named: searchParams.getAll("resource"),
    scope: "mail.read",
    sub: "ann",
  });
  servers.advance(3600);
  const { promise, resolve } = deferred<void>();
  // The refresh waits until finish() has its tokens.
  servers.meanwhile = () => {
    servers.meanwhile = () => Promise.resolve(resolve());
    return promise;
  };
  const refreshing = calendar(a).catch(() => {});
  while (seen.tokens.at(-1) !== `refresh_token ${a}`) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const query = `code=finished&state=${pending.state}`;
  await mail.finish(`${redirectUri}?${query}`, pending);
  await refreshing;
  const { length } = seen.visits;
  assertEquals(await both(servers), 0);
  servers.advance(3600);
  assertEquals(await both(servers), 0);
  assertEquals([seen.visits.length, seen.replays, seen.revoked], [
    length,
    0,
    0,
  ]);
  assertEquals((await store.load())?.apis?.[a] !== undefined, true);
});

Deno.test("a refresh token that was refused for an API isn't sent again if the store can't be read", async () => {
  const servers = world("not redeemed");
  const { state, calendar, mail } = withUnreadableStore(servers);
  await calendar(a);
  servers.meanwhile = () => {
    state.fails = true;
    setTimeout(() => state.fails = false, 50);
    return Promise.resolve();
  };
  await mail(b).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 60));
  assertEquals((await mail(b)).status, 200);
  assertEquals(servers.seen.replays, 0);
});

Deno.test("the first call of another API has a token, even where the API requires none", async () => {
  const { calendar, mail } = world();
  await calendar(a);
  assertEquals(await (await mail(`${b}/public`)).text(), "ann");
});

Deno.test("a first token doesn't replace the session that another process has saved", async () => {
  const servers = world();
  const { calendar, mail, store, grants, seen } = servers;
  await calendar(a);
  servers.meanwhile = async () => {
    const session = await store.load() as Session;
    grants.set("saved", { named: [a, b], scope: "mail.read", sub: "bob" });
    const token = { access_token: "t", token_type: "Bearer" };
    await store.save({
      ...session,
      token: { ...token, refresh_token: "saved" },
    });
  };
  assertEquals(await (await mail(b)).text(), "bob");
  assertEquals([grants.has("saved"), seen.replays], [false, 0]);
});

Deno.test("revoke() ends the tokens of all where the API in front has none", async () => {
  const servers = world("not redeemed");
  const { calendar, mail, seen } = servers;
  await calendar(a);
  servers.leaves = true;
  await assertRejects(() => mail(b), DOMException);
  assertEquals(await mail.revoke(), true);
  assertEquals(seen.revoked, 1);
});

Deno.test("finish() marks a client that the server refuses, whichever API is in front", async () => {
  const servers = world();
  const { calendar, mail, store, options } = servers;
  await both(servers);
  await store.save(await calendar.session());
  const context = await discoverAuthorization(b, { fetch: options.fetch });
  const client = clientIn(await store.load())!;
  const { pending } = await startAuthorization(context, {
    ...{ client, redirectUri, apis: options.apis },
  });
  const query = `error=unauthorized_client&state=${pending.state}`;
  await assertRejects(() => mail.finish(`${redirectUri}?${query}`, pending));
  assertEquals(internalOf(await store.load()).isUserAway, true);
});

Deno.test("stores refuse a session whose other APIs have no scopes", async () => {
  const servers = world();
  await both(servers);
  const { store } = servers;
  const session = await store.load() as Session;
  const items = new Map<string, string>();
  const storage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  };
  const locks = fakeLocks();
  const kept = webStorageStore(storage as Storage, "s", { locks });
  await kept.save(session);
  assertEquals(await kept.load(), session);
  const other = Object.keys(session.apis ?? {})[0] ?? "";
  const rows = [[], { [other]: {} }, { [other]: { scopes: [], token: {} } }];
  for (const apis of rows) {
    await kept.save({ ...session, apis } as Session);
    await assertRejectsCode(() => kept.load(), "invalid_session");
  }
});

Deno.test("an API that names another server ends no sign-in, by a call, signIn() or finish()", async () => {
  const finish = async ({ mail, options }: World) => {
    const context = await discoverAuthorization(b, { fetch: options.fetch });
    const client = { issuer: context.issuer, client_id: "c" };
    const start = { client, redirectUri, apis: options.apis };
    const { pending } = await startAuthorization(context, start);
    const { state } = pending;
    await mail.finish(`${redirectUri}?code=code&state=${state}`, pending);
  };
  const rows: [
    name: string,
    tried: (servers: World) => Promise<unknown>,
    isOld?: true,
  ][] = [
    ["fresh", ({ mail }) => mail.signIn({ fresh: true })],
    ["finish()", finish],
    ["a session from before apis", ({ mail }) => mail(b), true],
    ["the same, fresh", ({ mail }) => mail.signIn({ fresh: true }), true],
    ["the same, finish()", finish, true],
  ];
  for (const [name, tried, isOld] of rows) {
    const servers = world();
    const { calendar, seen, store } = servers;
    await calendar(a);
    const whole = await store.load() as Session;
    const { apis: _, ...old } = whole;
    const session = isOld ? old : whole;
    await store.save(session);
    servers.issuers[b] = "https://other.example";
    await assertRejectsCode(() => tried(servers), "issuer_mismatch");
    assertEquals(await store.load(), session, name);
    assertEquals([seen.visits.length, seen.tokens.length], [1, 1], name);
    // They have moved.
    await calendar.revoke();
    await servers.mail.signIn();
    assertEquals((await store.load())!.issuer, servers.issuers[b], name);
  }
});

Deno.test("a visit for one API alone keeps what another process stores for the other meanwhile", async () => {
  const servers = world("not asked");
  const { calendar, mail, store } = servers;
  await calendar(a);
  await mail(b);
  const token = { access_token: "newer", token_type: "Bearer" };
  servers.meanwhile = async () => {
    const one = await store.load() as Session;
    const api = { ...one.apis![a]!, token };
    await store.save({ ...one, apis: { ...one.apis, [a]: api } });
  };
  assertEquals((await mail(`${b}/send`)).status, 200);
  assertEquals((await store.load())!.apis![a]!.token, token);
});

Deno.test("the sign-in after a step-up requests its scopes again", async () => {
  const servers = world();
  const { mail, seen, grants } = servers;
  assertEquals((await mail(`${b}/send`)).status, 200);
  grants.clear();
  servers.advance(3600);
  const { length } = seen.visits;
  assertEquals((await mail(`${b}/send`)).status, 200);
  assertEquals(seen.visits.slice(length), [
    `${b} ${a} | mail.read mail.send cal.read`,
  ]);
});

Deno.test("an API below the path of another has its own token, in calls and after redirects", async () => {
  const above = "https://a.example/v1", below = `${above}/files`;
  const tokenOf = (name: string) => ({
    scopes: [],
    token: { access_token: name, token_type: "Bearer" },
  });
  const session = {
    ...{ version: 1 as const, issuer, resource: above, ...tokenOf("above") },
    server: { token_endpoint: `${issuer}/token` },
    client: { client_id: "c" },
  };
  const all = { [below]: tokenOf("below") };
  const moved = `${above}/moved`;
  const rows: [api: string, url: string, apis: Session["apis"], string[]][] = [
    [below, `${below}/1`, all, ["Bearer below"]],
    [above, `${above}/1`, all, ["Bearer above"]],
    [above, `${below}/1`, all, [""]],
    [above, moved, all, ["Bearer above", ""]],
    [below, `${below}/1`, undefined, [""]],
  ];
  for (const [api, url, apis, expected] of rows) {
    const sent: string[] = [];
    const store = memoryStore();
    await store.save({ ...session, ...(apis && { apis }) });
    const call = createAuthorizedFetch(api, {
      store,
      apis: sharedSignIn({ [above]: {}, [below]: {} }),
      fetch: (input, init) => {
        const { url, headers } = new Request(input, init);
        sent.push(headers.get("Authorization") ?? "");
        return Promise.resolve(
          url === moved
            ? Response.redirect(`${below}/1`, 307)
            : new Response(null, { status: 401 }),
        );
      },
    });
    assertEquals((await call(url)).status, 401);
    assertEquals(sent, expected, `${api} ${url}`);
  }
});
