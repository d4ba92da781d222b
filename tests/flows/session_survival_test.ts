/** Refreshes that a session survives, and sign-ins that begin elsewhere. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  type IPendingAuthorization,
  type ISession,
  memoryStore,
} from "../../mod.ts";
import {
  AS,
  assertRejectsCode,
  CODE_SERVER,
  MCP,
  REDIRECT_URI,
} from "../support/fixtures.ts";
import { resourceFetch, type Respond, SESSION } from "../support/resource.ts";
import { deferred } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

const TOKEN = `${AS}/token`;
const NOW = 1_700_000_000_000;
const { refresh_token } = SESSION.token;

/** Returns a session whose access token expires in so many seconds. */
function expiringIn(seconds: number, access_token = "t1"): ISession {
  const token = { access_token, token_type: "Bearer", refresh_token };
  return {
    ...SESSION,
    token: { ...token, expires_in: 3600, expires_at: NOW / 1000 + seconds },
  };
}

/** A fetch whose token endpoint responds in turn; undefined for no response. */
function refreshing(
  session: ISession,
  responses: (() => Response | undefined)[],
) {
  const store = memoryStore(session);
  const respond: Respond = ({ url }) => {
    if (url !== TOKEN) return undefined;
    const response = responses.shift()?.();
    if (!response) throw new TypeError("connection closed");
    return response;
  };
  return { ...resourceFetch(respond, { store, now: () => NOW }), store };
}

const renewed = () =>
  Response.json({ access_token: "t2", refresh_token: "r2" });
const dead = () => Response.json({ error: "invalid_grant" }, { status: 400 });
const nothing = () => undefined;

Deno.test("createAuthorizedFetch() repeats a refresh whose response was lost, once, if the token has expired", async () => {
  const lost = refreshing(expiringIn(-1), [nothing, renewed]);
  assertEquals((await lost.api(MCP)).status, 200);
  assertEquals(lost.urls, [TOKEN, TOKEN, MCP]);
  const [first, second] = lost.received;
  assertEquals(first!.body, second!.body);
  // A token that is still valid makes the session worth more than the attempt.
  for (const failure of [nothing, () => new Response(null, { status: 503 })]) {
    const valid = refreshing(expiringIn(20), [failure, renewed]);
    assertEquals((await valid.api(MCP)).status, 200);
    assertEquals(valid.urls, [TOKEN, MCP]);
  }
  const away = refreshing(expiringIn(-1), [nothing, nothing, renewed]);
  await assertRejectsCode(() => away.api(MCP), "network_error");
  assertEquals(away.urls, [TOKEN, TOKEN]);
  assertEquals((await away.store.load())?.token.refresh_token, refresh_token);
  // The server has used it up, and accepts no replay.
  const gone = refreshing(expiringIn(-1), [nothing, dead]);
  await assertRejects(() => gone.api(MCP), Error, "A user is asked");
  assertEquals((await gone.store.load())?.token.access_token, "");
});

Deno.test("createAuthorizedFetch() refreshes an expired session of another process", async () => {
  const { api, store, urls } = refreshing(expiringIn(-1), [renewed]);
  const { load } = store;
  let loads = 0;
  // The other process stores it between the call and the lock.
  store.load = () => {
    if (++loads === 2) store.save(expiringIn(-1, "other"));
    return load();
  };
  assertEquals((await api(MCP)).status, 200);
  assertEquals(urls, [TOKEN, MCP]);
});

Deno.test("authorize() with fresh has the user sign in with the same client", async () => {
  const seen: (string | undefined)[] = [];
  const fresh = expiringIn(3600, "fresh");
  const { api } = resourceFetch(undefined, {
    now: () => NOW,
    store: memoryStore(expiringIn(3600)),
    authorize: ({ session }) => {
      seen.push(session?.client.client_id);
      return Promise.resolve(fresh);
    },
  });
  assertEquals((await api.authorize()).token.access_token, "t1");
  // Two at once are one sign-in.
  const both = await Promise.all([
    api.authorize({ fresh: true }),
    api.authorize({ fresh: true }),
  ]);
  assertEquals(both, [fresh, fresh]);
  assertEquals(seen, ["c1"]);
  await api.authorize({ fresh: true });
  assertEquals(seen, ["c1", "c1"]);
});

Deno.test("authorize() with fresh goes on with a session that is saved meanwhile", async () => {
  const asked = deferred<void>();
  const { api } = resourceFetch(undefined, {
    now: () => NOW,
    store: memoryStore(expiringIn(3600)),
    authorize: ({ signal }) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        signal!.addEventListener("abort", () => reject(signal!.reason))
      );
    },
  });
  const call = api.authorize({ fresh: true });
  await within(LIMIT_MS, asked.promise);
  const saved = expiringIn(3600, "saved");
  await api.save(saved);
  assertEquals(await within(LIMIT_MS, call), saved);
});

Deno.test("finish() finishes a sign-in with the options of the fetch, and saves it", async () => {
  let kept: IPendingAuthorization | undefined;
  const authorize = codeFlow({
    client: { issuer: AS, client_id: "c1", client_secret: "s3cret" },
    redirectUri: REDIRECT_URI,
    visit: (_url, { pending }) => {
      kept = pending;
      return Promise.reject(new Error("redirected"));
    },
  });
  const store = memoryStore();
  const userAgent = "app/1.0";
  const options = { authorize, store, serverMetadata: CODE_SERVER, userAgent };
  const respond: Respond = ({ url }) =>
    url === TOKEN
      ? Response.json({ access_token: "t2" })
      : url === MCP
      ? new Response(null, { status: 401 })
      : undefined;
  const { api } = resourceFetch(respond, options);
  await assertRejects(() => api(MCP), Error, "redirected");
  // Another request to a web server, perhaps in another process.
  const { api: other, received } = resourceFetch(respond, options);
  const callback = `${REDIRECT_URI}?code=c1&state=${kept!.state}`;
  const pending = JSON.parse(JSON.stringify(kept));
  const session = await other.finish(new Request(callback), pending);
  assertEquals(session.token.access_token, "t2");
  assertEquals(await store.load(), session);
  assertEquals(received.map(({ url }) => url), [TOKEN]);
  assertEquals(received[0]!.headers.get("User-Agent"), "app/1.0");
});

Deno.test("finish() refuses a sign-in for another resource, and saves nothing", async () => {
  const pending: IPendingAuthorization = {
    state: "s",
    codeVerifier: "v".repeat(43),
    redirectUri: REDIRECT_URI,
    issuer: AS,
    resource: "https://other.example/",
    serverMetadata: SESSION.serverMetadata,
    client: SESSION.client,
    scopes: [],
  };
  const store = memoryStore();
  const { api } = resourceFetch(
    ({ url }) =>
      url === TOKEN ? Response.json({ access_token: "t2" }) : undefined,
    { store },
  );
  await assertRejectsCode(
    () => api.finish("code=c&state=s", pending),
    "identifier_mismatch",
  );
  assertEquals(await store.load(), undefined);
});

Deno.test("save() does not wait for a sign-in of another process", async () => {
  const store = memoryStore();
  const { api } = resourceFetch(undefined, {
    store: {
      ...store,
      lock: (_task, signal) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason))
        ),
    },
  });
  const session = expiringIn(3600);
  await within(LIMIT_MS, api.save(session));
  assertEquals(await store.load(), session);
});
