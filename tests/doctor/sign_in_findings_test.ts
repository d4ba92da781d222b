/** One deviation for each finding of a sign-in. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { encodeBase64Url } from "@std/encoding/base64url";
import { OAuthClientError } from "../../mod.ts";
import { type ISignInModel, signedIn } from "./_sign_in_world.ts";
import { served } from "./_world.ts";

interface IRow {
  readonly name: string;
  /** All findings, as `severity id`. */
  readonly findings: readonly string[];
  readonly verdict: string;
  /** What the excerpt of the first finding shows. */
  readonly excerpt: RegExp;
  readonly options?: readonly string[];
  readonly signIn?: Parameters<typeof signedIn>[1];
  readonly change: (model: ISignInModel) => void;
}

const HTML = { "Content-Type": "text/html; charset=utf-8" };

const page = (status: number) => () =>
  new Response("<!doctype html><title>Page</title>", { status, headers: HTML });

const error = (status: number, name: string) => () =>
  Response.json({ error: name }, { status });

/** Changes the members of a response. */
const members =
  (path: string, change: Record<string, unknown>) =>
  ({ changes }: ISignInModel) => {
    changes[path] = (response) => Object.assign(response, change);
  };

const handler =
  (path: string, respond: (request: Request) => Response | Promise<Response>) =>
  ({ handlers }: ISignInModel) => void (handlers[path] = respond);

/** Replaces the responses to refreshes, or to those with a token that is not valid. */
const refreshes =
  (isDead: boolean, respond: () => Response) =>
  ({ handlers, tokens }: ISignInModel) => {
    const { "POST /as/token": token } = handlers;
    handlers["POST /as/token"] = async (request) => {
      const form = new URLSearchParams(await request.text());
      const value = form.get("refresh_token");
      const matches = value !== null && tokens.refresh.has(value) !== isDead;
      return matches ? respond() : await token!(request);
    };
  };

function idToken(claims: Record<string, unknown>): string {
  const part = (value: unknown) => encodeBase64Url(JSON.stringify(value));
  const now = Math.floor(Date.now() / 1000);
  return [
    part({ alg: "none" }),
    part({ sub: "s", aud: "client-1", iat: now, exp: now + 60, ...claims }),
    "x",
  ].join(".");
}

