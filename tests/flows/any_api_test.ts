/** APIs that publish no metadata, and their servers, with every request counted. */
import {
  assertEquals,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  type IAuthorizedFetch,
  type IAuthorizedFetchOptions,
  type ICodeFlowOptions,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import type { IService, IServiceOptions } from "../servers/apis/_hosts.ts";
import {
  COGNITO_API,
  COGNITO_CLIENT,
  COGNITO_DOMAIN,
  COGNITO_ISSUER,
  startCognito,
} from "../servers/apis/cognito.ts";
import {
  ENTRA,
  ENTRA_API,
  ENTRA_APP,
  ENTRA_TENANT,
  startEntra,
} from "../servers/apis/entra.ts";
import {
  GITHUB,
  GITHUB_API,
  GITHUB_APP,
  GITHUB_ARCHIVES,
  GITHUB_UPLOADS,
  startGitHub,
} from "../servers/apis/github.ts";
import {
  DRIVE_SCOPE,
  GMAIL,
  GMAIL_SCOPE,
  GOOGLE_ACCOUNTS,
  GOOGLE_APIS,
  GOOGLE_DESKTOP_CLIENT,
  GOOGLE_TOKENS,
  GOOGLE_WEB_CLIENT,
  startGoogle,
} from "../servers/apis/google.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

/** A service and a clock that both sides have. */
async function start<S extends IService>(
  startService: (options: IServiceOptions) => S | Promise<S>,
) {
  const clock = { now: Date.UTC(2026, 10, 22) };
  const service = await startService({ now: () => clock.now });
  return {
    service,
    /** Lets the tokens expire that live for some hours. */
    pass: (hours: number) => clock.now += hours * 3_600_000,
    /** A fetch whose user is that of the service. */
    fetchFor: (
      resource: string,
      flow: Omit<ICodeFlowOptions, "visit">,
      options: Partial<IAuthorizedFetchOptions> = {},
    ) =>
      createAuthorizedFetch(resource, {
        fetch: service.fetch,
        now: () => clock.now,
        authorize: codeFlow({ ...flow, visit: service.visit }),
        ...options,
      }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** GitHub requires it, and Workers send none. */
const AGENT = { "User-Agent": "any_api_test" };

/** Makes a call; returns its status, and all requests that it has led to. */
async function call(
  service: IService,
  api: IAuthorizedFetch,
  url: string,
): Promise<[status: number, ...requests: string[]]> {
  const status = await statusOf(
    within(LIMIT_MS, api(url, { headers: AGENT })),
  );
  return [status, ...service.take()];
}

/** The requests of each step of a session. */
interface ISteps {
  first: string[];
  refresh: string[];
  /** After the refresh token has become invalid. */
  ended: string[];
}

/**
 * Calls an API until its access token has expired twice, and the refresh token is
 * invalid; compares all requests that this leads to.
 */
async function assertLife(
  { service, pass }: Awaited<ReturnType<typeof start>>,
  api: IAuthorizedFetch,
  url: string,
  { first, refresh, ended }: ISteps,
): Promise<void> {
  const get = `GET ${url}`;
  assertEquals(await call(service, api, url), [200, ...first, get]);
  assertEquals(await call(service, api, url), [200, get]);
  for (let refreshes = 0; refreshes < 2; refreshes++) {
    pass(8);
    assertEquals(await call(service, api, url), [200, ...refresh, get]);
    assertEquals(await call(service, api, url), [200, get]);
  }
  pass(8);
  service.revoke();
  assertEquals(await call(service, api, url), [200, ...ended, get]);
  assertEquals(await call(service, api, url), [200, get]);
}

const GITHUB_ISSUER = `${GITHUB}/login/oauth`;
const GITHUB_VISIT = `GET ${GITHUB_ISSUER}/authorize`;
const GITHUB_TOKEN = `POST ${GITHUB_ISSUER}/access_token`;
const GITHUB_FLOW = {
  redirectUri: "http://127.0.0.1:4000/callback",
  client: {
    issuer: GITHUB_ISSUER,
    client_id: GITHUB_APP.id,
    client_secret: GITHUB_APP.secret,
    token_endpoint_auth_method: "client_secret_post",
  },
};
const GITHUB_OPTIONS = {
  serverMetadata: {
    issuer: GITHUB_ISSUER,
    authorization_endpoint: `${GITHUB_ISSUER}/authorize`,
    token_endpoint: `${GITHUB_ISSUER}/access_token`,
  },
  tokenRequired: true,
  userAgent: "any_api_test",
};
const PRIVATE = `${GITHUB_API}/repos/octocat/private`;

Deno.test("createAuthorizedFetch() keeps a session of GitHub alive, and signs in once when it has ended", async () => {
  await using world = await start(startGitHub);
  const api = world.fetchFor(GITHUB_API, GITHUB_FLOW, GITHUB_OPTIONS);
  await assertLife(world, api, PRIVATE, {
    first: [GITHUB_VISIT, GITHUB_TOKEN],
    refresh: [GITHUB_TOKEN],
    ended: [GITHUB_TOKEN, GITHUB_VISIT, GITHUB_TOKEN],
  });
  const { token } = (await api.session())!;
  const { expires_at = 0, refresh_expires_at = 0 } = token;
  // Eight hours, and 183 days.
  assertEquals(refresh_expires_at - expires_at, 15_811_200 - 28_800);
});

Deno.test("createAuthorizedFetch() with tokenRequired signs in to GitHub before it responds with 200 or 404", async () => {
  await using world = await start(startGitHub);
  const { service, fetchFor } = world;
  const shown = `${GITHUB_API}/users/octocat/repos`;
  const rows: [url: string, status: number, text: string][] = [
    [shown, 200, '["public"]'],
    [PRIVATE, 404, "Not Found"],
  ];
  const options = { ...GITHUB_OPTIONS, tokenRequired: undefined };
  const api = fetchFor(GITHUB_API, GITHUB_FLOW, options);
  const nobody = fetchFor(GITHUB_API, GITHUB_FLOW, {
    ...GITHUB_OPTIONS,
    authorize: undefined,
  });
  for (const fetch of [api, nobody]) {
    for (const [url, status, text] of rows) {
      const response = await within(LIMIT_MS, fetch(url, { headers: AGENT }));
      assertEquals(response.status, status);
      assertStringIncludes(await response.text(), text);
      assertEquals(service.take(), [`GET ${url}`]);
    }
  }
  const required = fetchFor(GITHUB_API, GITHUB_FLOW, GITHUB_OPTIONS);
  const responses = [shown, PRIVATE, shown].map((url) =>
    required(url, { headers: AGENT })
  );
  const texts = await within(
    LIMIT_MS,
    Promise.all(responses.map(async (response) => (await response).text())),
  );
  assertEquals(texts[0], '["public","private"]');
  const [visit, token, ...calls] = service.take();
  assertEquals([visit, token], [GITHUB_VISIT, GITHUB_TOKEN]);
  assertEquals(
    calls.sort(),
    [PRIVATE, shown, shown].map((url) => `GET ${url}`),
  );
});

Deno.test("createAuthorizedFetch() sends GitHub's token to its uploads, and not to its archives", async () => {
  await using world = await start(startGitHub);
  const { service, fetchFor } = world;
  const api = fetchFor(GITHUB_API, GITHUB_FLOW, {
    ...GITHUB_OPTIONS,
    alsoFor: [GITHUB_UPLOADS],
  });
  await within(LIMIT_MS, api.authorize());
  service.take();
  const assets = `${GITHUB_UPLOADS}/repos/octocat/private/releases/1/assets`;
  const init = { method: "POST", body: "asset", headers: AGENT };
  assertEquals(await statusOf(api(assets, init)), 200);
  assertEquals(service.take(), [`POST ${assets}`]);
  const tarball = `${PRIVATE}/tarball`;
  assertEquals(await call(service, api, tarball), [
    200,
    `GET ${tarball}`,
    `GET ${GITHUB_ARCHIVES}/octocat/private`,
  ]);
  const bearers = service.received.slice(-3)
    .map(({ bearer }) => bearer !== undefined);
  assertEquals(bearers, [true, true, false]);
});

Deno.test("createAuthorizedFetch() sends its userAgent to GitHub's token endpoint, and that of the caller to the API", async () => {
  await using world = await start(startGitHub);
  const { service, fetchFor } = world;
  const options = { ...GITHUB_OPTIONS, userAgent: undefined };
  const without = fetchFor(GITHUB_API, GITHUB_FLOW, options);
  const error = await assertRejects(
    () => within(LIMIT_MS, without(PRIVATE, { headers: AGENT })),
    OAuthClientError,
  );
  assertEquals([error.code, error.status], ["unexpected_status", 403]);
  service.take();
  const api = fetchFor(GITHUB_API, GITHUB_FLOW, GITHUB_OPTIONS);
  assertEquals(await statusOf(api(PRIVATE)), 403);
  assertEquals(service.take(), [GITHUB_VISIT, GITHUB_TOKEN, `GET ${PRIVATE}`]);
  assertEquals(await call(service, api, PRIVATE), [200, `GET ${PRIVATE}`]);
});

Deno.test("createAuthorizedFetch() without authorize refreshes a session of GitHub, and returns its 401 in the end", async () => {
  await using world = await start(startGitHub);
  const { service, pass, fetchFor } = world;
  const store = memoryStore();
  const options = { ...GITHUB_OPTIONS, store };
  await within(
    LIMIT_MS,
    fetchFor(GITHUB_API, GITHUB_FLOW, options).authorize(),
  );
  service.take();
  const events: unknown[] = [];
  const api = fetchFor(GITHUB_API, GITHUB_FLOW, {
    ...options,
    authorize: undefined,
    onEvent: ({ type }) => events.push(type),
  });
  const user = `${GITHUB_API}/user`;
  pass(8);
  assertEquals(await call(service, api, user), [
    200,
    GITHUB_TOKEN,
    `GET ${user}`,
  ]);
  assertEquals(events.splice(0), ["request", "refreshed", "request"]);
  pass(8);
  service.revoke();
  assertEquals(await call(service, api, user), [
    401,
    GITHUB_TOKEN,
    `GET ${user}`,
  ]);
  assertEquals(events.splice(0), ["request", "session_dropped", "request"]);
  // Nothing is left that a request could change.
  assertEquals(await call(service, api, user), [401, `GET ${user}`]);
  const error = await assertRejects(() => api.authorize(), OAuthClientError);
  assertEquals(error.code, "unsupported");
});

const GOOGLE_FLOW = {
  redirectUri: "http://127.0.0.1:4000/callback",
  client: {
    issuer: GOOGLE_ACCOUNTS,
    client_id: GOOGLE_DESKTOP_CLIENT.id,
    client_secret: GOOGLE_DESKTOP_CLIENT.secret,
  },
  scopes: ["openid", DRIVE_SCOPE, GMAIL_SCOPE],
};
const GOOGLE_VISIT = `GET ${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`;
const GOOGLE_TOKEN = `POST ${GOOGLE_TOKENS}/token`;
const GOOGLE_METADATA = [
  `GET ${GOOGLE_ACCOUNTS}/.well-known/oauth-authorization-server`,
  `GET ${GOOGLE_ACCOUNTS}/.well-known/openid-configuration`,
];
const FILES = `${GOOGLE_APIS}/drive/v3/files`;
const PROFILE = `${GMAIL}/gmail/v1/users/me/profile`;

Deno.test("createAuthorizedFetch() keeps a session of Google alive, and signs in once when it has ended", async () => {
  await using world = await start(startGoogle);
  const api = world.fetchFor(`${GOOGLE_APIS}/drive/v3`, GOOGLE_FLOW, {
    authorizationServer: GOOGLE_ACCOUNTS,
    alsoFor: [GMAIL],
    tokenRequired: true,
  });
  await assertLife(world, api, FILES, {
    first: [...GOOGLE_METADATA, GOOGLE_VISIT, GOOGLE_TOKEN],
    refresh: [GOOGLE_TOKEN],
    ended: [
      GOOGLE_TOKEN,
      ...GOOGLE_METADATA,
      GOOGLE_VISIT,
      GOOGLE_TOKEN,
    ],
  });
  const { service } = world;
  assertEquals(await call(service, api, PROFILE), [200, `GET ${PROFILE}`]);
});

Deno.test("createAuthorizedFetch() sends Google's token to one host without alsoFor, and requests the scope that the other one requires", async () => {
  await using world = await start(startGoogle);
  const { service, fetchFor } = world;
  const flow = { ...GOOGLE_FLOW, scopes: [DRIVE_SCOPE] };
  const options = { authorizationServer: GOOGLE_ACCOUNTS, tokenRequired: true };
  const resource = `${GOOGLE_APIS}/drive/v3`;
  const one = fetchFor(resource, flow, options);
  await within(LIMIT_MS, one.authorize());
  service.take();
  assertEquals(await call(service, one, PROFILE), [401, `GET ${PROFILE}`]);

  const both = fetchFor(resource, flow, { ...options, alsoFor: [GMAIL] });
  assertEquals((await call(service, both, FILES))[0], 200);
  assertEquals(await call(service, both, PROFILE), [
    200,
    `GET ${PROFILE}`,
    ...GOOGLE_METADATA,
    GOOGLE_VISIT,
    GOOGLE_TOKEN,
    `GET ${PROFILE}`,
  ]);
  const scopes = service.visits.map(({ searchParams }) =>
    searchParams.get("scope")
  );
  const merged = `${DRIVE_SCOPE} ${GMAIL_SCOPE}`;
  assertEquals(scopes, [DRIVE_SCOPE, DRIVE_SCOPE, merged]);
});

Deno.test("createAuthorizedFetch().finish() completes the sign-in of a web server with Google, which has to request offline access", async () => {
  await using world = await start(startGoogle);
  const { service, pass, fetchFor } = world;
  const { id, secret, redirectUri } = GOOGLE_WEB_CLIENT;
  const client = {
    ...GOOGLE_FLOW.client,
    client_id: id,
    client_secret: secret,
  };
  const rows: [parameters: Record<string, string>, hasRefreshToken: boolean][] =
    [
      [{}, false],
      // The user has agreed before, so that there is no consent page.
      [{ access_type: "offline" }, false],
      [{ access_type: "offline", prompt: "consent" }, true],
    ];
  for (const [parameters, hasRefreshToken] of rows) {
    let url: URL | undefined;
    let kept = "";
    const away = new Response(null, { status: 302 });
    const api = fetchFor(`${GOOGLE_APIS}/drive/v3`, { redirectUri }, {
      authorizationServer: GOOGLE_ACCOUNTS,
      tokenRequired: true,
      authorize: codeFlow({
        ...{ ...GOOGLE_FLOW, client, parameters, redirectUri },
        visit: (to, { pending }) => {
          [url, kept] = [to, JSON.stringify(pending)];
          return Promise.reject(away);
        },
      }),
    });
    const left = await within(LIMIT_MS, api(FILES)).catch((it) => it);
    assertEquals(left, away);
    const callback = await service.visit(url!);
    service.take();
    const finished = api.finish(new Request(callback), JSON.parse(kept));
    const { token } = await within(LIMIT_MS, finished);
    assertEquals(token.refresh_token !== undefined, hasRefreshToken);
    assertEquals(await call(service, api, FILES), [
      200,
      GOOGLE_TOKEN,
      `GET ${FILES}`,
    ]);
    pass(1);
    if (!hasRefreshToken) continue;
    assertEquals(await call(service, api, FILES), [
      200,
      GOOGLE_TOKEN,
      `GET ${FILES}`,
    ]);
  }
});

Deno.test("createAuthorizedFetch().authorize() with fresh signs in at Google anew, with the same client", async () => {
  await using world = await start(startGoogle);
  const { service, fetchFor } = world;
  const parameters = { prompt: "select_account" };
  const api = fetchFor(FILES, { ...GOOGLE_FLOW, parameters }, {
    authorizationServer: GOOGLE_ACCOUNTS,
  });
  const first = await within(LIMIT_MS, api.authorize());
  service.take();
  assertEquals(await within(LIMIT_MS, api.authorize()), first);
  assertEquals(service.take(), []);
  const second = await within(LIMIT_MS, api.authorize({ fresh: true }));
  assertEquals(service.take(), [
    ...GOOGLE_METADATA,
    GOOGLE_VISIT,
    GOOGLE_TOKEN,
  ]);
  assertNotEquals(second.token.access_token, first.token.access_token);
});

const ENTRA_ENDPOINTS = `${ENTRA}/organizations/oauth2/v2.0`;
const ENTRA_TOKEN = `POST ${ENTRA_ENDPOINTS}/token`;
const ENTRA_FLOW = {
  redirectUri: "http://localhost:4000/callback",
  scopes: [ENTRA_APP.scope, "offline_access"],
  resource: false,
  refreshScope: true,
} as const;
const ORDERS = `${ENTRA_API}/orders`;

Deno.test("createAuthorizedFetch() keeps a session of Entra alive, and signs in once when it has ended", async () => {
  await using world = await start(startEntra);
  const issuer = `${ENTRA}/organizations/v2.0`;
  const visit = `GET ${ENTRA_ENDPOINTS}/authorize`;
  const client = { issuer, client_id: ENTRA_APP.id };
  const api = world.fetchFor(ENTRA_API, { ...ENTRA_FLOW, client }, {
    serverMetadata: {
      issuer,
      authorization_endpoint: `${ENTRA_ENDPOINTS}/authorize`,
      token_endpoint: `${ENTRA_ENDPOINTS}/token`,
    },
  });
  await assertLife(world, api, ORDERS, {
    first: [`GET ${ORDERS}`, visit, ENTRA_TOKEN],
    refresh: [ENTRA_TOKEN],
    ended: [ENTRA_TOKEN, visit, ENTRA_TOKEN],
  });
});

Deno.test("createAuthorizedFetch() accepts the template that Entra publishes as issuer, if the caller does", async () => {
  await using world = await start(startEntra);
  const named = `${ENTRA}/organizations/v2.0`;
  const claimed = `${ENTRA}/{tenantid}/v2.0`;
  const client = { issuer: claimed, client_id: ENTRA_APP.id };
  const flow = { ...ENTRA_FLOW, client, assumePkce: true };
  const api = world.fetchFor(ENTRA_API, flow, {
    authorizationServer: named,
    trustedIssuers: { [named]: claimed },
  });
  const metadata = [
    `GET ${ENTRA}/.well-known/oauth-authorization-server/organizations/v2.0`,
    `GET ${ENTRA}/.well-known/openid-configuration/organizations/v2.0`,
    `GET ${named}/.well-known/openid-configuration`,
  ];
  const visit = `GET ${ENTRA_ENDPOINTS}/authorize`;
  await assertLife(world, api, ORDERS, {
    first: [`GET ${ORDERS}`, ...metadata, visit, ENTRA_TOKEN],
    refresh: [ENTRA_TOKEN],
    ended: [ENTRA_TOKEN, ...metadata, visit, ENTRA_TOKEN],
  });
});

Deno.test("createAuthorizedFetch() signs in to Entra each hour without refreshScope, and not at all with a resource", async () => {
  await using world = await start(startEntra);
  const { service, pass, fetchFor } = world;
  const issuer = `${ENTRA}/${ENTRA_TENANT}/v2.0`;
  const endpoints = `${ENTRA}/${ENTRA_TENANT}/oauth2/v2.0`;
  const serverMetadata = {
    issuer,
    authorization_endpoint: `${endpoints}/authorize`,
    token_endpoint: `${endpoints}/token`,
  };
  const client = { issuer, client_id: ENTRA_APP.id };
  const flow = { ...ENTRA_FLOW, client, refreshScope: undefined };
  const api = fetchFor(ENTRA_API, flow, { serverMetadata });
  assertEquals((await call(service, api, ORDERS))[0], 200);
  pass(2);
  assertEquals((await call(service, api, ORDERS))[0], 200);
  assertEquals(service.visits.length, 2);

  const withResource = { ...flow, resource: undefined };
  const refused = fetchFor(ENTRA_API, withResource, { serverMetadata });
  await assertRejects(
    () => within(LIMIT_MS, refused.authorize()),
    Error,
    "AADSTS9010010",
  );
  assertEquals(service.visits.length, 3);
});

Deno.test("createAuthorizedFetch() checks the ID token of a tenant of Entra, and of its refreshes", async () => {
  await using world = await start(startEntra);
  const { service, pass, fetchFor } = world;
  const issuer = `${ENTRA}/${ENTRA_TENANT}/v2.0`;
  const client = { issuer, client_id: ENTRA_APP.id };
  const scopes = ["openid", ...ENTRA_FLOW.scopes];
  const api = fetchFor(
    ENTRA_API,
    { ...ENTRA_FLOW, client, scopes, assumePkce: true },
    { authorizationServer: issuer },
  );
  assertEquals((await call(service, api, ORDERS))[0], 200);
  const first = await api.session();
  pass(2);
  assertEquals((await call(service, api, ORDERS))[0], 200);
  const second = await api.session();
  assertNotEquals(second?.token.id_token, first?.token.id_token);
  assertEquals(service.visits.length, 1);
});

const COGNITO_FLOW = {
  redirectUri: COGNITO_CLIENT.redirectUri,
  client: {
    issuer: COGNITO_ISSUER,
    client_id: COGNITO_CLIENT.id,
    client_secret: COGNITO_CLIENT.secret,
  },
  assumePkce: true,
};
const USERS = `${COGNITO_API}/prod/users`;

Deno.test("createAuthorizedFetch() keeps a session of Cognito alive, and signs in once when it has ended", async () => {
  await using world = await start(startCognito);
  const { origin, pathname } = new URL(COGNITO_ISSUER);
  const metadata = [
    `GET ${origin}/.well-known/oauth-authorization-server${pathname}`,
    `GET ${origin}/.well-known/openid-configuration${pathname}`,
    `GET ${COGNITO_ISSUER}/.well-known/openid-configuration`,
  ];
  const visit = `GET ${COGNITO_DOMAIN}/oauth2/authorize`;
  const token = `POST ${COGNITO_DOMAIN}/oauth2/token`;
  const api = world.fetchFor(`${COGNITO_API}/prod`, COGNITO_FLOW, {
    authorizationServer: COGNITO_ISSUER,
    bearer: "id_token",
  });
  await assertLife(world, api, USERS, {
    first: [`GET ${USERS}`, ...metadata, visit, token],
    refresh: [token],
    ended: [token, ...metadata, visit, token],
  });
});

Deno.test("createAuthorizedFetch() signs in once and returns the 401 where Cognito's API requires the ID token and bearer is not set", async () => {
  await using world = await start(startCognito);
  const { service, fetchFor } = world;
  const api = fetchFor(
    `${COGNITO_API}/prod`,
    { ...COGNITO_FLOW, scopes: ["openid"] },
    { authorizationServer: COGNITO_ISSUER },
  );
  assertEquals((await call(service, api, USERS))[0], 401);
  assertEquals(service.visits.length, 1);
});
