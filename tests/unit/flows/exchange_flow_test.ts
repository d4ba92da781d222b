/** The token of a caller is exchanged at the issuer of the client, and nowhere else. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  adviceFor,
  type AuthorizedFetchOptions,
  clientSecretBasic,
  createAuthorizedFetch,
  createDpop,
  exchangeFlow,
  type ExchangeFlowOptions,
  publicClient,
  type SubjectTokenRequest,
  TOKEN_TYPE_ACCESS_TOKEN,
  TOKEN_TYPE_ID_TOKEN,
} from "../../../mod.ts";
import {
  assertRejectsCode,
  assertThrowsCode,
  pinRejected,
  unverifiedJwt,
} from "../../support/fixtures.ts";

const TYPE_JWT = "urn:ietf:params:oauth:token-type:jwt";
const issuer = "https://as.example";
const api = "https://down.example/v1";
const client = clientSecretBasic("gateway", "s3cret", { issuer });
const START = Date.UTC(2026, 0);

interface WorldOptions {
  /** What the server answers instead of a token, by the subject token. */
  refusals?: Record<string, [status: number, error: string]>;
  members?: Record<string, unknown>;
  /** The issuer in the metadata of the API. */
  named?: string;
}

/** A server that exchanges tokens, and the API behind it. */
function world({ refusals = {}, members, named = issuer }: WorldOptions = {}) {
  const forms: Record<string, string>[] = [];
  const subjects = new Map<string, string>();
  const clock = { now: START };
  const required = { scope: "", acr: "" };
  const respond = async (request: Request) => {
    const { pathname, origin } = new URL(request.url);
    if (request.url === api) {
      const [, token = ""] = request.headers.get("Authorization")?.split(" ") ??
        [];
      const subject = subjects.get(token);
      const { scope, acr } = required;
      if (acr && subject && subject !== acr) {
        const challenge =
          `Bearer error="insufficient_user_authentication", acr_values="${acr}"`;
        const headers = { "WWW-Authenticate": challenge };
        return new Response(null, { status: 401, headers });
      }
      const isLacking = subject !== undefined &&
        !forms.at(-1)!.scope!.includes(scope);
      if (subject && !isLacking) return new Response(subject);
      const challenge = isLacking
        ? `Bearer error="insufficient_scope", scope="${scope}"`
        : "Bearer";
      return new Response(null, {
        status: isLacking ? 403 : 401,
        headers: { "WWW-Authenticate": challenge },
      });
    }
    if (origin === new URL(api).origin) {
      return Response.json({ resource: api, authorization_servers: [named] });
    }
    if (pathname !== "/token") {
      return Response.json({
        issuer: origin,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
      });
    }
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    forms.push(form);
    const subject = form.subject_token ?? "";
    const [status, error] = refusals[subject] ?? [];
    if (status) return Response.json({ error }, { status });
    const access_token = `down-${forms.length}`;
    subjects.set(access_token, subject);
    return Response.json({
      access_token,
      refresh_token: "outlasts-the-caller",
      token_type: request.headers.has("DPoP") ? "DPoP" : "Bearer",
      expires_in: 300,
      issued_token_type: TOKEN_TYPE_ACCESS_TOKEN,
      ...members,
    });
  };
  const open = (
    flow: Partial<ExchangeFlowOptions>,
    options: AuthorizedFetchOptions = {},
  ) =>
    createAuthorizedFetch(api, {
      fetch: (input, init) => respond(new Request(input, init)),
      now: () => clock.now,
      signInOn: "signIn",
      flow: exchangeFlow({
        client,
        getSubjectToken: () => "of-ann",
        scopes: ["read"],
        ...flow,
      }),
      ...options,
    });
  return { forms, subjects, clock, required, open };
}

