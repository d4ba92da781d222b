/** APIs that publish no metadata, and their servers, with every request counted. */
import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
} from "../../mod.ts";
import type { Service, ServiceOptions } from "../servers/apis/_hosts.ts";
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
  GOOGLE_WEB_CLIENT,
  startGoogle,
} from "../servers/apis/google.ts";
import { statusOf } from "../support/stub_fetch.ts";

interface Row {
  name: string;
  start(options?: ServiceOptions): Promise<Service>;
  resource: string;
  flow: Omit<CodeFlowOptions, "visit">;
  options: Partial<AuthorizedFetchOptions>;
  /** The URL that is called, and those that need no further sign-in. */
  url: string;
  others?: string[];
  /** The requests of a sign-in; the last one is that of a refresh, too. */
  signIn: string[];
}

const GITHUB_ISSUER = `${GITHUB}/login/oauth`;
const GITHUB_METADATA = {
  issuer: GITHUB_ISSUER,
  authorization_endpoint: `${GITHUB_ISSUER}/authorize`,
  token_endpoint: `${GITHUB_ISSUER}/access_token`,
};
const ENTRA_ENDPOINTS = `${ENTRA}/organizations/oauth2/v2.0`;
const ENTRA_NAMED = `${ENTRA}/organizations/v2.0`;
/** The template that Entra publishes as issuer. */
const ENTRA_CLAIMED = `${ENTRA}/{tenantid}/v2.0`;
const ENTRA_FLOW = {
  redirectUri: "http://localhost:4000/callback",
  scopes: [ENTRA_APP.scope, "offline_access"],
  resourceIndicator: false,
  sendScopeOnRefresh: true,
} as const;
const ENTRA_ROW = {
  start: startEntra,
  resource: ENTRA_API,
  url: `${ENTRA_API}/orders`,
};
const ENTRA_SIGN_IN = [
  `GET ${ENTRA_ENDPOINTS}/authorize`,
  `POST ${ENTRA_ENDPOINTS}/token`,
];
const COGNITO = new URL(COGNITO_ISSUER);
/** GitHub requires it, and Workers send none. */
const AGENT = "vendors_test";

const ROWS: Row[] = [
  {
    name: "GitHub",
    start: startGitHub,
    resource: GITHUB_API,
    flow: {
      redirectUri: GITHUB_APP.callback,
      client: {
        issuer: GITHUB_ISSUER,
        client_id: GITHUB_APP.id,
        client_secret: GITHUB_APP.secret,
        token_endpoint_auth_method: "client_secret_post",
      },
    },
    options: {
      serverMetadata: GITHUB_METADATA,
      tokenRequired: true,
      userAgent: AGENT,
    },
    url: `${GITHUB_API}/repos/octocat/private`,
    signIn: [
      `GET ${GITHUB_METADATA.authorization_endpoint}`,
      `POST ${GITHUB_METADATA.token_endpoint}`,
    ],
  },
  {
    name: "Google",
    start: startGoogle,
    resource: `${GOOGLE_APIS}/drive/v3`,
    flow: {
      redirectUri: GOOGLE_WEB_CLIENT.redirectUri,
      client: {
        issuer: GOOGLE_ACCOUNTS,
        client_id: GOOGLE_WEB_CLIENT.id,
        client_secret: GOOGLE_WEB_CLIENT.secret,
      },
      parameters: { access_type: "offline", prompt: "consent" },
      scopes: ["openid", DRIVE_SCOPE, GMAIL_SCOPE],
    },
    options: {
      authorizationServer: GOOGLE_ACCOUNTS,
      alsoFor: [GMAIL],
      tokenRequired: true,
    },
    url: `${GOOGLE_APIS}/drive/v3/files`,
    others: [`${GMAIL}/gmail/v1/users/me/profile`],
    signIn: [
      `GET ${GOOGLE_ACCOUNTS}/.well-known/oauth-authorization-server`,
      `GET ${GOOGLE_ACCOUNTS}/.well-known/openid-configuration`,
      `GET ${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`,
      `POST ${GOOGLE_TOKENS}/token`,
    ],
  },
  {
    ...ENTRA_ROW,
    name: "Entra",
    flow: {
      ...ENTRA_FLOW,
      client: { issuer: ENTRA_NAMED, client_id: ENTRA_APP.id },
    },
    options: {
      serverMetadata: {
        issuer: ENTRA_NAMED,
        authorization_endpoint: `${ENTRA_ENDPOINTS}/authorize`,
        token_endpoint: `${ENTRA_ENDPOINTS}/token`,
      },
    },
    signIn: ENTRA_SIGN_IN,
  },
  {
    ...ENTRA_ROW,
    name: "Entra, whose template of an issuer the caller trusts,",
    flow: {
      ...ENTRA_FLOW,
      client: { issuer: ENTRA_CLAIMED, client_id: ENTRA_APP.id },
      assumePkce: true,
    },
    options: {
      authorizationServer: ENTRA_NAMED,
      trustedIssuers: { [ENTRA_NAMED]: ENTRA_CLAIMED },
    },
    signIn: [
      `GET ${ENTRA}/.well-known/oauth-authorization-server/organizations/v2.0`,
      `GET ${ENTRA}/.well-known/openid-configuration/organizations/v2.0`,
      `GET ${ENTRA_NAMED}/.well-known/openid-configuration`,
      ...ENTRA_SIGN_IN,
    ],
  },
  {
    name: "Cognito",
    start: startCognito,
    resource: `${COGNITO_API}/prod`,
    flow: {
      redirectUri: COGNITO_CLIENT.redirectUri,
      client: {
        issuer: COGNITO_ISSUER,
        client_id: COGNITO_CLIENT.id,
        client_secret: COGNITO_CLIENT.secret,
      },
      assumePkce: true,
    },
    options: { authorizationServer: COGNITO_ISSUER, bearer: "id_token" },
    url: `${COGNITO_API}/prod/users`,
    signIn: [
      `GET ${COGNITO.origin}/.well-known/oauth-authorization-server${COGNITO.pathname}`,
      `GET ${COGNITO.origin}/.well-known/openid-configuration${COGNITO.pathname}`,
      `GET ${COGNITO_ISSUER}/.well-known/openid-configuration`,
      `GET ${COGNITO_DOMAIN}/oauth2/authorize`,
      `POST ${COGNITO_DOMAIN}/oauth2/token`,
    ],
  },
];

