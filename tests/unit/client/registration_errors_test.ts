/** A failed registration reports what the server has said, without what was sent. */

import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  fetchDynamicRegistration,
  type FetchDynamicRegistrationOptions,
  type FetchResponse,
  OAuthClientError,
} from "../../../mod.ts";
import { REGISTRATION_ENDPOINT } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  minimal,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const SERVER = { registration_endpoint: REGISTRATION_ENDPOINT };
const FAILED = `Registration to ${REGISTRATION_ENDPOINT} failed: `;
const INVALID = "Invalid authorization dynamic client registration response: ";

async function errorOf(
  respond: Answer,
  options?: FetchDynamicRegistrationOptions,
): Promise<OAuthClientError> {
  let response: FetchResponse | undefined;
  using server = stubFetch({
    [REGISTRATION_ENDPOINT]: async (request) =>
      response = await respond(request),
  });
  const { fetch } = server;
  const given = { ...options, fetch };
  const error = await assertRejects(
    () => fetchDynamicRegistration(SERVER, "Client", ["read"], given),
    OAuthClientError,
  );
  assertEquals(
    [error.url, error.request, error.status],
    [REGISTRATION_ENDPOINT, "registration", response?.status],
  );
  assertEquals(server.urls, [REGISTRATION_ENDPOINT]);
  return error;
}

const refusal = (body: unknown, status = 400) => json(body, { status });
const described = (error_description: unknown) =>
  refusal({ error: "a_b", error_description });
const broken = new Error("Body is broken");
const reject = () => Promise.reject(broken);
const brokenStream = (status: number) => () =>
  new Response(
    new ReadableStream({ pull: (controller) => controller.error(broken) }),
    { status },
  );
const most = "x".repeat(1_999);
const tooLong = "x".repeat(101);

/** A response, the end of the message, and the members of the error response. */
type Row = [
  respond: Answer,
  details: string,
  error?: string,
  error_description?: string,
];

const ROWS: [what: string, start: string, code: string, rows: Row[]][] = [
  ["error and error_description of an error response", FAILED, "oauth_error", [
    [refusal({ error: "a_b" }, 500), "a_b", "a_b"],
    [described(""), "a_b", "a_b"],
    [described(null), "a_b", "a_b"],
    [
      described("Gr\u00fc\u00dfe"),
      "a_b: Gr\u00fc\u00dfe",
      "a_b",
      "Gr\u00fc\u00dfe",
    ],
    // Control characters are escaped in the message and removed from the member.
    [described("\u001b[2J"), "a_b: \ufffd[2J", "a_b", "[2J"],
    [described(["No"]), 'a_b: ["No"]', "a_b"],
    // Outside the characters of RFC 6749, section 5.2, or too long.
    ...["\u00fc", 'a"b', "a\nb", tooLong]
      .map((error): Row => [refusal({ error }), error]),
  ]],
  ["an error that is no string", FAILED, "unexpected_status", [
    [refusal({ error: 42, error_description: "No" }), "42: No"],
    [refusal({ error: null }), "null"],
    [refusal({ error: false }), "false"],
    [refusal({ error: "" }), ""],
    [
      refusal({ error: { client_secret: "s" } }),
      '{"client_secret":"[redacted]"}',
    ],
  ]],
  ["the body of any other failing response", FAILED, "unexpected_status", [
    ...[
      ...['{"message":"No"}', '{"error_description":"No"}', "null", "[]", ""],
      ...['{"client_id":"c1"}', '"invalid"', "<html>No</html>"],
    ].map((body): Row => [text(body, 404), body]),
    // Whitespace is that of the response, unless it has credentials.
    [text('{ "message": "No" }', 404), '{ "message": "No" }'],
    ...["client_secret", "registration_access_token"].map((name): Row => [
      text(`{ "a": { "${name}": "s" } }`, 500),
      `{"a":{"${name}":"[redacted]"}}`,
    ]),
    [text("client_secret?", 400), "client_secret?"],
    [text("a\u0007\tb\n", 300), "a\ufffd\tb\n"],
    [text(most + "xx", 500), `${most}x…`],
    [brokenStream(400), "Body is broken"],
    [() => minimal({ status: 500, text: reject }), "Body is broken"],
    [() => untyped({ ok: false, text: reject }), "Body is broken"],
  ]],
  ["a 2xx response without a client_id", INVALID, "invalid_response", [
    ...[null, [], 7, "text", {}, { error: false }, { error: "" }]
      .map((body): Row => [refusal(body, 201), JSON.stringify(body)]),
    [
      json({ client_secret: "s", x: 1 }),
      '{"client_secret":"[redacted]","x":1}',
    ],
    [text("<html></html>", 201), "<html></html>"],
    [text("", 201), ""],
    [() => minimal({ json: () => Promise.resolve(undefined) }), "undefined"],
  ]],
  ["an error response with status 200", INVALID, "oauth_error", [
    [
      json({ error: "a_b", error_description: "No" }),
      '{"error":"a_b","error_description":"No"}',
      "a_b",
      "No",
    ],
    [json({ error: tooLong }), `{"error":"${tooLong}"}`],
  ]],
  ["why a 2xx response could not be read", INVALID, "network_error", [
    [brokenStream(201), "Body is broken"],
    [() => minimal({ json: reject }), "Body is broken"],
    [() => untyped({ ok: true, json: reject }), "Body is broken"],
    [() => minimal({ json: () => Promise.reject("cut off") }), "cut off"],
  ]],
  ["a redirect", FAILED, "redirect_refused", [
    [redirect("/elsewhere", 307), "Moved"],
  ]],
];

