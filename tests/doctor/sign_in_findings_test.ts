/** One deviation for each finding of a sign-in. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { RESOURCE_HINT } from "../../lib/core/_hints.ts";
import { all, inPlace, server, status } from "./_changes.ts";
import {
  absent,
  handler,
  members,
  signedIn,
  type SignInModel,
} from "./_sign_in_world.ts";
import { outcome } from "./_table.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { factRows, LIBRARY_WORDS } from "../../lib/doctor/report/_text.ts";
import { encodeBase64Url } from "../support/base64url.ts";

/**
 * By name: the findings, what the excerpt of the first one shows, the change, and where
 * it is not the usual one, the verdict with the names of options.
 */
type Rows = Record<
  string,
  [
    findings: string,
    excerpt: RegExp,
    change: (model: SignInModel) => void,
    more?: { verdict?: string; signIn?: Parameters<typeof signedIn>[1] },
  ]
>;

const HTML = { "Content-Type": "text/html; charset=utf-8" };
const DEVICE = { visit: undefined, show() {} } as never;

const page = (status: number) => () =>
  new Response("<!doctype html><title>Page</title>", { status, headers: HTML });

const empty = (status: number) => () => new Response("", { status });

const error = (status: number, name: string) => () =>
  Response.json({ error: name }, { status });

const respondTo = (status: number, challenge?: string) =>
  new Response(null, {
    status,
    headers: { ...challenge && { "WWW-Authenticate": challenge } },
  });

const called = (status: number, challenge?: string) =>
  handler(
    "GET /mcp",
    (request, usual) =>
      request.headers.has("Authorization")
        ? respondTo(status, challenge)
        : usual(request),
  );

/** Responds to calls with a token that is not valid. */
const deadCalls =
  (status: number, challenge?: string) => (model: SignInModel) =>
    handler("GET /mcp", (request, usual) => {
      const [, token] = request.headers.get("Authorization")?.split(" ") ?? [];
      return token === undefined || model.tokens.access().includes(token)
        ? usual(request)
        : respondTo(status, challenge);
    })(model);

/** Revokes refresh tokens and no access tokens. */
const keepsAccessTokens = handler("POST /as/revoke", async (request, usual) => {
  const text = await request.text();
  return text.includes("token_type_hint=access_token")
    ? error(400, "unsupported_token_type")()
    : usual(request);
});

/** Replaces the responses to refreshes, or to those with a token that is not valid. */
const refreshes =
  (isDead: boolean, respond: () => Response) => (model: SignInModel) =>
    handler("POST /as/token", async (request, usual) => {
      const form = new URLSearchParams(await request.text());
      const value = form.get("refresh_token");
      const { refresh } = model.tokens;
      const matches = value !== null && refresh.has(value) !== isDead;
      return matches ? respond() : await usual(request);
    })(model);

/** Issues no refresh token, and knows none. */
const withoutRefreshToken =
  (path: string) => ({ changes, tokens }: SignInModel) => {
    changes[path] = (response) => {
      tokens.refresh.clear();
      delete response.refresh_token;
    };
  };

function idToken(claims: Record<string, unknown>): string {
  const part = (value: unknown) => encodeBase64Url(JSON.stringify(value));
  const now = Math.floor(Date.now() / 1000);
  return [
    part({ alg: "none" }),
    part({ sub: "s", aud: "client-1", iat: now, exp: now + 3600, ...claims }),
    "x",
  ].join(".");
}

const BASIC = { token_endpoint_auth_method: "client_secret_basic" };
const SECRET = "s3cret+/with=signs";
const FOREIGN_ID_TOKEN = idToken({ iss: "https://upstream.example" });

/** Requires pushed requests, and rejects them with this error. */
const pushFails = (code: string) =>
  all(
    server((origin) => ({
      require_pushed_authorization_requests: true,
      pushed_authorization_request_endpoint: `${origin}/as/par`,
    })),
    handler("POST /as/par", error(400, code)),
  );

