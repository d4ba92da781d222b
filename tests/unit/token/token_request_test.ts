import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  buildClientCredentialsBody,
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  fetchToken,
  getClaimsFromJWT,
  type IFetchTokenOptions,
  OAuthClientError,
} from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  FORM,
  json,
  minimal,
  stubFetch,
  text,
  typed,
  untyped,
} from "../../support/stub_fetch.ts";

const BODY = buildClientCredentialsBody({ scopes: ["read"] });

/** Asks for a token at the time of 1000.9 s. */
async function ask(answer: Answer, options: IFetchTokenOptions = {}) {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
  return await fetchToken(SERVER, BODY, {
    fetch: stubbed.fetch,
    now: () => 1_000_900,
    ...options,
  });
}

/** Answers with a form of these characters, one byte each. */
function formBytes(body: string): Answer {
  const bytes = Uint8Array.from(body, (char) => char.charCodeAt(0));
  return () => new Response(bytes, { headers: { "Content-Type": FORM } });
}

/** The error of a token request that gets this answer. */
async function errorOf(answer: Answer, options?: IFetchTokenOptions) {
  return await assertRejects(() => ask(answer, options), OAuthClientError);
}

const EXPIRIES: [expires_in: unknown, expected: number | undefined][] = [
  [3600, 3600],
  ["3600", 3600],
  [0, 0],
  ["0", 0],
  ["", undefined],
  ["soon", undefined],
  ["1h", undefined],
  [-1, undefined],
  ["-1", undefined],
  ["NaN", undefined],
  [{ seconds: 3600 }, undefined],
  [[3600], undefined],
  [true, undefined],
  [null, undefined],
  [undefined, undefined],
];

for (const [expires_in, expected] of EXPIRIES) {
  Deno.test(`fetchToken() reads expires_in ${JSON.stringify(expires_in)}`, async () => {
    const token = await ask(json({ access_token: "t", expires_in }));
    assertStrictEquals(token.expires_in, expected);
    const end = expected === undefined ? undefined : 1000 + expected;
    assertStrictEquals(token.expires_at, end);
    assertEquals("expires_in" in token, expected !== undefined);
    assertEquals("expires_at" in token, expected !== undefined);
  });
}

Deno.test("fetchToken() keeps an expires_at of the server that is a number", async () => {
  const rows: [members: Record<string, unknown>, expected: unknown][] = [
    [{ expires_at: 5_000 }, 5_000],
    [{ expires_at: "2020-01-01T00:00:00Z" }, undefined],
    [{ expires_at: "5000" }, undefined],
    [{ expires_at: {} }, undefined],
    [{ expires_at: null }, undefined],
    // What the receipt tells is the more certain.
    [{ expires_at: 5_000, expires_in: 60 }, 1_060],
    [{ expires_at: "soon", expires_in: 60 }, 1_060],
  ];
  for (const [members, expected] of rows) {
    const token = await ask(json({ access_token: "t", ...members }));
    assertStrictEquals(token.expires_at, expected);
    assertEquals("expires_at" in token, expected !== undefined);
  }
});

Deno.test("fetchToken() drops an expires_in without bounds", async () => {
  const token = await ask(text('{"access_token":"t","expires_in":1e400}', 200));
  assertEquals(token, { access_token: "t", token_type: "Bearer" });
});

Deno.test("fetchToken() drops an expires_at without bounds", async () => {
  for (const expires_at of ["1e400", "-1e400"]) {
    const body = `{"access_token":"t","expires_at":${expires_at}}`;
    const token = await ask(text(body, 200));
    assertEquals(token, { access_token: "t", token_type: "Bearer" });
  }
});

Deno.test("fetchToken() gives a whole expires_at for a fraction of a second", async () => {
  const rows: [expires_in: number, expires_at: number][] = [
    [1.5, 1002],
    [1.05, 1001],
    [0.5, 1001],
  ];
  for (const [expires_in, expires_at] of rows) {
    const token = await ask(json({ access_token: "t", expires_in }));
    assertEquals([token.expires_in, token.expires_at], [
      expires_in,
      expires_at,
    ]);
  }
});

