/** APIs that publish no metadata, and their servers, with every request counted. */
import { assertEquals } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  type IAuthorizedFetch,
  type IAuthorizedFetchOptions,
  type ICodeFlowOptions,
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
  startEntra,
} from "../servers/apis/entra.ts";
import {
  GITHUB,
  GITHUB_API,
  GITHUB_APP,
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
