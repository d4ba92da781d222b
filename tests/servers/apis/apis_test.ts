/** The imitated services reject what the real ones reject, over plain HTTP. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { statusOf } from "../../support/stub_fetch.ts";
import {
  type IHosts,
  type IService,
  type IServiceOptions,
  startHosts,
} from "./_hosts.ts";
import {
  COGNITO_API,
  COGNITO_CLIENT,
  COGNITO_DOMAIN,
  COGNITO_ISSUER,
  startCognito,
} from "./cognito.ts";
import { ENTRA, ENTRA_API, ENTRA_APP, startEntra } from "./entra.ts";
import {
  GITHUB,
  GITHUB_API,
  GITHUB_APP,
  GITHUB_ARCHIVES,
  startGitHub,
} from "./github.ts";
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
} from "./google.ts";

/** The pair of RFC 7636, appendix B. */
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
const AGENT = { "User-Agent": "test" };

type Form = Record<string, string>;

/** Sends an authorization request; returns the query of the redirect. */
async function authorize(service: IService, endpoint: string, query: Form) {
  const url = new URL(endpoint);
  url.search = new URLSearchParams({ response_type: "code", ...query })
    .toString();
  const response = await service.fetch(url, {
    headers: AGENT,
    redirect: "manual",
  });
  const location = response.headers.get("Location");
  const text = await response.text();
  if (location === null) throw new Error(`${response.status} ${text}`);
  return Object.fromEntries(new URL(location).searchParams);
}

/** Sends a form; returns the status and the members of the JSON. */
async function post(
  { fetch }: IHosts,
  url: string,
  form: Form,
  headers: Form = {},
): Promise<[status: number, members: Form]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...AGENT, ...headers },
    body: new URLSearchParams(form),
  });
  const text = await response.text();
  const isJson = text.startsWith("{");
  return [
    response.status,
    isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text)),
  ];
}

/** Calls an API; returns the status and the challenge. */
async function call(service: IHosts, url: string, token?: string) {
  const response = await service.fetch(url, {
    headers: { ...AGENT, ...(token && { Authorization: `Bearer ${token}` }) },
    redirect: "manual",
  });
  await response.body?.cancel();
  return [response.status, response.headers.get("WWW-Authenticate")];
}

const basic = ({ id, secret }: { id: string; secret: string }) => ({
  Authorization: `Basic ${btoa(`${id}:${secret}`)}`,
});

/** A clock that a test moves on. */
function clocked<S>(start: (options: IServiceOptions) => S) {
  const clock = { now: Date.now() };
  return { clock, service: start({ now: () => clock.now }) };
}

Deno.test("startHosts() serves the origins of its table, and fails for any other", async () => {
  await using hosts = startHosts({
    "https://api.example": ({ method, url, bearer, form }) =>
      Response.json([method, url.href, bearer, form.get("a")]),
  });
  const response = await hosts.fetch("https://api.example/x?y=1", {
    method: "POST",
    headers: { Authorization: "Bearer t" },
    body: new URLSearchParams({ a: "b" }),
  });
  assertEquals(response.url, "https://api.example/x?y=1");
  assertEquals(await response.json(), ["POST", response.url, "t", "b"]);
  assertEquals(hosts.take(), ["POST https://api.example/x"]);
  assertEquals(hosts.take(), []);
  await assertRejects(() => hosts.fetch("https://other.example"), TypeError);
});

Deno.test("startGitHub() publishes no metadata, and requires a User-Agent", async () => {
  await using github = startGitHub();
  const names = [
    "oauth-protected-resource",
    "oauth-authorization-server",
    "openid-configuration",
  ];
  for (const origin of [GITHUB, GITHUB_API]) {
    for (const name of names) {
      const url = `${origin}/.well-known/${name}`;
      assertEquals(await call(github, url), [404, null]);
    }
  }
  const response = await github.fetch(`${GITHUB_API}/user`);
  assertEquals(response.status, 403);
  assertStringIncludes(await response.text(), "User-Agent header");
});

