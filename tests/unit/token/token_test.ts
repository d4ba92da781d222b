/**
 * A token response is read as servers write it, and refused where it cannot be used.
 */

import {
  assert,
  assertEquals,
  assertFalse,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  createDpop,
  fetchToken,
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ACCESS_TOKEN,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import {
  assertRejectsCode,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { tokenErrorOf, tokenOf } from "../../support/request_token.ts";
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
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

/** A token with the members that every token has. */
const token = (members: Record<string, unknown> = {}) => ({
  access_token: "t",
  token_type: "Bearer",
  ...members,
});

/** Fails unless a response is refused for this problem, without showing the token. */
async function refuses(
  named: string,
  ...request: Parameters<typeof tokenErrorOf>
): Promise<void> {
  const { code, url, message } = pinMessage(await tokenErrorOf(...request));
  assertEquals([code, url], ["invalid_response", TOKEN_ENDPOINT]);
  assertStringIncludes(message, named);
  assertFalse(message.includes("t0ken"));
}

/** The form of a request for which a token need not be an access token. */
const EXCHANGE = new URLSearchParams({ grant_type: GRANT_TYPE_TOKEN_EXCHANGE });

type Expiry = [expires_in: unknown, expected: number | undefined];
const ignored = (value: unknown): Expiry => [value, undefined];
const EXPIRIES: Expiry[] = [
  [3600, 3600],
  ["3600", 3600],
  [0, 0],
  ["0", 0],
  // A token that has expired already must not count as one without expiry.
  [-1, 0],
  ["-1", 0],
  ["-0", 0],
  [1.5, 1.5],
  ...["", "1h", "1e3", "1e400", "  5", "9".repeat(400), "INFINITE"].map(
    ignored,
  ),
  ...[{ seconds: 3600 }, [3600], true, null, undefined].map(ignored),
];

for (const [expires_in, expected] of EXPIRIES) {
  const shown = JSON.stringify(expires_in)?.slice(0, 20);
  Deno.test(`fetchToken() reads expires_in ${shown}`, async () => {
    // The server's own `expires_at` has no standard, and is dropped.
    const members = { access_token: "t", expires_in, expires_at: 5 };
    // JSON can have a number that is infinite.
    const body = JSON.stringify(members).replace('"INFINITE"', "1e400");
    const expires_at = Math.floor(1000.9 + (expected ?? 0));
    const read = expected === undefined
      ? {}
      : { expires_in: expected, expires_at };
    assertEquals(await tokenOf(text(body, 200)), token(read));
  });
}

Deno.test("fetchToken() sets refresh_expires_at where a server says how long", async () => {
  const rows: [members: Record<string, unknown>, expected?: number][] = [
    [{ refresh_token_expires_in: 60 }, 61],
    [{ refresh_token_expires_in: "60" }, 61],
    [{ refresh_expires_in: 1800 }, 1801],
    // Keycloak: an offline token has no limit.
    [{ refresh_expires_in: 0 }],
    [{ refresh_token_timeout: 60 }, 61],
    [{ refresh_token_timeout: 60, authorization_expires_in: "30" }, 31],
    [{ refresh_token_timeout: 60, refresh_expires_in: 90 }, 61],
    [{ authorization_expires_in: 0, refresh_token_timeout: 60 }, 61],
    [{ refresh_token_expires_in: -1 }],
    [{ refresh_expires_at: 5 }],
  ];
  for (const [members, expected] of rows) {
    const answer = json({ access_token: "t", ...members });
    const { refresh_expires_at } = await tokenOf(answer, { now: () => 1_000 });
    assertEquals(refresh_expires_at, expected, JSON.stringify(members));
  }
});

Deno.test("fetchToken() sets expires_at when the response arrives", async () => {
  let time = 1_000;
  const answer: Answer = (request) => {
    time = 50_000;
    return json({ access_token: "t", expires_in: 10 })(request);
  };
  assertEquals((await tokenOf(answer, { now: () => time })).expires_at, 60);
  using _clock = stub(Date, "now", () => time + 1_000);
  for (const now of [undefined, untyped(null)]) {
    assertEquals((await tokenOf(answer, { now })).expires_at, 61);
  }
});

Deno.test("fetchToken() keeps token_type, or takes Bearer where there is none", async () => {
  // LinkedIn sends none.
  for (const token_type of ["bearer", "BEARER", "", null, 7, undefined]) {
    const answer = json({ access_token: "t", token_type });
    const expected = typeof token_type === "string" && token_type || "Bearer";
    assertEquals(await tokenOf(answer), token({ token_type: expected }));
  }
});

Deno.test("fetchToken() uses no token of a type that it does not support", async () => {
  const rows: [type: string, shown: string, issued_token_type?: string][] = [
    ["mac", "mac"],
    ["s3cret-or-not", ""],
    ["DPoP", "DPoP"],
    ["bot", "bot"],
    ["N_A", "N_A"],
    ["N_A", "N_A", TOKEN_TYPE_ACCESS_TOKEN],
    // It would become the access token of a session.
    ["N_A", "N_A", "urn:other"],
  ];
  for (const [token_type, shown, issued_token_type] of rows) {
    const members = { token_type, issued_token_type };
    const answer = json({ access_token: "t0ken", ...members });
    await refuses(shown, answer);
  }
  const members = { token_type: "n_a", issued_token_type: "urn:other" };
  const answer = json({ access_token: "\u00fc", ...members });
  assertEquals(
    await tokenOf(answer, {}, EXCHANGE),
    token({ access_token: "ü", ...members }),
  );
});

Deno.test("fetchToken() uses no token that a header field cannot hold", async () => {
  const chars = [
    " ",
    "\t",
    "\n",
    "\r\nX-Admin: 1",
    "\0",
    "\x7f",
    "ü",
    "\u2028",
  ];
  const tokens = chars.flatMap((char) => [
    ...[`t0ken${char}t0ken`, `${char}t0ken`, `t0ken${char}`],
  ]);
  for (const access_token of tokens) {
    await refuses("access_token", json({ access_token }));
  }
});

type Accepted = [
  name: string,
  answer: Answer,
  members?: Record<string, unknown>,
];
const OK: Accepted[] = [
  ["status 201", json({ access_token: "t" }, { status: 201 })],
  ["JSON of another media type", typed('{"access_token":"t"}', "text/html")],
  ["JSON without media type", typed('{"access_token":"t"}', "")],
  [
    "a form, as GitHub sends it",
    typed("access_token=t&scope=a%2Cb+c&expires_in=60", FORM),
    { scope: "a,b c", expires_in: 60, expires_at: 1060 },
  ],
  [
    "a form in capitals, with a charset",
    typed("access_token=t", `${FORM.toUpperCase()}; charset=utf-8`),
  ],
  [
    "members that are null, and further members",
    json({ access_token: "t", scope: null, team: { id: "T1", none: null } }),
    { team: { id: "T1", none: null } },
  ],
  [
    "refresh_token, scope and id_token of another type",
    json({ access_token: "t", refresh_token: 7, scope: {}, id_token: {} }),
  ],
  [
    "a list of scopes, as Twitch sends it",
    json({ access_token: "t", scope: ["a", 7, "b"] }),
    { scope: "a b" },
  ],
  ["an empty list of scopes", json({ access_token: "t", scope: [] })],
  [
    "a minimal response",
    () => minimal({ json: () => Promise.resolve({ access_token: "t" }) }),
  ],
  // An error is a non-empty string (RFC 6749, section 5.2).
  ["an empty error", json({ access_token: "t", error: "" }), { error: "" }],
  [
    "an error false",
    json({ access_token: "t", error: false }),
    { error: false },
  ],
];

for (const [name, answer, members] of OK) {
  Deno.test(`fetchToken() accepts ${name}`, async () => {
    assertEquals(await tokenOf(answer), token(members));
  });
}

Deno.test("fetchToken() drops scopes that are secrets that were sent or received", async () => {
  const rows: [scope: string, expected: string | undefined][] = [
    ["read  t0ken-of-the-user", "read"],
    ["t0ken-of-the-user", undefined],
    ["r3fresh-of-the-user read", "read"],
    ["verifier-of-the-user write", "write"],
    ["read  write", "read  write"],
    ["t0ken-of-the-user-too", "t0ken-of-the-user-too"],
  ];
  await eachRowInTurn(rows, async ([scope, expected]) => {
    const members = {
      access_token: "t0ken-of-the-user",
      refresh_token: "r3fresh-of-the-user",
      scope,
    };
    const form = new URLSearchParams({ code_verifier: "verifier-of-the-user" });
    const { scope: granted } = await tokenOf(json(members), {}, form);
    assertEquals(granted, expected);
  });
});

Deno.test("fetchToken() keeps __proto__ as a member like any other", async () => {
  const body = '{"access_token":"t","__proto__":{"token_type":"evil"}}';
  const form = typed("access_token=t&__proto__=evil", FORM);
  for (const answer of [text(body, 200), form]) {
    const found = await tokenOf(answer);
    assertStrictEquals(Object.getPrototypeOf(found), Object.prototype);
    assertEquals(found.token_type, "Bearer");
    assert(Object.hasOwn(found, "__proto__"));
  }
});

Deno.test("fetchToken() keeps granted authorization details, and drops anything else in their place", async () => {
  const rows: [sent: unknown, isKept: boolean][] = [
    [[{ type: "a", actions: ["read"] }, { type: "b", x: null }], true],
    [[], true],
    ['[{"type":"a"}]', false],
    [[{}], false],
    [null, false],
  ];
  await eachRowInTurn(rows, async ([authorization_details, isKept]) => {
    const answer = json({ access_token: "t", authorization_details });
    const expected = token(isKept ? { authorization_details } : {});
    assertEquals<unknown>(await tokenOf(answer), expected);
  });
});

/** A response with a form of these characters, one byte each. */
function formBytes(body: string): Answer {
  const bytes = Uint8Array.from(body, (char) => char.charCodeAt(0));
  return () => new Response(bytes, { headers: { "Content-Type": FORM } });
}

Deno.test("fetchToken() fails without an access_token", async () => {
  const bodies = [
    ...[null, [], [{ access_token: "t" }], "t", {}, { access_token: "" }],
    ...[{ access_token: null }, { access_token: 7 }, { id_token: "t" }],
    { access_token: { value: "t" } },
  ];
  const answers: Answer[] = [
    ...bodies.map((body) => json(body)),
    text("", 200),
    text("access_token=t", 200),
    typed("access_token=", FORM),
    // A form with a byte that is not UTF-8 would change the token.
    formBytes("access_token=tok-\xff"),
    () => new Response(null, { status: 204 }),
  ];
  for (const answer of answers) await refuses("access_token", answer);
});

Deno.test("fetchToken() fails if the response cannot be read", async () => {
  const cause = new Error("Cable cut");
  let texts = 0;
  const unreadable = () =>
    minimal({
      json: () => Promise.reject(cause),
      text: () => Promise.resolve(`access_token=${++texts}`),
    });
  const error = await tokenErrorOf(unreadable);
  assertEquals([error.code, error.url], ["network_error", TOKEN_ENDPOINT]);
  assertStrictEquals(error.cause, cause);
  assertEquals(texts, 0);
});

Deno.test("fetchToken() fails on an error at any status, even beside a token", async () => {
  const members = {
    error: "invalid_grant",
    error_description: "Too\u0007 old",
    error_uri: "https://as.example/help",
    more: [1],
    nothing: null,
  };
  for (const status of [200, 400, 401, 503]) {
    const body = { ...members, access_token: "t" };
    const error = await tokenErrorOf(json(body, { status }));
    const { nothing: _, ...rest } = members;
    assertEquals({ ...error }, {
      name: "OAuthClientError",
      code: "oauth_error",
      url: TOKEN_ENDPOINT,
      status,
      error: "invalid_grant",
      error_description: "Too old",
      error_uri: "https://as.example/help",
      errorResponse: { ...rest, error_description: "Too old" },
    });
    pinMessage(error);
    const form = typed("error=bad_code&access_token=t", FORM, status);
    const { code, error: name } = await tokenErrorOf(form);
    assertEquals([code, name], ["oauth_error", "bad_code"]);
  }
});

Deno.test("fetchToken() leaves out an error code that is not well-formed", async () => {
  const unfit = ['a"b', "a\\b", "a\u0007", "\u00fc", "x".repeat(101), "a\nb"];
  for (const value of unfit) {
    const error = await tokenErrorOf(json({ error: value }, { status: 400 }));
    assertEquals(error.code, "oauth_error");
    assertFalse("error" in error);
    pinMessage(error);
  }
  for (const value of ["AADSTS 2000!", "x".repeat(100)]) {
    const { error } = await tokenErrorOf(json({ error: value }));
    assertEquals(error, value);
  }
});

Deno.test("fetchToken() keeps members of another type in errorResponse only", async () => {
  const body = { error: "x", error_description: { a: 1 }, error_uri: 7 };
  const error = await tokenErrorOf(json(body));
  assertFalse("error_description" in error || "error_uri" in error);
  assertEquals(error.errorResponse, body);
  const unsafe = { error: "x", error_uri: "javascript:alert(1)" };
  assertFalse("error_uri" in await tokenErrorOf(json(unsafe)));
});

Deno.test("fetchToken() fails on a status other than 2xx without an error", async () => {
  const answers: [Answer, status: number, errorResponse?: object][] = [
    [json({ access_token: "t" }, { status: 300 }), 300, {}],
    ...["", true, 0, 1, [], [1], {}, { type: "x" }]
      .map((error): typeof answers[0] => {
        const body = { error, message: "no" };
        return [json(body, { status: 400 }), 400, body];
      }),
    [text("Fault 17", 500), 500],
  ];
  for (const [answer, status, errorResponse] of answers) {
    const error = await tokenErrorOf(answer);
    assertEquals({ ...error }, {
      name: "OAuthClientError",
      code: "unexpected_status",
      url: TOKEN_ENDPOINT,
      status,
      ...(errorResponse && { errorResponse }),
    });
    pinMessage(error);
  }
});

Deno.test("fetchToken() requires a token that is bound to the DPoP key", async () => {
  const dpop = await createDpop();
  for (const token_type of ["DPoP", "dpop"]) {
    const answer = json({ access_token: "t", token_type });
    assertEquals((await tokenOf(answer, { dpop })).token_type, token_type);
  }
  // RFC 8693, section 2.2.1: N_A is the type of what is no access token.
  const urn = "urn:ietf:params:oauth:token-type";
  for (const issued_token_type of [`${urn}:id-jag`, `${urn}:jwt`, "x"]) {
    const members = { token_type: "N_A", issued_token_type };
    const answer = json({ access_token: "t", ...members });
    const exchanged = await tokenOf(answer, { dpop }, EXCHANGE);
    assertEquals(exchanged.token_type, "N_A");
  }
  const rows: [shown: string, type?: string, issued_token_type?: string][] = [
    ["N_A", "N_A"],
    ["N_A", "N_A", `${urn}:access_token`],
    ["N_A", "N_A", ""],
    ["Bearer", "Bearer"],
    ["Bearer", "Bearer", `${urn}:id-jag`],
    ["DPoPs", "DPoPs"],
    ["Bearer"],
  ];
  for (const [shown, token_type, issued_token_type] of rows) {
    const members = { token_type, issued_token_type };
    const answer = json({ access_token: "t0ken", ...members });
    await refuses(shown, answer, { dpop }, EXCHANGE);
  }
});

Deno.test("fetchToken() requires a usable token_endpoint before any request", async () => {
  const rows: [token_endpoint: unknown, code: string, allowHttp?: boolean][] = [
    [undefined, "unsupported"],
    ["http://as.example/token", "url_refused", false],
    ["ftp://as.example/token", "url_refused", true],
  ];
  using stubbed = stubFetch({});
  const { fetch } = stubbed;
  await eachRowInTurn(rows, async ([token_endpoint, code, allowHttp]) => {
    const server = untyped({ ...SERVER, token_endpoint });
    await assertRejectsCode(
      () => fetchToken(server, new URLSearchParams(), { fetch, allowHttp }),
      code,
    );
  });
});

const FORM_BODY = new URLSearchParams();
testInvalidArguments(fetchToken, [
  ["body", SERVER, { grant_type: "x", scope: undefined }],
  ["options", SERVER, FORM_BODY, "x"],
  ["headers", SERVER, FORM_BODY, { headers: new Headers() }],
]);
