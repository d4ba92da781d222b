import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
} from "@std/assert";
import { createLocalJWKSet, exportJWK, jwtVerify, SignJWT } from "jose";
import {
  buildAuthorizationCodeBody,
  buildDeviceTokenBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildTokenExchangeBody,
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  fetchIdJag,
  fetchToken,
  type IAuthorizationServerMetadata,
  type IFetchTokenOptions,
  OAuthClientError,
  privateKeyJwt,
  redeemIdJag,
  refreshToken,
} from "../../../mod.ts";
import {
  AS,
  createSigningKeys,
  idJagReply,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";

/** Stands in every secret text, so that one search finds them all. */
const MARK = "hushHUSH";
const BODIES = [
  buildAuthorizationCodeBody({
    code: `code-${MARK}`,
    codeVerifier: `verifier-${MARK}`,
    redirectUri: "http://127.0.0.1/",
  }),
  buildRefreshTokenBody({ refreshToken: `refresh-${MARK}` }),
  buildDeviceTokenBody({ deviceCode: `device-${MARK}` }),
  buildJwtBearerBody({ assertion: `assertion-${MARK}` }),
  buildTokenExchangeBody({
    subjectToken: `subject-${MARK}`,
    subjectTokenType: "urn:x",
    actorToken: `actor-${MARK}`,
    actorTokenType: "urn:x",
  }),
];

/** Everything that an error says, its causes and members included. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return [
    error.message,
    JSON.stringify({ ...error }),
    cause === undefined ? "" : wordsOf(cause),
  ].join("\n");
}

/** Answers that fail; those of text repeat the request. */
const FAILURES: [name: string, Answer][] = [
  ["a lost connection", failing(new TypeError("Cable cut"))],
  ["no response", () => untyped(undefined)],
  ["a redirect", redirect("https://evil.example/")],
  ["an error", json({ error: "invalid_grant" }, { status: 400 })],
  ["an error with 200", json({ error: "x", error_description: "y" })],
  [
    "a page that repeats the request",
    ({ body, headers }) =>
      new Response(`<p>${body} ${headers.Authorization}</p>`, { status: 500 }),
  ],
  [
    "a page with 200 that repeats the request",
    ({ body }) => new Response(`<p>${body}</p>`),
  ],
  [
    "JSON that repeats the request",
    ({ body }) => Response.json(Object.fromEntries(new URLSearchParams(body))),
  ],
  [
    "broken JSON that repeats the request",
    ({ body }) => new Response(`{"access_token": "${body}`),
  ],
  [
    "an error that repeats the request",
    ({ body, headers }) =>
      Response.json({
        error: `bad ${body}`,
        error_description: `Bad: ${body} ${headers.Authorization}`,
        error_uri: `https://as.example/?${body}`,
        more: { deep: [body] },
        ...Object.fromEntries(new URLSearchParams(body)),
      }, { status: 400 }),
  ],
  [
    "an error that is no text and repeats the request",
    ({ body }) =>
      Response.json({ error: Object.fromEntries(new URLSearchParams(body)) }),
  ],
  ["a form that repeats the request", ({ body }) =>
    new Response(body ?? null, {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    })],
  ["a token that is no text", json({ access_token: [`access-${MARK}`] })],
  [
    "401 with a token",
    json({ access_token: `access-${MARK}` }, {
      status: 401,
    }),
  ],
];

for (const [name, answer] of FAILURES) {
  Deno.test(`fetchToken() tells no secret about ${name}`, async () => {
    const clients = [
      clientSecretPost("c1", `secret-${MARK}`),
      clientSecretBasic("c1", `secret-${MARK}`),
    ];
    const basic = btoa(`c1:secret-${MARK}`);
    const headers = { Cookie: `cookie-${MARK}` };
    for (const client of clients) {
      for (const body of BODIES) {
        using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
        const { fetch } = stubbed;
        const error = await assertRejects(
          () => fetchToken(SERVER, body, { fetch, client, headers }),
          OAuthClientError,
        );
        const words = wordsOf(error);
        assert(!words.includes(MARK), words);
        assert(!words.includes(basic), words);
        assertEquals(stubbed.urls, [TOKEN_ENDPOINT]);
      }
    }
  });
}

Deno.test("fetchToken() tells no secret about what it does not send", async () => {
  const client = clientSecretPost("c1", `secret-${MARK}`, { issuer: "other" });
  const rows: [Partial<IAuthorizationServerMetadata>, IFetchTokenOptions][] = [
    [{}, { client }],
    [{ token_endpoint: "" }, {}],
    [{ token_endpoint: "http://as.example/token" }, {}],
    [{ token_endpoint: `https://u:${MARK}@as.example/token` }, {}],
    [{}, { headers: untyped({ Cookie: [MARK] }) }],
    [{}, { fetch: untyped(MARK) }],
    [{}, { signal: untyped(MARK) }],
  ];
  for (const [members, options] of rows) {
    using stubbed = stubFetch({});
    const { fetch } = stubbed;
    const error = await assertRejects(
      () =>
        fetchToken({ ...SERVER, ...members }, BODIES[0]!, {
          fetch,
          ...options,
        }),
      OAuthClientError,
    );
    assert(!wordsOf(error).includes(MARK), wordsOf(error));
    assertEquals(stubbed.urls, []);
  }
});

Deno.test("fetchToken() tells no assertion and no proof", async () => {
  const { privateKey, publicKey } = await createSigningKeys();
  const client = privateKeyJwt("c1", privateKey);
  const dpop = await createDpop();
  for (const [, answer] of FAILURES) {
    const sent: string[] = [];
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: (request) => {
        const form = new URLSearchParams(request.body);
        sent.push(form.get("client_assertion")!, request.headers.DPoP!);
        return answer(request);
      },
    });
    const { fetch } = stubbed;
    const error = await assertRejects(
      () => fetchToken(SERVER, BODIES[0]!, { fetch, client, dpop }),
      OAuthClientError,
    );
    const keys = createLocalJWKSet({ keys: [await exportJWK(publicKey)] });
    // Else nothing worth hiding was sent.
    await jwtVerify(sent[0]!, keys, { issuer: "c1", audience: AS });
    for (const secret of sent) assert(!wordsOf(error).includes(secret));
  }
});