Deno.test("startGitHub() responds to errors with 200 and a form, and rotates refresh tokens", async () => {
  const { clock, service } = clocked(startGitHub);
  await using github = service;
  const authorizeUrl = `${GITHUB}/login/oauth/authorize`;
  const tokenUrl = `${GITHUB}/login/oauth/access_token`;
  const { id: client_id, secret: client_secret } = GITHUB_APP;
  const redirect_uri = "http://127.0.0.1:5000/callback";
  const code = async () =>
    (await authorize(github, authorizeUrl, {
      client_id,
      redirect_uri,
      ...PKCE,
      // Unknown here.
      resource: GITHUB_API,
    })).code ?? "";
  const client = { client_id, client_secret };
  const rows: [form: Form, headers: Form, error: string][] = [
    [{}, basic(GITHUB_APP), "incorrect_client_credentials"],
    [{ client_id }, {}, "incorrect_client_credentials"],
    [client, {}, "bad_verification_code"],
    [{ ...client, code_verifier: "other" }, {}, "bad_verification_code"],
  ];
  for (const [form, headers, error] of rows) {
    const body = { ...form, code: await code() };
    const [status, members] = await post(github, tokenUrl, body, headers);
    assertEquals([status, members.error], [200, error]);
  }
  const [, first] = await post(github, tokenUrl, {
    ...client,
    code: await code(),
    code_verifier: VERIFIER,
  });
  assertEquals([first.token_type, first.scope], ["bearer", ""]);
  const refresh = ({ refresh_token = "" }: Form) =>
    post(github, tokenUrl, {
      ...client,
      grant_type: "refresh_token",
      refresh_token,
    });
  const [, second] = await refresh(first);
  assertEquals(await refresh(first), [200, {
    error: "bad_refresh_token",
    error_description: "The refresh token passed is incorrect or expired.",
  }]);
  const user = `${GITHUB_API}/user`;
  assertEquals(await call(github, user, first.access_token), [401, null]);
  assertEquals(await call(github, user, second.access_token), [200, null]);
  clock.now += 28_800_000;
  assertEquals(await call(github, user, second.access_token), [401, null]);
  const elsewhere = await authorize(github, authorizeUrl, {
    client_id,
    redirect_uri: "https://evil.example/callback",
  });
  assertEquals(elsewhere, { error: "redirect_uri_mismatch" });
});

Deno.test("startGitHub() conceals what is private, and redirects to archives", async () => {
  await using github = startGitHub();
  const { code = "" } = await authorize(
    github,
    `${GITHUB}/login/oauth/authorize`,
    {
      client_id: GITHUB_APP.id,
      redirect_uri: GITHUB_APP.callback,
    },
  );
  const [, { access_token }] = await post(
    github,
    `${GITHUB}/login/oauth/access_token`,
    { client_id: GITHUB_APP.id, client_secret: GITHUB_APP.secret, code },
  );
  const rows: [path: string, bare: number, authorized: number][] = [
    ["/user", 401, 200],
    ["/users/octocat/repos", 200, 200],
    ["/repos/octocat/private", 404, 200],
    ["/repos/octocat/private/tarball", 404, 302],
  ];
  for (const [path, bare, authorized] of rows) {
    const url = GITHUB_API + path;
    assertEquals(await call(github, url), [bare, null]);
    assertEquals(await call(github, url, access_token), [authorized, null]);
  }
  const archive = `${GITHUB_ARCHIVES}/octocat/private`;
  assertEquals(await call(github, archive, access_token), [404, null]);
  assertEquals(await call(github, `${archive}?token=signed`), [200, null]);
});

Deno.test("startGoogle() issues refresh tokens by client and consent, and none in a refresh", async () => {
  await using google = await startGoogle();
  const signIn = async (query: Form, isWeb = false) => {
    const { id, secret, redirectUri: redirect_uri } = {
      redirectUri: "http://127.0.0.1:6000/any",
      ...(isWeb ? GOOGLE_WEB_CLIENT : GOOGLE_DESKTOP_CLIENT),
    };
    const { code = "" } = await authorize(
      google,
      `${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`,
      { client_id: id, redirect_uri, scope: DRIVE_SCOPE, ...query },
    );
    const client = { client_id: id, client_secret: secret };
    const [, token] = await post(google, `${GOOGLE_TOKENS}/token`, {
      ...{ ...client, grant_type: "authorization_code", code, redirect_uri },
    });
    return { client, token };
  };
  const offline = { access_type: "offline" };
  const rows: [query: Form, isWeb: boolean, hasRefreshToken: boolean][] = [
    [{}, true, false],
    // The user has agreed already.
    [offline, true, false],
    [{ ...offline, prompt: "consent" }, true, true],
    [{}, false, true],
    [{ scope: `openid ${DRIVE_SCOPE}` }, false, true],
  ];
  for (const [query, isWeb, hasRefreshToken] of rows) {
    const { client, token } = await signIn(query, isWeb);
    const { refresh_token, id_token } = token;
    assertEquals(refresh_token !== undefined, hasRefreshToken);
    assertEquals(id_token !== undefined, "scope" in query);
    if (!refresh_token) continue;
    const form = { ...client, grant_type: "refresh_token", refresh_token };
    const [status, fresh] = await post(
      google,
      `${GOOGLE_TOKENS}/token`,
      form,
    );
    assertEquals([status, fresh.refresh_token], [200, undefined]);
    google.revoke();
    const [, { error }] = await post(google, `${GOOGLE_TOKENS}/token`, form);
    assertEquals(error, "invalid_grant");
  }
  const refused: [query: Form, isWeb: boolean, problem: string][] = [
    [{ prompt: "login" }, false, "invalid_request"],
    [{ scope: `${DRIVE_SCOPE} offline_access` }, false, "invalid_scope"],
    [{ scope: "" }, false, "invalid_request"],
    [{ redirect_uri: "http://127.0.0.1/" }, true, "redirect_uri_mismatch"],
    [{ redirect_uri: "https://a.example" }, false, "redirect_uri_mismatch"],
    [{ client_id: "other" }, false, "invalid_client"],
  ];
  for (const [query, isWeb, problem] of refused) {
    await assertRejects(() => signIn(query, isWeb), Error, problem);
  }
});