Deno.test("exchangeFlow() exchanges the token of the caller, without a user", async () => {
  const { forms, open } = world();
  const down = open({
    getActorToken: () => ({ token: "of-us", type: TYPE_JWT }),
    audience: "down",
    parameters: { tenant: "t1" },
  });
  assertEquals(await (await down(api)).text(), "of-ann");
  assertEquals(forms, [{
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: "of-ann",
    subject_token_type: TOKEN_TYPE_ACCESS_TOKEN,
    requested_token_type: TOKEN_TYPE_ACCESS_TOKEN,
    actor_token: "of-us",
    actor_token_type: TYPE_JWT,
    audience: "down",
    resource: api,
    scope: "read",
    tenant: "t1",
  }]);
});

Deno.test("exchangeFlow() sends the types of the tokens, and no resource if it is false", async () => {
  const { forms, open } = world();
  await open({
    getSubjectToken: () => ({ token: "of-ann", type: TOKEN_TYPE_ID_TOKEN }),
    getActorToken: () => Promise.resolve("of-us"),
    resourceIndicator: false,
  }).signIn();
  const [{ subject_token_type, actor_token_type, resource } = {}] = forms;
  assertEquals([subject_token_type, actor_token_type, resource], [
    TOKEN_TYPE_ID_TOKEN,
    TOKEN_TYPE_ACCESS_TOKEN,
    undefined,
  ]);
});

Deno.test("exchangeFlow() keeps no refresh token, and exchanges a new token of the caller at expiry and after a 401", async () => {
  const { forms, subjects, clock, open } = world();
  let asked = 0;
  const down = open({ getSubjectToken: () => `of-ann-${++asked}` });
  await Promise.all([down(api), down(api), down(api)]);
  assertEquals((await down.session())?.token.refresh_token, undefined);
  clock.now += 301_000;
  assertEquals((await down(api)).status, 200);
  subjects.clear();
  assertEquals((await down(api)).status, 200);
  assertEquals(
    forms.map(({ grant_type, subject_token }) => [
      grant_type?.split(":").at(-1),
      subject_token,
    ]),
    [1, 2, 3].map((n) => ["token-exchange", `of-ann-${n}`]),
  );
});

Deno.test("exchangeFlow() returns the 401 of an API that refuses each token, after a few exchanges", async () => {
  const { forms, subjects, open } = world();
  const down = open({});
  subjects.set = () => subjects;
  for (const exchanges of [1, 2, 3]) {
    assertEquals((await down(api)).status, 401);
    assertEquals(forms.length, exchanges);
  }
});

Deno.test("exchangeFlow() requests the scopes that the API requires as well", async () => {
  const { forms, required, open } = world();
  const down = open({});
  assertEquals((await down(api)).status, 200);
  required.scope = "write";
  assertEquals((await down(api)).status, 200);
  assertEquals(forms.map(({ scope }) => scope), ["read", "read write"]);
});

Deno.test("exchangeFlow() binds the token to a DPoP key", async () => {
  const { open } = world();
  const dpop = await createDpop();
  const down = open({}, { dpop });
  assertEquals((await down(api)).status, 200);
  assertEquals((await down.session())?.dpopThumbprint, dpop.thumbprint);
});

Deno.test("exchangeFlow() does not send a token of the caller that has expired", async () => {
  const { forms, clock, open } = world();
  const exp = START / 1000 + 600;
  const token = unverifiedJwt({ sub: "ann", exp });
  const down = open({ getSubjectToken: () => token });
  assertEquals((await down(api)).status, 200);
  clock.now += 599_000;
  assertEquals((await down(api)).status, 200);
  clock.now += 1_000_000;
  for (let call = 0; call < 3; call++) {
    const error = await pinRejected(() => down(api), "expired");
    assertEquals(adviceFor(error), { action: "reauthorize" });
  }
  assertEquals(forms.length, 2);
});

