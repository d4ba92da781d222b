/** Which responses of an API say that a token is no longer valid. */
import { serverOf } from "../../lib/session/_parties.ts";
import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetch,
  type AuthorizedFetchOptions,
  createAuthorizedFetch,
  createDpop,
  memoryStore,
  type Session,
  startAuthorization,
} from "../../mod.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import {
  AS,
  assertRejectsCode,
  CONTEXT,
  MCP,
  REDIRECT_URI,
} from "../support/fixtures.ts";
import {
  resourceFetch,
  type Respond,
  SESSION,
  SESSION_CLIENT,
} from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { refusal, signingInWith, withoutRefresh } from "./_session_world.ts";

const TOKEN = SESSION.server.token_endpoint;

const OTHER = "https://other.example";

const BEARER = `Bearer ${SESSION.token.access_token}`;

const withToken = (access_token: string): Session => {
  const session = withoutRefresh(SESSION);
  return { ...session, token: { ...session.token, access_token } };
};

/** A fetch for which each sign-in brings another token; `visits` counts them. */
function signingIn(respond: Respond, isRefreshable = false) {
  const state = { visits: 0 };
  const { api, received } = resourceFetch(respond, {
    tokenRequired: true,
    store: memoryStore(isRefreshable ? SESSION : undefined),
    flow: () => Promise.resolve(withToken(`t${++state.visits}`)),
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
      if (authorizes) await api.signIn();
      statuses.push(await statusOf(api(MCP + path)));
    }
    assertEquals(statuses, [200, 401, 200, 401, 401, 200]);
    // The first sign-in, and one as the token could have been revoked.
    assertEquals(state.visits, 2);
    await api.signIn();
    assertEquals(state.visits, 2);
  }
});

Deno.test("createAuthorizedFetch().signIn() asks the user if a resource refuses each token, also those of refreshes", async () => {
  let seconds = 0;
  const tokenOf = (n: number) => ({
    ...{ access_token: `t${n}`, refresh_token: `r${n}` },
    ...{ token_type: "Bearer", expires_in: 60 },
  });
  let [issued, visits] = [1, 0];
  const { api } = resourceFetch(({ url }) => {
    if (url === TOKEN) return Response.json(tokenOf(++issued));
    const isOfApi = url.startsWith(MCP);
    return isOfApi ? new Response(null, { status: 401 }) : undefined;
  }, {
    now: () => seconds * 1000,
    store: memoryStore(),
    flow: () => {
      visits++;
      const token = { ...tokenOf(++issued), expires_at: seconds + 60 };
      return Promise.resolve({ ...SESSION, token });
    },
  });
  assertEquals(await statusOf(api(`${MCP}/a`)), 401);
  seconds = 90;
  assertEquals(await statusOf(api(`${MCP}/b`)), 401);
  assertEquals(visits, 1);
  await api.signIn();
  assertEquals(visits, 2);
});

async function finish(api: AuthorizedFetch) {
  const client = SESSION_CLIENT;
  const options = { client, redirectUri: REDIRECT_URI };
  const { pending } = await startAuthorization(CONTEXT, options);
  const { state } = pending;
  await api.finish(new URLSearchParams({ code: "c1", state }), pending);
}