Deno.test("startGoogle() challenges with its realm, and requires the scope of the host", async () => {
  await using google = await startGoogle();
  const { id: client_id, secret: client_secret } = GOOGLE_DESKTOP_CLIENT;
  const redirect_uri = "http://localhost:1/";
  const { code = "" } = await authorize(
    google,
    `${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`,
    { client_id, redirect_uri, scope: DRIVE_SCOPE },
  );
  const form = { client_id, code, redirect_uri };
  const tokenUrl = `${GOOGLE_TOKENS}/token`;
  const [status, missing] = await post(google, tokenUrl, form);
  assertEquals([status, missing.error], [400, "invalid_request"]);
  const [, token] = await post(google, tokenUrl, { ...form, client_secret });
  const files = `${GOOGLE_APIS}/drive/v3/files`;
  const profile = `${GMAIL}/gmail/v1/users/me/profile`;
  const realm = 'Bearer realm="https://accounts.google.com/"';
  const rows: [url: string, token: string | undefined, expected: unknown[]][] =
    [
      [files, undefined, [403, null]],
      [profile, undefined, [401, realm]],
      [files, "other", [401, `${realm}, error="invalid_token"`]],
      [files, token.access_token, [200, null]],
      [profile, token.access_token, [
        403,
        `${realm}, error="insufficient_scope", scope="${GMAIL_SCOPE}"`,
      ]],
      [`${GOOGLE_APIS}/.well-known/oauth-protected-resource`, undefined, [
        404,
        null,
      ]],
    ];
  for (const [url, token, expected] of rows) {
    assertEquals(await call(google, url, token), expected);
  }
});

Deno.test("startEntra() publishes a template as issuer, and no list of PKCE methods", async () => {
  await using entra = await startEntra();
  const read = async (url: string) => {
    const response = await entra.fetch(url);
    const text = await response.text();
    return response.ok ? JSON.parse(text) : response.status;
  };
  const issuer = `${ENTRA}/organizations/v2.0`;
  const metadata = await read(`${issuer}/.well-known/openid-configuration`);
  assertEquals(metadata.issuer, `${ENTRA}/{tenantid}/v2.0`);
  assertEquals("code_challenge_methods_supported" in metadata, false);
  assertEquals(metadata.tenant_region_scope, null);
  for (
    const url of [
      `${ENTRA}/.well-known/oauth-authorization-server/organizations/v2.0`,
      `${ENTRA}/.well-known/openid-configuration/organizations/v2.0`,
      `${ENTRA_API}/.well-known/oauth-protected-resource`,
    ]
  ) assertEquals(await read(url), 404);
});