Deno.test("fetchToken() refuses a clock that is none before any request", async () => {
  for (const now of [5, null, "now", {}, new Date(0)]) {
    using stubbed = stubFetch({});
    const options = untyped({ fetch: stubbed.fetch, now });
    await assertInvalidArgument(
      () => fetchToken(SERVER, BODY, options),
      "options.now",
    );
    assertEquals(stubbed.urls, []);
  }
});

Deno.test("fetchToken() stamps expires_at by the clock of this machine", async () => {
  using _clock = stub(Date, "now", () => 7_000);
  const options = { now: undefined };
  const answer = json({ access_token: "t", expires_in: 3 });
  assertEquals((await ask(answer, options)).expires_at, 10);
});

Deno.test("fetchToken() stamps expires_at on receipt, not before the request", async () => {
  let time = 1_000;
  const token = await ask((request) => {
    time = 50_000;
    return json({ access_token: "t", expires_in: 10 })(request);
  }, { now: () => time });
  assertEquals(token.expires_at, 60);
});

const TYPES: [token_type: unknown, expected: string][] = [
  ["Bearer", "Bearer"],
  ["bearer", "bearer"],
  ["DPoP", "DPoP"],
  ["user", "user"],
  ["N_A", "N_A"],
  ["", "Bearer"],
  [null, "Bearer"],
  [7, "Bearer"],
  [undefined, "Bearer"],
];

for (const [token_type, expected] of TYPES) {
  Deno.test(`fetchToken() reads token_type ${JSON.stringify(token_type)}`, async () => {
    const token = await ask(json({ access_token: "t", token_type }));
    assertEquals(token, { access_token: "t", token_type: expected });
  });
}

Deno.test("fetchToken() reads a form as a form, whatever its charset", async () => {
  const body = "access_token=t%2B1&scope=repo%2Cuser+gist&token_type=bearer" +
    "&expires_in=60";
  for (const type of [FORM, `${FORM}; charset=utf-8`, FORM.toUpperCase()]) {
    assertEquals(await ask(typed(body, type)), {
      access_token: "t+1",
      scope: "repo,user gist",
      token_type: "bearer",
      expires_in: 60,
      expires_at: 1060,
    });
  }
});

Deno.test("fetchToken() keeps unknown members and drops those that are null", async () => {
  const token = await ask(json({
    access_token: "t",
    token_type: "Bearer",
    refresh_token: null,
    scope: null,
    id_token: null,
    issued_token_type: "urn:x",
    authed_user: { id: "U1", none: null },
    ok: true,
    gone: null,
  }));
  assertEquals(token, {
    access_token: "t",
    token_type: "Bearer",
    issued_token_type: "urn:x",
    authed_user: { id: "U1", none: null },
    ok: true,
  });
});

Deno.test("fetchToken() drops refresh_token, scope and id_token that are no text", async () => {
  for (const value of [7, {}, ["a"], true]) {
    const members = { refresh_token: value, scope: value, id_token: value };
    const token = await ask(json({ access_token: "t", ...members }));
    assertEquals(token, { access_token: "t", token_type: "Bearer" });
  }
});

Deno.test("fetchToken() keeps __proto__ as a member like any other", async () => {
  const body = '{"access_token":"t","__proto__":{"token_type":"evil"}}';
  const token = await ask(text(body, 200));
  assertStrictEquals(Object.getPrototypeOf(token), Object.prototype);
  assertEquals(token.token_type, "Bearer");
  assert(Object.hasOwn(token, "__proto__"));
});

Deno.test("fetchToken() takes any 2xx", async () => {
  for (const status of [200, 201, 202]) {
    const token = await ask(json({ access_token: "t" }, { status }));
    assertEquals(token.access_token, "t");
  }
});

Deno.test("fetchToken() fails where no access_token comes", async () => {
  const answers = [
    text("<html>", 200),
    text("", 200),
    text("access_token=t", 200),
    json(null),
    json([]),
    json([{ access_token: "t" }]),
    json("t"),
    json({}),
    json({ access_token: "" }),
    json({ access_token: null }),
    json({ access_token: 7 }),
    json({ access_token: { value: "t" } }),
    json({ id_token: "t" }),
    typed("access_token=", FORM),
    // A token with a byte that is no UTF-8 would not be the one given out.
    formBytes("access_token=tok-\xff"),
    () => minimal({ text: () => Promise.resolve("<html>") }),
    () => new Response(null, { status: 204 }),
  ];
  for (const answer of answers) {
    const error = await errorOf(answer);
    assertEquals([error.code, error.url], ["invalid_response", TOKEN_ENDPOINT]);
    assertEquals(
      error.message,
      `The reply of ${TOKEN_ENDPOINT} holds no access_token`,
    );
  }
});