const ROWS: Rows = {
  "a registration without the secret of its method": [
    "error registration_differs",
    /"token_endpoint_auth_method": "client_secret_basic"/,
    all(
      server({
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
      }),
      members("/as/register", BASIC),
    ),
    { verdict: "needs_client client" },
  ],
  "a registration of another method than none, without a secret": [
    "warning registration_differs",
    /"token_endpoint_auth_method": "client_secret_basic"/,
    members("/as/register", BASIC),
  ],
  "a registration that is refused because of its scope": [
    "warning registration_differs",
    /HTTP status 400[^]*invalid_client_metadata/,
    handler(
      "POST /as/register",
      async (request, usual) =>
        (await request.json()).scope === undefined
          ? await usual(request)
          : error(400, "invalid_client_metadata")(),
    ),
  ],
  "a registration without the grant type refresh_token": [
    "warning registration_differs",
    /"grant_types": \[\s*"authorization_code"\s*\]/,
    members("/as/register", { grant_types: ["authorization_code"] }),
  ],
  "a registration that is refused": [
    "error request_failed",
    /invalid_redirect_uri/,
    handler("POST /as/register", error(400, "invalid_redirect_uri")),
    { verdict: "needs_client client" },
  ],

  "a user who refuses": [
    "error authorization_denied",
    /"error": "access_denied"/,
    members("/as/authorize", { code: undefined, error: "access_denied" }),
  ],
  "an authorization request that is refused": [
    "error request_failed",
    /"error": "invalid_scope"/,
    members("/as/authorize", { code: undefined, error: "invalid_scope" }),
  ],
  "a server that rejects the resource parameter": [
    "error request_failed",
    /"error": "invalid_target"/,
    members("/as/authorize", { code: undefined, error: "invalid_target" }),
    { verdict: "needs_option resourceIndicator" },
  ],
  "the iss of an upstream": [
    "error authorization_response_issuer",
    /"iss": "https:\/\/upstream\.example"/,
    members("/as/authorize", { iss: "https://upstream.example" }),
    { verdict: "needs_option trustedIssuers" },
  ],
  "no iss, though it is promised": [
    "error authorization_response_issuer",
    /"code": "\[hidden\]"/,
    members("/as/authorize", { iss: undefined }),
  ],
  "another state": [
    "error request_failed",
    /"state": "\[hidden\]"/,
    members("/as/authorize", { state: "other" }),
  ],
  "no state": [
    "error authorization_response_state",
    /"code": "\[hidden\]"/,
    members("/as/authorize", { state: undefined }),
  ],
  "a user who does not come back, and a page with an error": [
    "error authorization_without_response",
    /HTTP status 400/,
    handler("GET /as/authorize", page(400)),
    { signIn: absent },
  ],
  "a user who does not come back": [
    "error authorization_without_response",
    /^$/,
    handler("GET /as/authorize", page(200)),
    { signIn: absent },
  ],
  "a pushed request that is refused": [
    "error request_failed, info pushed_requests_required",
    /"error": "invalid_request"/,
    pushFails("invalid_request"),
  ],
  "a pushed request that is denied": [
    "error request_failed, info pushed_requests_required",
    /"error": "access_denied"/,
    pushFails("access_denied"),
  ],
  "a pushed request that lacks a DPoP proof (atproto)": [
    "error dpop_required, info pushed_requests_required",
    /"error": "invalid_dpop_proof"/,
    pushFails("invalid_dpop_proof"),
    { verdict: "needs_option dpop" },
  ],
  "a device authorization that is refused": [
    "error request_failed",
    /"error": "unauthorized_client"/,
    handler("POST /as/device", error(400, "unauthorized_client")),
    { signIn: DEVICE },
  ],
  "a device flow without an endpoint for it": [
    "error request_failed",
    /"device_authorization_endpoint" is absent/,
    server({ device_authorization_endpoint: undefined }),
    { signIn: DEVICE },
  ],

  "a token endpoint that returns a page": [
    "error request_failed",
    /HTTP status 200[^]*text\/html[^]*<!doctype html>/,
    handler("POST /as/token", page(200)),
  ],
  "a firewall before the token endpoint": [
    "error blocked_by_firewall",
    /HTTP status 403[^]*<!doctype html>/,
    handler("POST /as/token", page(403)),
  ],
  "a token endpoint with status 500": [
    "error request_failed",
    /HTTP status 500/,
    handler("POST /as/token", empty(500)),
  ],
  "Basic credentials that are not decoded": [
    "warning basic_not_decoded",
    /"access_token": "\[hidden\]"/,
    all(
      members("/as/register", { ...BASIC, client_secret: SECRET }),
      handler(
        "POST /as/token",
        (request, usual) =>
          request.headers.get("Authorization") ===
              `Basic ${btoa(`client-1:${SECRET}`)}`
            ? usual(request)
            : error(401, "invalid_client")(),
      ),
    ),
  ],
  "an ID token of another issuer": [
    "warning id_token_invalid",
    /"id_token": "\[hidden\]"/,
    members("/as/token", { id_token: FOREIGN_ID_TOKEN }),
  ],
  "an ID token of another issuer, which the caller has requested": [
    "error id_token_invalid",
    /"id_token": "\[hidden\]"/,
    all(
      server({ scopes_supported: ["read", "openid"] }),
      members("/as/token", {
        scope: "read openid",
        id_token: FOREIGN_ID_TOKEN,
      }),
    ),
    { signIn: { scopes: ["openid", "read"] } },
  ],
  "a token with fewer scopes": [
    "warning scope_narrowed",
    /"scope": "other"/,
    all(
      members("/as/token", { scope: "other" }),
      members("/as/token refresh", { scope: "other" }),
    ),
  ],
  "no refresh token": [
    "warning refresh_token_missing",
    /"token_type": "Bearer"/,
    withoutRefreshToken("/as/token"),
  ],
  "a resource that refuses the token": [
    "error token_refused",
    /www-authenticate: Bearer error="invalid_token"/,
    called(401, 'Bearer error="invalid_token", error_description="wrong aud"'),
  ],
  "a resource that requires more scopes": [
    "warning call_forbidden",
    /www-authenticate: Bearer error="insufficient_scope"/,
    called(403, 'Bearer error="insufficient_scope", scope="write"'),
  ],
  "a resource that requires another sign-in (RFC 9470)": [
    "warning call_forbidden",
    /error="insufficient_user_authentication", acr_values="phr"/,
    called(
      401,
      'Bearer error="insufficient_user_authentication", acr_values="phr"',
    ),
  ],
  "a status that a token turns into 200 (OAuth::Lite2)": [
    "warning no_401, warning dead_access_token_error",
    /^HTTP status 400/,
    status(400),
    { verdict: "needs_option tokenRequired" },
  ],
  "a resource that fails with the token": [
    "error request_failed",
    /HTTP status 502/,
    called(502),
  ],

  "a dead access token as 500 (the demo of the MCP SDK)": [
    "warning dead_access_token_error",
    /HTTP status 500/,
    deadCalls(500),
  ],
  "a dead access token as 403 with invalid_token": [
    "",
    /^$/,
    deadCalls(403, 'Bearer error="invalid_token"'),
  ],
  "a refresh token that is refused": [
    "error request_failed",
    /"error": "unauthorized_client"/,
    refreshes(false, error(400, "unauthorized_client")),
  ],
  "a refresh token that stays the same": [
    "warning refresh_token_not_rotated",
    /"expires_in": 3600/,
    withoutRefreshToken("/as/token refresh"),
  ],
  "a dead refresh token as 500": [
    "warning dead_refresh_token_error",
    /HTTP status 500/,
    refreshes(true, empty(500)),
  ],
  "an old refresh token as 500": [
    "warning dead_refresh_token_error",
    /HTTP status 500[^]*server_error/,
    refreshes(true, error(500, "server_error")),
  ],
  "no revocation endpoint": [
    "info no_revocation",
    /"revocation_endpoint" is absent/,
    server({ revocation_endpoint: undefined }),
  ],
  "a revocation that fails": [
    "warning request_failed",
    /HTTP status 503/,
    handler("POST /as/revoke", empty(503)),
  ],
  "a revocation of refresh tokens alone (oidc-provider)": [
    "info no_revocation",
    /"error": "unsupported_token_type"/,
    keepsAccessTokens,
  ],
  "a revocation without an effect": [
    "warning no_revocation",
    /"refresh_token": "\[hidden\]"/,
    handler("POST /as/revoke", empty(200)),
  ],
};

