/** What people suffer from at the token endpoint; the numbers are ROAD.md's. */

import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { SignJWT } from "jose";
import {
  buildAuthorizationCodeBody,
  buildClientCredentialsBody,
  clientSecretBasic,
  discoverAuthorization,
  fetchDeviceAuthorization,
  fetchToken,
  isTokenExpired,
  type IToken,
  OAuthClientError,
  pollDeviceToken,
  registerClient,
} from "../../mod.ts";
import {
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  REGISTRATION_ENDPOINT,
  SERVER,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import {
  type Answer,
  FORM,
  json,
  never,
  redirect,
  stubFetch,
  typed,
} from "../support/stub_fetch.ts";

const BODY = buildAuthorizationCodeBody({
  code: "c",
  redirectUri: "http://127.0.0.1/",
  codeVerifier: "v",
});

/** What comes of a token request at a server like this. */
async function ask(answer: Answer): Promise<IToken & OAuthClientError> {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
  return await fetchToken(SERVER, BODY, {
    fetch: stubbed.fetch,
    now: () => 0,
  }).catch((error) => error);
}

const form = (body: string) => typed(body, `${FORM}; charset=utf-8`);

Deno.test("fetchToken() ends with the caller's reason when a server hangs (pain 8, its signal)", async () => {
  for (const answer of [never<Response>, () => hanging()]) {
    const reason = new DOMException("Signal timed out.", "TimeoutError");
    const controller = new AbortController();
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: () => {
        setTimeout(() => controller.abort(reason));
        return answer();
      },
    });
    const { fetch } = stubbed;
    const { signal } = controller;
    const failure = await assertRejects(() =>
      fetchToken(SERVER, BODY, { fetch, signal })
    );
    assertStrictEquals(failure, reason);
  }
});

/** A response whose body never comes. */
function hanging(): Response {
  return new Response(new ReadableStream());
}

Deno.test("no POST follows a redirect, so that no secret reaches another address (pain 9)", async () => {
  const client = clientSecretBasic("c1", "s");
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of ["/moved", "https://evil.example/", "http://a/"]) {
      const answer = redirect(location, status);
      using stubbed = stubFetch({
        [TOKEN_ENDPOINT]: answer,
        [REGISTRATION_ENDPOINT]: answer,
        [DEVICE_AUTHORIZATION_ENDPOINT]: answer,
      });
      const { fetch } = stubbed;
      const calls = [
        () => fetchToken(SERVER, BODY, { fetch, client }),
        () => registerClient(SERVER, {}, { fetch }),
        () => fetchDeviceAuthorization(SERVER, { fetch, client }),
      ];
      for (const call of calls) {
        const error = await assertRejects(call, OAuthClientError);
        assertEquals([error.code, error.status], ["redirect_refused", status]);
        assertInstanceOf(error.cause, OAuthClientError);
        assertEquals(error.cause.code, "redirect_refused");
      }
      assertEquals(stubbed.urls.length, 3);
      for (const { init } of stubbed.requests) {
        assertEquals(init.redirect, "manual");
      }
    }
  }
});

Deno.test("fetchToken() takes a redirect that a browser hides for a failure (pain 9)", async () => {
  const opaque = {
    status: 0,
    statusText: "",
    type: "opaqueredirect",
    ok: false,
    json: () => Promise.reject(new SyntaxError("No JSON")),
    text: () => Promise.resolve(""),
  };
  const error = await ask(() => opaque);
  assertInstanceOf(error, OAuthClientError);
  assertEquals([error.code, error.status], ["redirect_refused", 0]);
  assertInstanceOf(error.cause, OAuthClientError);
  assertEquals(
    error.cause.message,
    `Request to ${TOKEN_ENDPOINT} was redirected, and this runtime does not tell where`,
  );
});

Deno.test("discoverAuthorization() follows a GET within its origin, without end it is a failure (pain 9)", async () => {
  const api = "https://api.example";
  const prm = `${api}/.well-known/oauth-protected-resource`;
  using stubbed = stubFetch({
    [`${prm}/mcp`]: redirect(`${prm}/mcp`),
    [prm]: redirect("http://169.254.169.254/latest/meta-data"),
    [`${api}/.well-known/oauth-authorization-server`]: redirect("/as.json"),
    [`${api}/as.json`]: json({ issuer: api, token_endpoint: `${api}/token` }),
  });
  const found = await discoverAuthorization(`${api}/mcp`, {
    fetch: stubbed.fetch,
    sameOriginHeaders: { Cookie: "x" },
  });
  assertEquals(found.issuer, api);
  assertEquals(stubbed.urls.filter((url) => url === `${prm}/mcp`).length, 6);
});

const QUIRKS: [server: string, Answer, expected: Partial<IToken>][] = [
  ["LinkedIn, without a type", json({ access_token: "t", expires_in: 5 }), {
    token_type: "Bearer",
    expires_at: 5,
  }],
  [
    "Slack, with a type of its own",
    json({
      ok: true,
      access_token: "t",
      token_type: "user",
      team: { id: "T1" },
    }),
    { token_type: "user", team: { id: "T1" } },
  ],
  ["GitHub, with a form", form("access_token=t&scope=repo&token_type=bearer"), {
    scope: "repo",
    token_type: "bearer",
  }],
  [
    "one with expires_in as text",
    json({
      access_token: "t",
      expires_in: "3600",
    }),
    { expires_in: 3600, expires_at: 3600 },
  ],
  ["one that answers 201", json({ access_token: "t" }, { status: 201 }), {}],
  ["one with null members", json({ access_token: "t", refresh_token: null }), {
    refresh_token: undefined!,
  }],
  ["an exchange, with N_A", json({ access_token: "t", token_type: "N_A" }), {
    token_type: "N_A",
  }],
];

