/** Which responses of an API say that a token is no longer valid. */
import { assertEquals } from "@std/assert";
import {
  createAuthorizedFetch,
  createDpop,
  type IAuthorizedFetch,
  type IAuthorizedFetchOptions,
  type ISession,
  memoryStore,
  startAuthorization,
} from "../../mod.ts";
import {
  AS,
  assertRejectsCode,
  CONTEXT,
  MCP,
  REDIRECT_URI,
} from "../support/fixtures.ts";
import { resourceFetch, type Respond, SESSION } from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { refusal, signingInWith, withoutRefresh } from "./_session_world.ts";

const TOKEN = SESSION.serverMetadata.token_endpoint;

const OTHER = "https://other.example";

const BEARER = `Bearer ${SESSION.token.access_token}`;

const withToken = (access_token: string): ISession => {
  const session = withoutRefresh(SESSION);
  return { ...session, token: { ...session.token, access_token } };
};

/** A fetch for which each sign-in brings another token; `visits` counts them. */
function signingIn(respond: Respond, isRefreshable = false) {
  const state = { visits: 0 };
  const { api, received } = resourceFetch(respond, {
    tokenRequired: true,
    store: memoryStore(isRefreshable ? SESSION : undefined),
    authorize: () => Promise.resolve(withToken(`t${++state.visits}`)),
  });
  return { api, state, received };
}

Deno.test("createAuthorizedFetch() asks the user once for a URL that refuses each token, while others accept it", async () => {
  for (const authorizes of [false, true]) {
    const { api, state } = signingIn(({ url }) =>
      url.endsWith("/admin") ? new Response(null, { status: 401 }) : undefined
    );
    const statuses: number[] = [];
    for (const path of ["/a", "/admin", "/a", "/admin", "/admin", "/a"]) {
      if (authorizes) await api.authorize();
      statuses.push(await statusOf(api(MCP + path)));
    }
    assertEquals(statuses, [200, 401, 200, 401, 401, 200]);
    // The first sign-in, and one as the token could have been revoked.
    assertEquals(state.visits, 2);
    await api.authorize();
    assertEquals(state.visits, 2);
  }
});

/** Finishes a sign-in that began elsewhere. */
async function finish(api: IAuthorizedFetch) {
  const client = SESSION.client;
  const options = { client, redirectUri: REDIRECT_URI };
  const { pending } = await startAuthorization(CONTEXT, options);
  const { state } = pending;
  await api.finish(new URLSearchParams({ code: "c1", state }), pending);
}

Deno.test("createAuthorizedFetch() with signInOn authorize requires no other sign-in for a URL that refuses a new token", async () => {
  const authorize = (api: IAuthorizedFetch) => api.authorize();
  const use = async (api: IAuthorizedFetch) => {
    await api.authorize();
    await statusOf(api(`${MCP}/a`));
  };
  const rows = [
    ["authorize()", undefined, authorize, 401],
    ["finish()", undefined, finish, 401],
    // These may have been revoked.
    ["a token in use", undefined, use, "sign_in_required"],
    ["a stored token", withToken("t0"), authorize, "sign_in_required"],
  ] as const;
  for (const [what, stored, obtain, expected] of rows) {
    const { api } = resourceFetch(
      ({ url }) =>
        url === TOKEN
          ? Response.json({ access_token: "t1", token_type: "Bearer" })
          : url.endsWith("/admin")
          ? new Response(null, { status: 401 })
          : undefined,
      {
        signInOn: "authorize",
        store: memoryStore(stored),
        authorize: () => Promise.resolve(withToken("t1")),
      },
    );
    await obtain(api);
    const admin = () => statusOf(api(`${MCP}/admin`));
    await assertRejectsCode(admin, "sign_in_required");
    assertEquals(await statusOf(api(`${MCP}/a`)), 200, what);
    const result = await admin().catch((error) => error.code);
    assertEquals(result, expected, what);
  }
});