/** What a receiver rejects with when no one comes. */
for (
  const [name, [found, excerpt, change, more = {}]] of Object.entries(ROWS)
) {
  const { findings, verdict, options } = outcome(found, more.verdict);
  Deno.test(`diagnose() signs in and finds ${name}`, async () => {
    const diagnosis = await signedIn(change, more.signIn);
    assertEquals(diagnosis.ids, findings);
    assertEquals(diagnosis.verdict, verdict);
    assertEquals(diagnosis.options?.map(({ name }) => name), options);
    const { steps, model } = diagnosis;
    for (const finding of diagnosis.findings) {
      const { message, operator, url, step = -1 } = finding;
      assert(/[.)]$/.test(message) && !message.includes(".."), message);
      assert(operator.endsWith("."));
      assertEquals(steps[step]?.url, url);
    }
    assertMatch(diagnosis.findings[0]?.excerpt ?? "", excerpt);
    const text = JSON.stringify({ ...diagnosis, model: undefined });
    for (const secret of model.tokens.issued) assert(!text.includes(secret));
    assertEquals(JSON.parse(text).verdict, verdict);
    // Whatever happens, no refresh token stays valid that could be revoked.
    const mayStay = /revocation|dead|replaced|registration/.test(name);
    if (!mayStay) assertEquals(model.tokens.refresh.size, 0);
  });
}