Deno.test("createAuthorizedFetch() with signInOn signIn requires no other sign-in for a URL that refuses a new token", async () => {
  const authorize = (api: AuthorizedFetch) => api.signIn();
  const use = async (api: AuthorizedFetch) => {
    await api.signIn();
    await statusOf(api(`${MCP}/a`));
  };
  const rows = [
    ["signIn()", undefined, authorize, 401],
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
        signInOn: "signIn",
        store: memoryStore(stored),
        flow: () => Promise.resolve(withToken("t1")),
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

Deno.test("createAuthorizedFetch() asks the user for another token by signIn(), once all URLs refuse it", async () => {
  let valid = "";
  const { api, state } = signingIn(({ url, headers }) => {
    const isValid = url !== MCP || headers.get("Authorization") === valid;
    return isValid ? undefined : new Response(null, { status: 401 });
  });
  const post = () => {
    const body = new Blob(["x"]).stream();
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    return statusOf(api(MCP, init));
  };
  assertEquals([await statusOf(api(MCP)), await post()], [401, 401]);
  assertEquals(state.visits, 1);
  valid = "Bearer t2";
  await api.signIn();
  assertEquals([await post(), state.visits], [200, 2]);
  // A token that was accepted for a while has been lost.
  valid = "Bearer t3";
  assertEquals(await post(), 401);
  // A stream can be sent once only, so the token is renewed before the call.
  assertEquals([await post(), state.visits], [200, 3]);
});

/** A resource with URLs that refuse each token, or those in `lost`. */
function refusingWorld(
  refuses: (url: string) => boolean,
  { isRefreshable = false, ...options }: Partial<AuthorizedFetchOptions> & {
    isRefreshable?: boolean;
  } = {},
) {
  const state = { pages: 0, refreshes: 0, lost: new Set<string>() };
  const tokenOf = (access_token: string) => ({
    ...{ access_token, token_type: "Bearer" },
    ...(isRefreshable && { refresh_token: `r-${access_token}` }),
  });
  const stored: Session = { ...SESSION, token: tokenOf("t0") };
  const { api } = resourceFetch(({ url, headers, body }) => {
    if (url === TOKEN && body.includes("refresh_token")) {
      return Response.json(tokenOf(`f${++state.refreshes}`));
    }
    const token = headers.get("Authorization")?.slice(7);
    const isCall = url.startsWith(MCP) || url.startsWith(OTHER);
    const isRefused = !token || state.lost.has(token) || refuses(url);
    return isCall && isRefused ? refusal(401, "") : undefined;
  }, {
    store: memoryStore(stored),
    alsoFor: [OTHER],
    flow: () => {
      const token = tokenOf(`t${++state.pages}`);
      return Promise.resolve({ ...SESSION, token });
    },
    ...options,
  });
  const call = (url: string) =>
    api(url).then(({ status }) => status, (error) => error.code);
  /** Loses all tokens that there were, or a refresh that follows. */
  const revoke = () => {
    for (let n = 0; n <= state.refreshes + 1; n++) state.lost.add(`f${n}`);
    for (let n = 0; n <= state.pages; n++) state.lost.add(`t${n}`);
  };
  return { api, state, call, revoke };
}

const PATHS = Array.from({ length: 15 }, (_, n) => `${MCP}/${n}`);
const OPEN = `${MCP}/open`;
const REFUSED: [what: string, urls: string[], visits: number][] = [
  ["one path is refused", Array(20).fill(MCP), 1],
  ["15 paths are refused in turns", [...PATHS, ...PATHS], 1],
  ["one URL of alsoFor is refused", Array(20).fill([OTHER, OPEN]).flat(), 1],
  [
    "15 paths are refused beside another",
    PATHS.flatMap((url) => [url, OPEN]),
    1,
  ],
];

for (const isRefreshable of [false, true]) {
  const tokens = `${isRefreshable ? "with" : "without"} refresh tokens`;
  const refuses = (url: string) => url !== OPEN;
  for (const [what, urls, pages] of REFUSED) {
    Deno.test(`createAuthorizedFetch() opens one page in all if ${what}, ${tokens}`, async () => {
      for (const session of [undefined, "stored"]) {
        const { state, call } = refusingWorld(refuses, {
          isRefreshable,
          ...(!session && { store: memoryStore() }),
        });
        for (const url of urls) {
          assertEquals(await call(url), url === OPEN ? 200 : 401);
        }
        // The first one is that of a user who has not signed in yet.
        const isOpen = !session && refuses(urls[0]!) === false;
        assertEquals(state.pages, pages + Number(isOpen));
        // Each place may lead to a refresh, which nobody sees.
        assert(state.refreshes <= new Set(urls).size);
      }
    });
  }

  Deno.test(`createAuthorizedFetch() opens one page for calls at the same time that are refused, ${tokens}`, async () => {
    const { state, call } = refusingWorld(refuses, { isRefreshable });
    for (const _ of [1, 2]) {
      const statuses = await Promise.all(PATHS.map(call));
      assertEquals(new Set(statuses), new Set([401]));
    }
    assertEquals(state.pages, 1);
  });

  Deno.test(`createAuthorizedFetch() with signInOn signIn returns the 401 once a sign-in has not helped, ${tokens}`, async () => {
    const { api, state, call } = refusingWorld(refuses, {
      isRefreshable,
      signInOn: "signIn",
    });
    for (let n = 0; n < 3; n++) {
      assertEquals(await call(MCP), "sign_in_required");
    }
    assertEquals(state.pages, 0);
    for (const pages of [1, 2]) {
      await api.signIn();
      for (let n = 0; n < 20; n++) assertEquals(await call(MCP), 401);
      assertEquals(state.pages, pages);
    }
    assertEquals(await call(OPEN), 200);
  });

  Deno.test(`createAuthorizedFetch() asks again each time that a working token is revoked, ${tokens}`, async () => {
    for (const signInOn of ["call", "signIn"] as const) {
      const { api, state, call, revoke } = refusingWorld(
        (url) => url.endsWith("/admin"),
        { isRefreshable, signInOn },
      );
      const use = async (url: string) => {
        const result = await call(url);
        if (result !== "sign_in_required") return result;
        await api.signIn();
        return await call(url);
      };
      assertEquals(await use(`${MCP}/admin`), 401);
      for (const pages of [2, 3, 4, 5]) {
        assertEquals(await use(OPEN), 200);
        revoke();
        assertEquals([await use(OPEN), state.pages], [200, pages]);
        assertEquals(await use(`${MCP}/admin`), 401);
      }
    }
  });
}

Deno.test("createAuthorizedFetch() refreshes for a URL that it has not used yet, although another one refuses each token", async () => {
  const { state, call } = refusingWorld((url) => url.endsWith("/admin"), {
    isRefreshable: true,
  });
  for (const url of [`${MCP}/admin`, OPEN]) await call(url);
  state.lost.add("t1");
  assertEquals([await call(`${MCP}/item`), state.pages], [200, 1]);
});

Deno.test("createAuthorizedFetch() asks again for a URL that has accepted a token since", async () => {
  let isOpen = false;
  const { state, call, revoke } = refusingWorld(() => !isOpen);
  assertEquals([await call(MCP), await call(MCP)], [401, 401]);
  isOpen = true;
  assertEquals(await call(MCP), 200);
  revoke();
  assertEquals([await call(MCP), state.pages], [200, 2]);
});

Deno.test("fetches with one store object share what is known of refused tokens", async () => {
  const store = memoryStore(withToken("t0"));
  const [first, second] = [1, 2].map(() =>
    refusingWorld(() => true, { store })
  );
  assertEquals([await first!.call(MCP), await second!.call(MCP)], [401, 401]);
  assertEquals([first!.state.pages, second!.state.pages], [1, 0]);
});

Deno.test("createAuthorizedFetch() obtains another token with each call that is refused, if no user is needed", async () => {
  let tokens = 0;
  const authorize = Object.assign(
    () => Promise.resolve(withToken(`t${++tokens}`)),
    { needsUser: false },
  );
  const { call } = refusingWorld(() => true, { flow: authorize });
  for (let n = 0; n < 3; n++) assertEquals(await call(MCP), 401);
  assertEquals(tokens, 3);
  // Not where others accept the token, which are not concerned by that.
  const { call: use, state } = refusingWorld((url) => url === MCP, {
    flow: authorize,
  });
  for (const url of [MCP, OPEN, MCP, MCP]) await use(url);
  assertEquals(tokens, 4);
  state.lost.add("t4");
  assertEquals([await use(`${MCP}/item`), tokens], [200, 5]);
});

Deno.test("signIn() asks again for a URL that has accepted tokens, and refuses a new one", async () => {
  let isOpen = true;
  const { api, state, call } = refusingWorld(() => !isOpen);
  assertEquals(await call(MCP), 200);
  isOpen = false;
  assertEquals([await call(MCP), await call(MCP), state.pages], [401, 401, 1]);
  await api.signIn();
  assertEquals(state.pages, 2);
});

Deno.test("createAuthorizedFetch() waits for no lock where another sign-in would not help", async () => {
  const store = memoryStore(withToken("t0"));
  const { call } = refusingWorld((url) => url !== OPEN, { store });
  for (const url of [MCP, OPEN]) await call(url);
  store.lock = () => new Promise<never>(() => {});
  const calls = Promise.all([MCP, `${MCP}/item`].map(call));
  assertEquals(await within(LIMIT_MS, calls), [401, 401]);
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

Deno.test("createAuthorizedFetch() shares no renewal with a fetch that has no flow", async () => {
  const dead = { ...SESSION, token: { ...SESSION.token, access_token: "" } };
  const options = {
    store: memoryStore(dead),
    serverMetadata: serverOf(SESSION),
    fetch: () =>
      Promise.resolve(
        Response.json({ error: "invalid_grant" }, { status: 400 }),
      ),
  };
  const refreshing = createAuthorizedFetch(MCP, options);
  const asking = createAuthorizedFetch(MCP, {
    ...options,
    flow: () => Promise.resolve(withToken("t9")),
  });
  const refused = assertRejectsCode(
    () => refreshing.signIn(),
    "unsupported",
  );
  const session = await asking.signIn();
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
  const authorize: AuthorizedFetchOptions["flow"] = (
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
    first: Partial<AuthorizedFetchOptions>,
    second: Partial<AuthorizedFetchOptions>,
    sent: string,
    stored?: Session,
  ][] = [
    [{ dpop }, {}, new URL(AS).host],
    [{}, { bearer: "id_token" }, ID_TOKEN],
    [at(AS), at(OTHER), new URL(OTHER).host],
    [{ client: client("wr0ng-one") }, { client: client("s3cret-right") }, "t2"],
  ];
  await eachRowInTurn(rows, async ([first, second, sent]) => {
    const store = memoryStore(first.client && dead);
    const start = (options: Partial<AuthorizedFetchOptions>) =>
      resourceFetch(
        ({ url, body }) =>
          url !== TOKEN
            ? undefined
            : body.includes("s3cret-right")
            ? Response.json({ access_token: "t2" })
            : Response.json({ error: "invalid_client" }, { status: 401 }),
        {
          ...{ tokenRequired: true, store },
          flow: options.client ? undefined : authorize,
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
  });
});

Deno.test("createAuthorizedFetch() with tokenRequired obtains a session before the call", async () => {
  const { requests, authorize } = signingInWith();
  const options = { flow: authorize, store: memoryStore() };
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
    flow: undefined,
    store: memoryStore(),
    tokenRequired: true,
  });
  assertEquals((await nobody.api(MCP)).status, 404);
});