const ROWS: readonly IRow[] = [
  {
    name: "a registration without the secret of its method",
    findings: [
      "error registration_without_secret",
      "info public_client_not_listed",
    ],
    verdict: "needs_client",
    options: ["client"],
    excerpt: /"token_endpoint_auth_method": "client_secret_basic"/,
    change: (model) => {
      model.serverMetadata.token_endpoint_auth_methods_supported = [
        "client_secret_basic",
      ];
      members("/as/register", {
        token_endpoint_auth_method: "client_secret_basic",
      })(model);
    },
  },
  {
    name: "a registration of another method than none, without a secret",
    findings: ["warning registration_without_secret"],
    verdict: "ready",
    excerpt: /"token_endpoint_auth_method": "client_secret_basic"/,
    change: members("/as/register", {
      token_endpoint_auth_method: "client_secret_basic",
    }),
  },
  {
    name: "a registration with a secret that was not requested",
    findings: ["info registration_secret_unrequested"],
    verdict: "ready",
    excerpt: /"client_secret": "\[hidden\]"/,
    change: members("/as/register", {
      token_endpoint_auth_method: "client_secret_post",
      client_secret: "s3cret-of-client",
    }),
  },
  {
    name: "a registration that is refused because of its scope",
    findings: ["warning registration_scope_refused"],
    verdict: "ready",
    excerpt: /HTTP status 400[^]*invalid_client_metadata/,
    change: (model) => {
      const { "POST /as/register": register } = model.handlers;
      handler(
        "POST /as/register",
        async (request) =>
          (await request.json()).scope === undefined
            ? await register!(request)
            : error(400, "invalid_client_metadata")(),
      )(model);
    },
  },
  {
    name: "a registration for fewer scopes",
    findings: ["warning registration_scope_narrowed"],
    verdict: "ready",
    excerpt: /"scope": "write"/,
    change: members("/as/register", { scope: "write" }),
  },
  {
    name: "a registration without the grant type refresh_token",
    findings: ["warning refresh_grant_not_registered"],
    verdict: "ready",
    excerpt: /"grant_types": \[\s*"authorization_code"\s*\]/,
    change: members("/as/register", { grant_types: ["authorization_code"] }),
  },
  {
    name: "a registration that is refused",
    findings: ["error registration_failed"],
    verdict: "needs_client",
    options: ["client"],
    excerpt: /invalid_redirect_uri/,
    change: handler("POST /as/register", error(400, "invalid_redirect_uri")),
  },
  {
    name: "a user who refuses",
    findings: ["info authorization_denied"],
    verdict: "ready",
    excerpt: /"error": "access_denied"/,
    change: members("/as/authorize", {
      code: undefined,
      error: "access_denied",
    }),
  },
  {
    name: "an authorization request that is refused",
    findings: ["error authorization_failed"],
    verdict: "broken",
    excerpt: /"error": "invalid_scope"/,
    change: members("/as/authorize", {
      code: undefined,
      error: "invalid_scope",
    }),
  },
  {
    name: "a server that rejects the resource parameter",
    findings: ["error authorization_failed"],
    verdict: "needs_option",
    options: ["resource"],
    excerpt: /"error": "invalid_target"/,
    change: members("/as/authorize", {
      code: undefined,
      error: "invalid_target",
    }),
  },
  {
    name: "the iss of an upstream",
    findings: ["error authorization_response_issuer"],
    verdict: "needs_option",
    options: ["trustedIssuers"],
    excerpt: /"iss": "https:\/\/upstream\.example"/,
    change: members("/as/authorize", { iss: "https://upstream.example" }),
  },
  {
    name: "no iss, though it is promised",
    findings: ["error authorization_response_without_iss"],
    verdict: "broken",
    excerpt: /"code": "\[hidden\]"/,
    change: members("/as/authorize", { iss: undefined }),
  },
  {
    name: "another state",
    findings: ["error authorization_response_invalid"],
    verdict: "broken",
    excerpt: /"state": "\[hidden\]"/,
    change: members("/as/authorize", { state: "other" }),
  },
  {
    name: "a user who does not come back, and a page with an error",
    findings: ["error authorization_without_response"],
    verdict: "broken",
    excerpt: /HTTP status 400/,
    signIn: { visit: () => Promise.reject(timeout()) },
    change: handler("GET /as/authorize", page(400)),
  },
  {
    name: "a user who does not come back",
    findings: ["warning authorization_without_response"],
    verdict: "ready",
    excerpt: /^$/,
    signIn: { visit: () => Promise.reject(timeout()) },
    change: handler("GET /as/authorize", page(200)),
  },
  {
    name: "a pushed request that is refused",
    findings: ["error pushed_request_failed", "info pushed_requests_required"],
    verdict: "broken",
    excerpt: /"error": "invalid_request"/,
    change: (model) => {
      const { serverMetadata, origin } = model;
      serverMetadata.require_pushed_authorization_requests = true;
      serverMetadata.pushed_authorization_request_endpoint = `${origin}/as/par`;
      handler("POST /as/par", error(400, "invalid_request"))(model);
    },
  },
  {
    name: "a device authorization that is refused",
    findings: ["error device_authorization_failed"],
    verdict: "broken",
    excerpt: /"error": "unauthorized_client"/,
    signIn: { visit: undefined, show() {} } as never,
    change: handler("POST /as/device", error(400, "unauthorized_client")),
  },
  {
    name: "a token endpoint that returns a page",
    findings: ["error token_endpoint_html"],
    verdict: "broken",
    excerpt: /HTTP status 200[^]*text\/html[^]*<!doctype html>/,
    change: handler("POST /as/token", page(200)),
  },
  {
    name: "a firewall before the token endpoint",
    findings: ["error blocked_by_firewall"],
    verdict: "broken",
    excerpt: /HTTP status 403[^]*<!doctype html>/,
    change: handler("POST /as/token", page(403)),
  },
  {
    name: "a token endpoint with status 500",
    findings: ["error token_request_failed"],
    verdict: "broken",
    excerpt: /HTTP status 500/,
    change: handler("POST /as/token", () => new Response("", { status: 500 })),
  },
  {
    name: "Basic credentials that are not decoded",
    findings: [
      "warning basic_not_decoded",
      "info registration_secret_unrequested",
    ],
    verdict: "ready",
    excerpt: /"access_token": "\[hidden\]"/,
    change: (model) => {
      const { handlers } = model;
      const { "POST /as/token": token } = handlers;
      members("/as/register", {
        token_endpoint_auth_method: "client_secret_basic",
        client_secret: "s3cret+/with=signs",
      })(model);
      const plain = `Basic ${btoa("client-1:s3cret+/with=signs")}`;
      handlers["POST /as/token"] = (request) =>
        request.headers.get("Authorization") === plain
          ? token!(request)
          : error(401, "invalid_client")();
    },
  },
  {
    name: "an ID token of another issuer",
    findings: ["warning id_token_invalid"],
    verdict: "ready",
    excerpt: /"id_token": "\[hidden\]"/,
    change: members("/as/token", {
      id_token: idToken({ iss: "https://upstream.example" }),
    }),
  },
  {
    name: "an ID token of another issuer, which the caller has requested",
    findings: ["error id_token_invalid"],
    verdict: "broken",
    excerpt: /"id_token": "\[hidden\]"/,
    signIn: { scopes: ["openid", "read"] },
    change: (model) => {
      model.serverMetadata.scopes_supported = ["read", "openid"];
      members("/as/token", {
        scope: "read openid",
        id_token: idToken({ iss: "https://upstream.example" }),
      })(model);
    },
  },
  {
    name: "a token without a type",
    findings: ["warning token_type_missing"],
    verdict: "ready",
    excerpt: /"expires_in": 3600/,
    change: members("/as/token", { token_type: null }),
  },
  {
    name: "a token without a lifetime",
    findings: ["info expires_in_missing"],
    verdict: "ready",
    excerpt: /"token_type": "Bearer"/,
    change: members("/as/token", { expires_in: null }),
  },
  {
    name: "a token with fewer scopes",
    findings: ["warning scope_narrowed"],
    verdict: "ready",
    excerpt: /"scope": "other"/,
    change: (model) => {
      members("/as/token", { scope: "other" })(model);
      members("/as/token refresh", { scope: "other" })(model);
    },
  },
  {
    name: "no refresh token",
    findings: ["warning refresh_token_missing"],
    verdict: "ready",
    excerpt: /"token_type": "Bearer"/,
    change: ({ changes, tokens }) => {
      changes["/as/token"] = (response) => {
        tokens.refresh.clear();
        delete response.refresh_token;
      };
    },
  },
  {
    name: "a resource that refuses the token",
    findings: ["error token_refused"],
    verdict: "broken",
    excerpt: /www-authenticate: Bearer error="invalid_token"/,
    change: handler("GET /mcp", ({ headers }) =>
      new Response(null, {
        status: 401,
        headers: {
          "Access-Control-Expose-Headers": "*",
          "WWW-Authenticate": headers.has("Authorization")
            ? 'Bearer error="invalid_token", error_description="wrong aud"'
            : 'Bearer scope="read", resource_metadata="' +
              `http://${
                headers.get("Host")
              }/.well-known/oauth-protected-resource/mcp"`,
        },
      })),
  },
  {
    name: "a resource that requires more scopes",
    findings: ["warning call_forbidden"],
    verdict: "ready",
    excerpt: /www-authenticate: Bearer error="insufficient_scope"/,
    change: (model) => {
      const { "GET /mcp": call } = model.handlers;
      handler(
        "GET /mcp",
        (request) =>
          request.headers.has("Authorization")
            ? new Response(null, {
              status: 403,
              headers: {
                "WWW-Authenticate":
                  'Bearer error="insufficient_scope", scope="write"',
              },
            })
            : call!(request),
      )(model);
    },
  },
  {
    name: "a resource that fails with the token",
    findings: ["error call_failed"],
    verdict: "broken",
    excerpt: /HTTP status 502/,
    change: (model) => {
      const { "GET /mcp": call } = model.handlers;
      handler(
        "GET /mcp",
        (request) =>
          request.headers.has("Authorization")
            ? new Response(null, { status: 502 })
            : call!(request),
      )(model);
    },
  },
  {
    name: "a refresh token that is refused",
    findings: ["error refresh_failed"],
    verdict: "broken",
    excerpt: /"error": "unauthorized_client"/,
    change: refreshes(false, error(400, "unauthorized_client")),
  },
  {
    name: "a refresh token that stays the same",
    findings: ["warning refresh_token_not_rotated"],
    verdict: "ready",
    excerpt: /"expires_in": 3600/,
    change: ({ changes, tokens }) => {
      changes["/as/token refresh"] = (response) => {
        tokens.refresh.clear();
        delete response.refresh_token;
      };
    },
  },
  {
    name: "a refreshed token with fewer scopes",
    findings: ["warning refresh_scope_narrowed"],
    verdict: "ready",
    excerpt: /"scope": "write"/,
    change: members("/as/token refresh", { scope: "write" }),
  },
  {
    name: "a refresh token that was replaced, and is accepted",
    findings: ["info old_refresh_token_accepted"],
    verdict: "ready",
    excerpt: /"refresh_token": "\[hidden\]"/,
    signIn: { aggressive: true },
    change: ({ tokens, handlers }) => {
      const { "POST /as/token": token, "POST /as/revoke": revoke } = handlers;
      const revoked = new Set<string | null>();
      handlers["POST /as/revoke"] = async (request) => {
        revoked.add(new URLSearchParams(await request.text()).get("token"));
        return await revoke!(request);
      };
      handlers["POST /as/token"] = async (request) => {
        const form = new URLSearchParams(await request.text());
        const value = form.get("refresh_token");
        if (value && !revoked.has(value)) tokens.refresh.add(value);
        return await token!(request);
      };
    },
  },
  {
    name: "a dead refresh token as 500",
    findings: ["warning dead_refresh_token_error"],
    verdict: "ready",
    excerpt: /HTTP status 500/,
    change: refreshes(true, () => new Response("", { status: 500 })),
  },
  {
    name: "an old refresh token as 500",
    findings: ["warning dead_refresh_token_error"],
    verdict: "ready",
    excerpt: /HTTP status 500[^]*server_error/,
    signIn: { aggressive: true },
    change: refreshes(true, error(500, "server_error")),
  },
  {
    name: "no revocation endpoint",
    findings: ["info revocation_missing"],
    verdict: "ready",
    excerpt: /"revocation_endpoint" is absent/,
    change: ({ serverMetadata }) =>
      void delete serverMetadata.revocation_endpoint,
  },
  {
    name: "a revocation that fails",
    findings: ["warning revocation_failed"],
    verdict: "ready",
    excerpt: /HTTP status 503/,
    change: handler("POST /as/revoke", () => new Response("", { status: 503 })),
  },
  {
    name: "a revocation without an effect",
    findings: ["warning revocation_without_effect"],
    verdict: "ready",
    excerpt: /"refresh_token": "\[hidden\]"/,
    change: handler("POST /as/revoke", () => new Response("")),
  },
  {
    name: "a device flow without an endpoint for it",
    findings: ["error sign_in_failed"],
    verdict: "broken",
    excerpt: /HTTP status 201/,
    signIn: { visit: undefined, show() {} } as never,
    change: ({ serverMetadata }) =>
      void delete serverMetadata.device_authorization_endpoint,
  },
];