Deno.test("refreshToken() tells no refresh token", async () => {
  for (const [, answer] of FAILURES) {
    using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
    const old = { refresh_token: `refresh-${MARK}` };
    const error = await assertRejects(
      () => refreshToken(SERVER, old, stubbed),
      OAuthClientError,
    );
    assert(!wordsOf(error).includes(MARK), wordsOf(error));
  }
});

Deno.test("fetchIdJag() tells neither the subject's token nor what came", async () => {
  const wrong = await new SignJWT({ note: MARK, client_id: "c1" })
    .setProtectedHeader({ alg: "HS256", typ: "oauth-id-jag+jwt" })
    .sign(new TextEncoder().encode("x".repeat(32)));
  const answers: Answer[] = [
    ...FAILURES.map(([, answer]) => answer),
    ...[wrong, MARK, `${MARK}.${MARK}.${MARK}`].map((access_token) =>
      idJagReply(access_token)
    ),
    json({ access_token: wrong, token_type: MARK }),
    json({ access_token: wrong, issued_token_type: MARK }),
  ];
  for (const answer of answers) {
    using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
    const error = await assertRejects(
      () =>
        fetchIdJag(SERVER, {
          fetch: stubbed.fetch,
          subjectToken: `subject-${MARK}`,
          audience: "https://api.example",
        }),
      OAuthClientError,
    );
    assert(!wordsOf(error).includes(MARK), wordsOf(error));
    assert(!wordsOf(error).includes(wrong), wordsOf(error));
    assertEquals(stubbed.urls, [TOKEN_ENDPOINT]);
  }
});

Deno.test("redeemIdJag() tells no assertion", async () => {
  const idJag = {
    assertion: `assertion-${MARK}`,
    claims: {
      iss: "https://idp.example",
      sub: "u",
      jti: "j",
      aud: AS,
      client_id: "c1",
      iat: 0,
      exp: 100,
    },
    audience: AS,
    expires_at: 100,
  };
  const client = clientSecretPost("c1", `secret-${MARK}`);
  const other = clientSecretPost("c2", `secret-${MARK}`);
  const rows: [Answer, typeof idJag, typeof client][] = [
    ...FAILURES.map(([, answer]): typeof rows[0] => [answer, idJag, client]),
    [json({}), { ...idJag, audience: "https://x.example" }, client],
    [json({}), { ...idJag, expires_at: 0 }, client],
    [json({}), idJag, other],
  ];
  for (const [answer, given, client] of rows) {
    using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
    const options = { fetch: stubbed.fetch, client, now: () => 0 };
    const error = await redeemIdJag(SERVER, given, options)
      .catch((error) => error);
    assertInstanceOf(error, OAuthClientError);
    assert(!wordsOf(error).includes(MARK), wordsOf(error));
  }
});

Deno.test("fetchToken() keeps a page out of the message of a status", async () => {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: text("Fault 17", 500) });
  const error = await assertRejects(
    () => fetchToken(SERVER, BODIES[0]!, stubbed),
    OAuthClientError,
  );
  assert(!wordsOf(error).includes("Fault 17"));
});