Deno.test("createAuthorizedFetch() asks the user for another token once all URLs refuse it", async () => {
  let valid = "";
  const { api, state } = signingIn(({ url, headers }) => {
    const isValid = url !== MCP || headers.get("Authorization") === valid;
    return isValid ? undefined : new Response(null, { status: 401 });
  });
  assertEquals(await statusOf(api(MCP)), 401);
  assertEquals(state.visits, 1);
  // A stream can be sent once only, so the token is renewed before the call.
  valid = "Bearer t2";
  const body = new Blob(["x"]).stream();
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  assertEquals(await statusOf(api(MCP, init)), 200);
  assertEquals(state.visits, 2);
  // A token that was accepted for a while has been lost.
  valid = "Bearer t3";
  const again = { ...init, body: new Blob(["x"]).stream() };
  assertEquals(await statusOf(api(MCP, again)), 401);
  await api.authorize();
  assertEquals(state.visits, 3);
});

Deno.test("createAuthorizedFetch() does not renew a token before a stream if another URL has accepted it since", async () => {
  const { api, received } = resourceFetch(({ url }) =>
    url === MCP ? new Response(null, { status: 401 }) : undefined
  );
  const post = () => {
    const body = new Blob(["x"]).stream();
    return statusOf(
      api(MCP, { method: "POST", body, duplex: "half" } as RequestInit),
    );
  };
  assertEquals(await post(), 401);
  assertEquals(await statusOf(api(`${MCP}/other`)), 200);
  assertEquals(await post(), 401);
  const sent = received.map((
    { url, headers },
  ) => [url, headers.get("Authorization")]);
  assertEquals(sent, [MCP, `${MCP}/other`, MCP].map((url) => [url, BEARER]));
});

Deno.test("createAuthorizedFetch() renews a token after a 403 with invalid_token", async () => {
  for (const error of ["invalid_token", "insufficient_scope"]) {
    const { api, received } = resourceFetch(({ url, headers }) =>
      url === TOKEN
        ? Response.json({ access_token: "t2", refresh_token: "r2" })
        : headers.get("Authorization") === "Bearer t2"
        ? undefined
        : refusal(403, `error="${error}"`)
    );
    const isRenewed = error === "invalid_token";
    assertEquals(await statusOf(api(MCP)), isRenewed ? 200 : 403);
    const refreshes = received.filter(({ url }) => url === TOKEN);
    assertEquals(refreshes.length, isRenewed ? 1 : 0);
  }
});

Deno.test("createAuthorizedFetch() with tokenRequired refreshes once for a token that gets a 403 without a challenge", async () => {
  let valid = "Bearer t2";
  let refreshes = 0;
  const { api, state } = signingIn(({ url, headers }) => {
    if (url === TOKEN) {
      const access_token = `t${2 + refreshes++}`;
      return Response.json({ access_token, refresh_token: "r2" });
    }
    return headers.get("Authorization") === valid
      ? undefined
      : new Response(null, { status: 403 });
  }, true);
  // The server has lost the token.
  assertEquals(await statusOf(api(MCP)), 200);
  assertEquals([refreshes, state.visits], [1, 0]);
  // It is a real 403 this time: the token that the refresh brought is not renewed.
  valid = "";
  for (const _ of [1, 2, 3]) assertEquals(await statusOf(api(MCP)), 403);
  assertEquals([refreshes, state.visits], [1, 0]);
});

Deno.test("createAuthorizedFetch() returns a 403 without a challenge if a refresh does not help, or may not be made", async () => {
  const forbidden: Respond = ({ url }) =>
    url === TOKEN
      ? new Response(null, { status: 503 })
      : new Response("no", { status: 403 });
  const { api, state, received } = signingIn(forbidden, true);
  const response = await api(MCP);
  assertEquals([response.status, await response.text()], [403, "no"]);
  assertEquals(state.visits, 0);
  assertEquals(received.filter(({ url }) => url === TOKEN).length, 1);

  const plain = resourceFetch(forbidden);
  assertEquals(await statusOf(plain.api(MCP)), 403);
  assertEquals(plain.received.length, 1);
  assertEquals(plain.received[0]?.headers.get("Authorization"), BEARER);

  // Nothing to refresh, so the lock of another process is not waited for.
  const store = {
    ...memoryStore(withoutRefresh(SESSION)),
    lock: () => new Promise<never>(() => {}),
  };
  const lasting = resourceFetch(forbidden, { tokenRequired: true, store });
  assertEquals(await within(LIMIT_MS, statusOf(lasting.api(MCP))), 403);

  const challenged = resourceFetch(
    () => refusal(403, 'error="insufficient_scope"'),
    { tokenRequired: true },
  );
  assertEquals(await statusOf(challenged.api(MCP)), 403);
  assertEquals(challenged.received.length, 1);
});