/** What a receiver rejects with when no one comes. */
function timeout() {
  return new OAuthClientError("timeout", "No authorization response in time");
}

for (
  const { name, findings, verdict, options, excerpt, signIn, change } of ROWS
) {
  Deno.test(`diagnose() signs in and finds ${name}`, async () => {
    const diagnosis = await signedIn(change, signIn);
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

Deno.test("diagnose() finds a certificate that has expired at the token endpoint", async () => {
  const { ids, findings } = await signedIn(
    ({ serverMetadata }) => {
      serverMetadata.token_endpoint = "https://127.0.0.1:1/token";
    },
    {},
    (url, init) => {
      if (!url.startsWith("https:")) return fetch(url, init);
      const message = "invalid peer certificate: certificate expired";
      return Promise.reject(new TypeError(message));
    },
  );
  assertEquals(ids, ["error certificate_expired", "info cors"]);
  assertEquals(findings[0]?.url, "https://127.0.0.1:1/token");
});

Deno.test("diagnose() shows what the resource returns without a token, after a sign-in as well", async () => {
  const { findings, steps } = await signedIn(({ resource }) => {
    resource.headers["WWW-Authenticate"] += ', error="invalid_token"';
  });
  const found = findings.find(({ id }) => id === "challenge_error_code");
  assertEquals([found?.step, steps[0]?.status], [0, 401]);
  assertMatch(found?.excerpt ?? "", /^HTTP status 401/);
});

Deno.test("diagnose() says that a revocation had no effect", async () => {
  const { signIn, summary } = await signedIn(
    handler("POST /as/revoke", () => new Response("")),
  );
  assertEquals(signIn?.revocation, "without_effect");
  assertMatch(summary, /The tokens of this diagnosis are not revoked\.$/);
});

Deno.test("diagnose() finds a firewall before the metadata", async () => {
  const { ids } = await signedIn(({ documents }) => {
    documents["/.well-known/oauth-authorization-server/as"] = served(
      "<!doctype html>",
      { status: 403, headers: HTML },
    );
  });
  assertEquals(ids.filter((one) => one.includes("firewall")), [
    "warning blocked_by_firewall",
  ]);
});