Deno.test("startEntra() refuses resource, and a refresh without scope; an old refresh token stays valid", async () => {
  const { clock, service } = clocked(startEntra);
  await using entra = await service;
  const endpoints = `${ENTRA}/organizations/oauth2/v2.0`;
  const client_id = ENTRA_APP.id;
  const scope = `${ENTRA_APP.scope} offline_access`;
  const redirect_uri = "http://localhost:7000/callback";
  const resource = ENTRA_API;
  const request = { client_id, redirect_uri, scope, ...PKCE };
  const code = async (query: Form = {}) =>
    (await authorize(entra, `${endpoints}/authorize`, {
      ...request,
      ...query,
    })).code ?? "";
  await assertRejects(() => code({ resource }), Error, "invalid_target");
  await assertRejects(() => code({ scope: "" }), Error, "AADSTS900144");
  const other = { redirect_uri: "http://127.0.0.1:7000/callback" };
  await assertRejects(() => code(other), Error, "AADSTS50011");

  const send = (form: Form) =>
    post(entra, `${endpoints}/token`, { client_id, redirect_uri, ...form });
  const refused: [form: Form, status: number, error: string, text: string][] = [
    [{ resource }, 400, "invalid_target", "AADSTS9010010"],
    [{ client_secret: "x" }, 401, "invalid_client", "AADSTS700025"],
    [{ code_verifier: "x" }, 400, "invalid_grant", "AADSTS501481"],
    [{ code: "x" }, 400, "invalid_grant", "AADSTS70000"],
  ];
  for (const [form, ...expected] of refused) {
    const [status, members] = await send({ code: await code(), ...form });
    const { error, error_description = "" } = members;
    assertEquals([status, error, error_description.split(":")[0]], expected);
  }
  const withCode = { code: await code(), code_verifier: VERIFIER };
  const [, first] = await send(withCode);
  assertEquals([first.scope, first.id_token], [ENTRA_APP.scope, undefined]);
  const { refresh_token = "" } = first;
  const refresh = { grant_type: "refresh_token", refresh_token };
  const [status, missing] = await send(refresh);
  assertEquals([status, missing.error], [400, "invalid_request"]);
  assertStringIncludes(missing.error_description ?? "", "AADSTS90009");
  const [, second] = await send({ ...refresh, scope });
  assertEquals(second.refresh_token === refresh_token, false);
  assertEquals((await send({ ...refresh, scope }))[0], 200);

  const orders = `${ENTRA_API}/orders`;
  const bare = [401, "Bearer"];
  const invalid = [401, 'Bearer error="invalid_token"'];
  assertEquals(await call(entra, orders), bare);
  assertEquals(await call(entra, orders, second.access_token), [200, null]);
  clock.now += 3_920_000;
  assertEquals(await call(entra, orders, second.access_token), invalid);
});

Deno.test("startCognito() accepts the ID token alone, and authenticates its client", async () => {
  const { clock, service } = clocked(startCognito);
  await using cognito = await service;
  const { id: client_id, redirectUri: redirect_uri } = COGNITO_CLIENT;
  const authorizeUrl = `${COGNITO_DOMAIN}/oauth2/authorize`;
  const tokenUrl = `${COGNITO_DOMAIN}/oauth2/token`;
  const request = { client_id, redirect_uri, scope: "openid", ...PKCE };
  const { code = "" } = await authorize(cognito, authorizeUrl, request);
  const refused = await authorize(cognito, authorizeUrl, {
    ...request,
    scope: "openid offline_access",
  });
  assertEquals(refused, { error: "invalid_scope" });
  const elsewhere = { ...request, redirect_uri: "http://localhost:1/callback" };
  await assertRejects(
    () => authorize(cognito, authorizeUrl, elsewhere),
    Error,
    "400",
  );
  const own = basic(COGNITO_CLIENT);
  const wrong = basic({ ...COGNITO_CLIENT, secret: "other" });
  const form = { code, redirect_uri, code_verifier: VERIFIER };
  for (const [given, headers] of [[{}, {}], [{ client_id }, {}], [{}, wrong]]) {
    assertEquals(
      await post(cognito, tokenUrl, { ...form, ...given }, headers),
      [400, { error: "invalid_client" }],
    );
  }
  const [, token] = await post(cognito, tokenUrl, form, own);
  const { refresh_token = "", access_token, id_token } = token;
  const users = `${COGNITO_API}/prod/users`;
  assertEquals(await call(cognito, users), [401, null]);
  assertEquals(await call(cognito, users, access_token), [401, null]);
  assertEquals(await call(cognito, users, id_token), [200, null]);
  clock.now += 3_600_000;
  assertEquals(await call(cognito, users, id_token), [401, null]);
  const refresh = { grant_type: "refresh_token", refresh_token };
  const [, fresh] = await post(cognito, tokenUrl, refresh, own);
  assertEquals(fresh.refresh_token, undefined);
  assertEquals(await call(cognito, users, fresh.id_token), [200, null]);
  cognito.revoke();
  const dead = await post(cognito, tokenUrl, refresh, own);
  assertEquals(dead, [400, { error: "invalid_grant" }]);
});

Deno.test("startCognito() publishes metadata at its issuer, on another host than the endpoints", async () => {
  await using cognito = await startCognito();
  const url = `${COGNITO_ISSUER}/.well-known/openid-configuration`;
  const response = await cognito.fetch(url);
  const { issuer, token_endpoint } = await response.json();
  assertEquals(issuer, COGNITO_ISSUER);
  assertEquals(token_endpoint, `${COGNITO_DOMAIN}/oauth2/token`);
  const { origin, pathname } = new URL(COGNITO_ISSUER);
  const inserted = `${origin}/.well-known/openid-configuration${pathname}`;
  assertEquals(await statusOf(cognito.fetch(inserted)), 404);
  const atApi = `${COGNITO_API}/.well-known/oauth-protected-resource`;
  assertEquals(await call(cognito, atApi), [403, null]);
});