for (const { name, start, resource, flow, options, url, ...row } of ROWS) {
  Deno.test(`createAuthorizedFetch() keeps a session of ${name} alive, and signs in once when it has ended`, async () => {
    let now = Date.UTC(2026, 10, 22);
    await using service = await start({ now: () => now });
    const api = createAuthorizedFetch(resource, {
      fetch: service.fetch,
      now: () => now,
      flow: codeFlow({ ...flow, visit: service.visit }),
      ...options,
    });
    /** Makes two calls; the first has led to these requests before it. */
    const assertCalls = async (before: string[]) => {
      for (const expected of [before, []]) {
        const call = api(url, { headers: { "User-Agent": AGENT } });
        assertEquals(await statusOf(call), 200);
        assertEquals(service.take(), [...expected, `GET ${url}`]);
      }
    };
    const { signIn, others = [] } = row;
    const refresh = signIn.slice(-1);
    const challenge = options.tokenRequired ? [] : [`GET ${url}`];
    await assertCalls([...challenge, ...signIn]);
    for (let refreshes = 0; refreshes < 2; refreshes++) {
      now += 8 * 3_600_000;
      await assertCalls(refresh);
    }
    now += 8 * 3_600_000;
    service.revoke();
    await assertCalls([...refresh, ...signIn]);
    for (const other of others) {
      assertEquals(await statusOf(api(other)), 200);
      assertEquals(service.take(), [`GET ${other}`]);
    }
  });
}

/** What each vendor accepts in place of the redirect URI of its row. */
const REDIRECTS: Record<
  string,
  [client: string, uri: string, isMet: boolean][]
> = {
  GitHub: [
    [GITHUB_APP.id, GITHUB_APP.callback, true],
    [GITHUB_APP.id, "http://127.0.0.1:4000/callback", false],
    [GITHUB_APP.id, "http://127.0.0.1/callback", false],
    [GITHUB_APP.id, `${GITHUB_APP.callback}/`, false],
    [GITHUB_APP.id, `${GITHUB_APP.callback}?a=1`, false],
  ],
  Google: [
    [GOOGLE_WEB_CLIENT.id, GOOGLE_WEB_CLIENT.redirectUri, true],
    [GOOGLE_WEB_CLIENT.id, `${GOOGLE_WEB_CLIENT.redirectUri}/`, false],
    [GOOGLE_DESKTOP_CLIENT.id, "http://localhost:1/a", true],
    [GOOGLE_DESKTOP_CLIENT.id, GOOGLE_WEB_CLIENT.redirectUri, false],
  ],
  Entra: [
    [ENTRA_APP.id, "http://localhost:1/callback", true],
    [ENTRA_APP.id, "http://localhost:1/other", false],
  ],
  Cognito: [
    [COGNITO_CLIENT.id, COGNITO_CLIENT.redirectUri, true],
    [COGNITO_CLIENT.id, "http://localhost:8766/callback", false],
  ],
};

for (const { name, start, flow, signIn } of ROWS) {
  for (const [client_id, redirect_uri, isMet] of REDIRECTS[name] ?? []) {
    Deno.test(`the imitation of ${name} ${isMet ? "accepts" : "refuses"} ${redirect_uri}`, async () => {
      await using service = await start();
      const url = new URL(signIn.at(-2)!.replace("GET ", ""));
      url.search = `${new URLSearchParams({
        ...{ response_type: "code", client_id, redirect_uri },
        scope: flow.scopes?.[0] ?? "openid",
      })}`;
      const location = await service.visit(url).catch(() => "");
      const query = new URLSearchParams(location.split("?")[1]);
      assertEquals(query.has("code"), isMet);
      if (isMet) assert(location.startsWith(redirect_uri));
    });
  }
}