for (const [what, start, code, rows] of ROWS) {
  Deno.test(`fetchDynamicRegistration() reports ${what}`, async () => {
    await eachRowInTurn(rows, async ([respond, details, ...members]) => {
      const error = await errorOf(respond);
      assertEquals(error.message, start + details);
      assertEquals(String(error.code), code, details);
      const [name, description] = members;
      assertEquals([error.error, error.error_description], [name, description]);
      if (details === broken.message) assertStrictEquals(error.cause, broken);
    });
  });
}

Deno.test("fetchDynamicRegistration() reports a body that is too large", async () => {
  const rows = [
    [201, INVALID, "response_too_large"],
    [400, FAILED, "unexpected_status"],
  ] as const;
  await eachRowInTurn(rows, async ([status, start, code]) => {
    const respond = text('{"client_id":"c1"}', status);
    const error = await errorOf(respond, { maxBytes: 10 });
    const problem = " is larger than 10 bytes";
    const url = REGISTRATION_ENDPOINT;
    assertEquals(error.message, `${start}Response of ${url}${problem}`);
    assertEquals(error.code, code);
    assertInstanceOf(error.cause, OAuthClientError);
    assertEquals(error.cause.code, "response_too_large");
  });
});

Deno.test("fetchDynamicRegistration() keeps sent secrets out of its errors", async () => {
  const secret = "initial-access-token";
  const options = {
    headers: { Authorization: `Bearer ${secret}` },
    clientMetadata: { software_statement: "a-signed-statement" },
  };
  const echo = `Got ${secret} and a-signed-statement`;
  const reject = () => Promise.reject(new Error(echo));
  const rows: [respond: Answer, start: string, end?: string][] = [
    [text(echo, 400), FAILED],
    [refusal({ error: "a_b", error_description: echo }), `${FAILED}a_b: `],
    [text(echo, 200), INVALID],
    [json({ echo }), `${INVALID}{"echo":"`, '"}'],
    [() => minimal({ json: reject }), INVALID],
    [() => minimal({ status: 400, text: reject }), FAILED],
  ];
  await eachRowInTurn(rows, async ([respond, start, end = ""]) => {
    const error = await errorOf(respond, options);
    assertEquals(error.message, `${start}Got [redacted] and [redacted]${end}`);
    assertEquals(error.error_description, undefined);
  });
});