Deno.test("exchangeFlow() throws the refusal of the server, and sends one request for each call", async () => {
  for (
    const [status, error, action] of [
      // Entra; Keycloak, as RFC 8693, section 2.2.2 has it, also for a wrong request.
      [400, "invalid_grant", "reauthorize"],
      [400, "interaction_required", "reauthorize"],
      [400, "invalid_request", "give_up"],
      [400, "invalid_target", "give_up"],
      [403, "access_denied", "give_up"],
      [401, "invalid_client", "give_up"],
    ] as const
  ) {
    const { forms, subjects, open } = world({
      refusals: { "ended": [status, error] },
    });
    let token = "ended";
    const down = open({ getSubjectToken: () => token });
    for (const sent of [1, 2]) {
      const failure = await assertRejectsCode(() => down(api), "oauth_error");
      assertEquals([failure.error, failure.request], [error, "assertion"]);
      assertEquals(adviceFor(failure), { action }, error);
      assertEquals(forms.length, sent);
    }
    token = "of-ann";
    assertEquals(await (await down(api)).text(), "of-ann");
    // The token for the API has not expired, and the API refuses it.
    token = "ended";
    subjects.clear();
    await assertRejectsCode(() => down(api), "oauth_error");
    assertEquals(forms.length, 4);
  }
});

Deno.test("exchangeFlow() sends no result of getSubjectToken that is no token, and does not show it", async () => {
  const rows = ["", "Bearer s3cret", undefined, {}, { token: "a s3cret" }, 7];
  for (const result of rows) {
    const { open, forms } = world();
    const down = open({ getSubjectToken: () => result as string });
    await pinRejected(() => down(api), "invalid_argument");
    assertEquals(forms, []);
  }
});

Deno.test("exchangeFlow() throws what getSubjectToken throws, and passes on what the API requires of the user", async () => {
  const { forms, open } = world();
  const failure = new Error("the caller has gone");
  const down = open({ getSubjectToken: () => Promise.reject(failure) });
  assertEquals(await assertRejects(() => down(api)), failure);
  assertEquals(forms, []);

  const stepped = world();
  stepped.required.acr = "mfa";
  const byPassword = ({ acrValues }: SubjectTokenRequest) =>
    acrValues ?? "password";
  const response = await stepped.open({ getSubjectToken: byPassword })(api);
  assertEquals(await response.text(), "mfa");
});

Deno.test("exchangeFlow() accepts no other type of token", async () => {
  for (
    const members of [
      { issued_token_type: TOKEN_TYPE_ID_TOKEN, token_type: "N_A" },
      { issued_token_type: undefined },
    ]
  ) {
    const { open } = world({ members });
    await assertRejectsCode(() => open({})(api), "invalid_response");
  }
});

Deno.test("exchangeFlow() requires a client with its issuer, and functions", () => {
  const getSubjectToken = () => "t";
  const unbound = [
    clientSecretBasic("c", "s"),
    publicClient("c"),
    { client_id: "c" },
    undefined,
  ];
  for (const client of unbound as ExchangeFlowOptions["client"][]) {
    const create = () => exchangeFlow({ client, getSubjectToken });
    assertThrowsCode(create, "invalid_argument");
  }
  const getActorToken = "t" as unknown as () => string;
  const wrong = [{ client }, { client, getSubjectToken, getActorToken }];
  for (const options of [undefined, ...wrong]) {
    const create = () => exchangeFlow(options as ExchangeFlowOptions);
    assertThrowsCode(create, "invalid_argument");
  }
});

Deno.test("exchangeFlow() sends the token of the caller to no server that only the API names", async () => {
  const named = "https://mallory.example";
  for (const bound of [client, publicClient("c", { issuer })]) {
    const { forms, open } = world({ named });
    let asked = 0;
    const down = open({ client: bound, getSubjectToken: () => `${++asked}` });
    await assertRejectsCode(() => down(api), "issuer_mismatch");
    assertEquals([forms, asked], [[], 0]);
  }
});

Deno.test("exchangeFlow() puts no token of the caller into an error", async () => {
  const token = "secret-of-the-caller";
  const { open } = world({ refusals: { [token]: [400, token] } });
  const error = await assertRejectsCode(
    () => open({ getSubjectToken: () => token })(api),
    "oauth_error",
  );
  assert(!JSON.stringify(error).includes(token), error.message);
});