Deno.test("diagnose() shows the hint for a refused request as the error of the library has it", async () => {
  const refusal = { code: undefined, error: "invalid_target" };
  const { findings } = await signedIn(members("/as/authorize", refusal));
  assertEquals(findings[0]?.hints, [RESOURCE_HINT]);
});

Deno.test("diagnose() says what a server may be after that responds for another", async () => {
  const { findings: [first] } = await signedIn(
    members("/as/authorize", { iss: "https://upstream.example" }),
  );
  assertMatch(
    first?.client ?? "",
    / may be trying to steal its codes and tokens/,
  );
});

Deno.test("diagnose() finds a certificate that has expired at the token endpoint", async () => {
  const { ids, findings } = await signedIn(
    server({ token_endpoint: "https://127.0.0.1:1/token" }),
    {},
    (url, init) => {
      if (!url.startsWith("https:")) return fetch(url, init);
      const message = "invalid peer certificate: certificate expired";
      return Promise.reject(new TypeError(message));
    },
  );
  assertEquals(ids, ["error no_response"]);
  assertEquals(findings[0]?.url, "https://127.0.0.1:1/token");
});

Deno.test("diagnose() shows what the resource returns without a token, after a sign-in as well", async () => {
  const { findings, steps } = await signedIn(({ resource }) => {
    resource.headers["WWW-Authenticate"] = "Basic";
  });
  const found = findings.find(({ id }) => id === "no_challenge");
  assertEquals([found?.step, steps[0]?.status], [0, 401]);
  assertMatch(found?.excerpt ?? "", /^HTTP status 401/);
});

Deno.test("diagnose() says until when an access token is valid that the server does not revoke", async () => {
  const rows: [seconds: number | undefined, words: string][] = [
    [7_200, "for 2 hours"],
    [undefined, "until it expires"],
  ];
  await eachRowInTurn(rows, async ([expires_in, words]) => {
    const diagnosis = await signedIn(all(
      keepsAccessTokens,
      members("/as/token refresh", { expires_in }),
    ));
    assertEquals(diagnosis.signIn?.revocation, "refresh_token_only");
    const kept = `the access token stays valid ${words}`;
    assertStringIncludes(
      diagnosis.summary,
      `Its refresh token is revoked; ${kept}.`,
    );
    const rows = Object.fromEntries(factRows(diagnosis, LIBRARY_WORDS));
    assertEquals(rows.Revocation, `only the refresh token; ${kept}`);
  });
});

Deno.test("diagnose() says that a revocation had no effect", async () => {
  const { signIn, summary } = await signedIn(
    handler("POST /as/revoke", empty(200)),
  );
  assertEquals(signIn?.revocation, "without_effect");
  assertMatch(summary, /The tokens of this diagnosis are not revoked\.$/);
});

Deno.test("diagnose() lists a page in place of JSON as a page", async () => {
  const plain = () => new Response("{", { headers: { "Content-Type": "x/y" } });
  const rows: [
    name: string,
    path: string,
    respond: () => Response,
    result: string,
    signIn?: Parameters<typeof signedIn>[1],
  ][] = [
    ["registration", "/as/register", page(200), "a page"],
    ["token", "/as/token", page(200), "a page"],
    ["token", "/as/token", plain, "no JSON"],
    ["device_authorization", "/as/device", page(200), "a page", DEVICE],
  ];
  await eachRowInTurn(rows, async ([name, path, respond, result, signIn]) => {
    const { steps } = await signedIn(handler(`POST ${path}`, respond), signIn);
    const step = steps.find((one) => one.name === name);
    assertEquals([step?.status, step?.result], [200, result]);
  });
  // GitHub issues tokens as a form.
  const { steps } = await signedIn(
    handler("POST /as/token", async (request, usual) => {
      const members = await (await usual(request)).json();
      return new Response(new URLSearchParams(members));
    }),
  );
  assertEquals(steps.find(({ name }) => name === "token")?.result, "token");
});

Deno.test("diagnose() finds a firewall before the metadata", async () => {
  const { ids } = await signedIn(
    inPlace("<!doctype html>", { status: 403, headers: HTML }),
  );
  assertEquals(ids.filter((one) => one.includes("firewall")), [
    "warning blocked_by_firewall",
  ]);
});

Deno.test("diagnose() cautions against an upstream's iss in place of advice to trust it", async () => {
  const { summary, model } = await signedIn(
    members("/as/authorize", { iss: "https://upstream.example" }),
  );
  assertStringIncludes(
    summary,
    "A server that claims another server's identity may be trying to steal codes and " +
      "tokens. Only if you know that both are the same server, trust the claimed " +
      "issuer.",
  );
  assert(!summary.includes("continues"), summary);
  assert(!summary.includes("upstream.example"), summary);
  assertEquals(model.tokens.access(), []);
});