Deno.test("fetchToken() lets an error win at any status, over a token too", async () => {
  for (const status of [200, 400, 401, 500]) {
    const body = { error: "bad_verification_code", access_token: "t" };
    for (
      const answer of [
        json(body, { status }),
        typed("error=bad_verification_code&access_token=t", FORM, status),
      ]
    ) {
      const error = await errorOf(answer);
      assertEquals(
        [error.code, error.error, error.status],
        ["oauth_error", "bad_verification_code", status],
      );
    }
  }
});

Deno.test("fetchToken() sends what it is given and leaves the body as it was", async () => {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: json({ access_token: "t" }) });
  const body = new URLSearchParams("grant_type=x&client_id=old&b=1&b=2");
  const client = clientSecretBasic("c1", "s");
  const headers = {
    "X-Trace": "1",
    accept: "application/jwt",
    Authorization: "Bearer other",
  };
  await fetchToken(SERVER, body, { fetch: stubbed.fetch, client, headers });
  assertEquals(body.toString(), "grant_type=x&client_id=old&b=1&b=2");
  const [request] = stubbed.requests;
  assertEquals(request?.body, "grant_type=x&b=1&b=2");
  assertEquals(request?.headers, {
    "X-Trace": "1",
    Authorization: `Basic ${btoa("c1:s")}`,
    Accept: "application/jwt",
    "Content-Type": FORM,
  });
});

Deno.test("fetchToken() shows an issuer's client to no other issuer", async () => {
  const client = clientSecretPost("c1", "s", { issuer: `${AS}/` });
  using stubbed = stubFetch({});
  const error = await assertRejects(
    () => fetchToken(SERVER, BODY, { fetch: stubbed.fetch, client }),
    OAuthClientError,
  );
  assertEquals(error.code, "issuer_mismatch");
  assertEquals(stubbed.urls, []);
});

Deno.test("fetchToken() gets a bound token after a server's demand for a nonce", async () => {
  const dpop = await createDpop();
  const answers = [
    json({ error: "use_dpop_nonce" }, {
      status: 400,
      headers: { "DPoP-Nonce": "n1" },
    }),
    json({ access_token: "t", token_type: "DPoP" }, {
      headers: { "DPoP-Nonce": "n2" },
    }),
  ];
  const proofs: string[] = [];
  const token = await ask((request) => {
    proofs.push(request.headers.DPoP!);
    return answers.shift()!(request);
  }, { dpop });
  assertEquals(token.token_type, "DPoP");
  const nonces = proofs.map((proof) => getClaimsFromJWT(proof).nonce);
  assertEquals(nonces, [undefined, "n1"]);
  const next = await dpop.createProof({ method: "POST", url: TOKEN_ENDPOINT });
  assertEquals(getClaimsFromJWT(next).nonce, "n2");
});

Deno.test("fetchToken() refuses a token that is not bound to the DPoP key", async () => {
  const dpop = await createDpop();
  const rows: [token_type: string | undefined, isTaken: boolean][] = [
    ["DPoP", true],
    ["dpop", true],
    ["N_A", true],
    ["Bearer", false],
    ["user", false],
    ["DPoPs", false],
    [undefined, false],
  ];
  for (const [token_type, isTaken] of rows) {
    const answer = json({ access_token: "t0ken", token_type });
    if (isTaken) {
      assertEquals((await ask(answer, { dpop })).token_type, token_type);
      continue;
    }
    const error = await errorOf(answer, { dpop });
    assertEquals([error.code, error.url], ["invalid_response", TOKEN_ENDPOINT]);
    assert(error.message.includes("not bound"), error.message);
    assert(!error.message.includes("t0ken"));
  }
});

Deno.test("fetchToken() refuses options that are no object", async () => {
  for (const options of [null, 7, "x"]) {
    const error = await assertRejects(
      () => fetchToken(SERVER, BODY, untyped(options)),
      OAuthClientError,
      "options must be an object",
    );
    assertEquals(error.code, "invalid_argument");
  }
});