for (const [server, answer, expected] of QUIRKS) {
  Deno.test(`fetchToken() understands ${server} (pain 10)`, async () => {
    const token = await ask(answer);
    assertEquals(token.access_token, "t");
    for (const [name, value] of Object.entries(expected)) {
      assertEquals(token[name as keyof IToken], value);
    }
  });
}

Deno.test("fetchToken() sees the error of a 200 (pain 10)", async () => {
  const answers: [Answer, error: string][] = [
    [
      json({ error: "bad_verification_code", error_description: "Expired" }),
      "bad_verification_code",
    ],
    [form("error=bad_verification_code&error_uri=x"), "bad_verification_code"],
    [json({ ok: false, error: "invalid_code" }), "invalid_code"],
  ];
  for (const [answer, error] of answers) {
    const failure = await ask(answer);
    assertInstanceOf(failure, OAuthClientError);
    assertEquals([failure.code, failure.error], ["oauth_error", error]);
  }
});

Deno.test("fetchToken() asks for JSON, which GitHub needs to be told (pain 10)", async () => {
  const token = await ask(({ headers }) =>
    headers.Accept === "application/json"
      ? Response.json({ access_token: "json" })
      : new Response("access_token=form")
  );
  assertEquals(token.access_token, "json");
});

Deno.test("fetchToken() never makes 0 of an expires_in that it cannot read (pain 10)", async () => {
  for (const expires_in of ["", "never", null, [], {}, false, -1]) {
    const token = await ask(json({ access_token: "t", expires_in }));
    assertEquals(token.access_token, "t");
    assertEquals("expires_in" in token || "expires_at" in token, false);
  }
});

Deno.test("isTokenExpired() knows the end of a token that was stored (pain 11)", async () => {
  const token = await ask(json({ access_token: "t", expires_in: 3600 }));
  const stored = JSON.parse(JSON.stringify(token));
  const at = (seconds: number) =>
    isTokenExpired(stored, { now: () => seconds * 1000 });
  assertEquals([at(0), at(3_569), at(3_570), at(1e9)], [
    false,
    false,
    true,
    true,
  ]);
});

Deno.test("isTokenExpired() takes 0 for an end that has come (pain 11)", async () => {
  const token = await ask(json({ access_token: "t", expires_in: 0 }));
  assertEquals(token.expires_at, 0);
  assertEquals(isTokenExpired(token, { now: () => 0, skewSeconds: 0 }), true);
});

Deno.test("isTokenExpired() takes a hint from a JWT where the server named no end (pain 11)", async () => {
  const access_token = await new SignJWT({ exp: 100 })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
    .sign(new TextEncoder().encode("k".repeat(32)));
  const token = await ask(json({ access_token }));
  const now = () => 80_000;
  assertEquals(isTokenExpired(token, { now, readJwt: true }), true);
  assertEquals(isTokenExpired(token, { now }), false);
  const early = { now: () => 0, readJwt: true };
  assertEquals(isTokenExpired(token, early), false);
});

Deno.test("pollDeviceToken() stays slow after slow_down, so that the server stays patient (next in line)", async () => {
  let interval = 5;
  let last = 0;
  let time = 0;
  let polls = 0;
  using stubbed = stubFetch({
    [TOKEN_ENDPOINT]() {
      const isTooFast = time - last < interval;
      last = time;
      if (++polls === 2) interval += 5;
      if (isTooFast || polls === 2) {
        return Response.json({ error: "slow_down" }, { status: 400 });
      }
      return polls < 6
        ? Response.json({ error: "authorization_pending" }, { status: 400 })
        : Response.json({ access_token: "t" });
    },
  });
  const token = await pollDeviceToken(SERVER, {
    ...DEVICE_AUTHORIZATION,
    expires_at: 600,
  }, {
    fetch: stubbed.fetch,
    now: () => time * 1000,
    delay(milliseconds) {
      time += milliseconds / 1000;
      return Promise.resolve();
    },
  });
  assertEquals([token.access_token, polls, time], ["t", 6, 50]);
});

Deno.test("clientSecretBasic() encodes as the standard says, or leaves as is for other servers (next in line)", async () => {
  /** Decodes the credentials as one kind of server does. */
  const serverOf = (decode: (text: string) => string): Answer => (request) => {
    const basic = request.headers.Authorization?.replace("Basic ", "") ?? "";
    const [id, secret] = atob(basic).split(":").map(decode);
    return id === "c+1%" && secret === "s /?&="
      ? Response.json({ access_token: "t" })
      : Response.json({ error: "invalid_client" }, { status: 401 });
  };
  const strict = serverOf((text) =>
    new URLSearchParams(`x=${text}`).get("x") ?? ""
  );
  const literal = serverOf((text) => text);
  const rows: [Answer, formEncode: boolean | undefined, isTaken: boolean][] = [
    [strict, undefined, true],
    [strict, false, false],
    [literal, undefined, false],
    [literal, false, true],
  ];
  for (const [answer, formEncode, isTaken] of rows) {
    using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
    const { fetch } = stubbed;
    const client = clientSecretBasic("c+1%", "s /?&=", { formEncode });
    const outcome = await fetchToken(SERVER, buildClientCredentialsBody(), {
      fetch,
      client,
    }).then(() => true, (error) => error.error);
    assertEquals(outcome, isTaken ? true : "invalid_client");
  }
});