Deno.test("createAuthorizedFetch() shares no renewal with a fetch that has no authorize", async () => {
  const dead = { ...SESSION, token: { ...SESSION.token, access_token: "" } };
  const options = {
    store: memoryStore(dead),
    serverMetadata: SESSION.serverMetadata,
    fetch: () =>
      Promise.resolve(
        Response.json({ error: "invalid_grant" }, { status: 400 }),
      ),
  };
  const refreshing = createAuthorizedFetch(MCP, options);
  const asking = createAuthorizedFetch(MCP, {
    ...options,
    authorize: () => Promise.resolve(withToken("t9")),
  });
  const refused = assertRejectsCode(
    () => refreshing.authorize(),
    "unsupported",
  );
  const session = await asking.authorize();
  assertEquals(session.token, withToken("t9").token);
  await refused;
});

Deno.test("createAuthorizedFetch() shares no renewal among fetches that renew otherwise", async () => {
  const dpop = await createDpop();
  const ID_TOKEN = "e30.e30.e30";
  const tokenOf = (name: string) => ({
    ...{ access_token: name, id_token: ID_TOKEN },
    token_type: "Bearer",
  });
  // Returns the session that the options of its fetch lead to.
  const authorize: IAuthorizedFetchOptions["authorize"] = (
    { dpop: key, context: { issuer } },
  ) =>
    Promise.resolve({
      ...withToken("t"),
      issuer,
      token: tokenOf(key ? "bound" : new URL(issuer).host),
      ...(key && { dpopThumbprint: key.thumbprint }),
    });
  const dead = { ...SESSION, token: { ...SESSION.token, access_token: "" } };
  const client = (client_secret: string) => ({
    ...{ issuer: AS, client_id: "c1", client_secret },
    token_endpoint_auth_method: "client_secret_post",
  });
  const at = (issuer: string) => ({
    serverMetadata: { issuer, token_endpoint: `${issuer}/token` },
  });
  const rows: [
    first: Partial<IAuthorizedFetchOptions>,
    second: Partial<IAuthorizedFetchOptions>,
    sent: string,
    stored?: ISession,
  ][] = [
    [{ dpop }, {}, new URL(AS).host],
    [{}, { bearer: "id_token" }, ID_TOKEN],
    [at(AS), at(OTHER), new URL(OTHER).host],
    [{ client: client("wr0ng-one") }, { client: client("s3cret-right") }, "t2"],
  ];
  for (const [first, second, sent] of rows) {
    const store = memoryStore(first.client && dead);
    const start = (options: Partial<IAuthorizedFetchOptions>) =>
      resourceFetch(
        ({ url, body }) =>
          url !== TOKEN
            ? undefined
            : body.includes("s3cret-right")
            ? Response.json({ access_token: "t2" })
            : Response.json({ error: "invalid_client" }, { status: 401 }),
        {
          ...{ tokenRequired: true, store },
          authorize: options.client ? undefined : authorize,
          ...options,
        },
      );
    const [one, other] = [start(first), start(second)];
    const call = one.api(MCP).catch(() => {});
    assertEquals(await statusOf(other.api(MCP)), 200);
    await call;
    const { headers } = other.received.findLast(({ url }) => url === MCP)!;
    const names = Object.keys({ ...first, ...second }).join();
    assertEquals(headers.get("Authorization"), `Bearer ${sent}`, names);
  }
});

Deno.test("createAuthorizedFetch() with tokenRequired obtains a session before the call", async () => {
  const { requests, authorize } = signingInWith();
  const options = { authorize, store: memoryStore() };
  const missing: Respond = ({ url, headers }) =>
    url === MCP && !headers.has("Authorization")
      ? new Response(null, { status: 404 })
      : undefined;
  const without = resourceFetch(missing, options);
  assertEquals((await without.api(MCP)).status, 404);
  assertEquals(requests.length, 0);
  const { api } = resourceFetch(missing, { ...options, tokenRequired: true });
  assertEquals((await api(MCP)).status, 200);
  assertEquals((await api(MCP)).status, 200);
  assertEquals(requests.length, 1);
  const nobody = resourceFetch(missing, {
    authorize: undefined,
    store: memoryStore(),
    tokenRequired: true,
  });
  assertEquals((await nobody.api(MCP)).status, 404);
});
