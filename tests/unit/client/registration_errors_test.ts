import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  fetchDynamicRegistration,
  type IFetchDynamicRegistrationOptions,
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

const SERVER = { registration_endpoint: REGISTRATION_ENDPOINT };
const FAILED = `Registration to ${REGISTRATION_ENDPOINT} failed: `;
const INVALID = "Invalid authorization dynamic client registration response: ";

/** Returns the error of a registration that gets this response. */
async function errorOf(
  respond: Answer,
  options?: IFetchDynamicRegistrationOptions,
): Promise<OAuthClientError> {
  using server = stubFetch({ [REGISTRATION_ENDPOINT]: respond });
  const { fetch } = server;
  const error = await assertRejects(
    () =>
      fetchDynamicRegistration(SERVER, "Client", ["read"], {
        ...options,
        fetch,
      }),
    OAuthClientError,
  );
  assertEquals(error.url, REGISTRATION_ENDPOINT);
  assertEquals(server.urls, [REGISTRATION_ENDPOINT]);
  return error;
}

Deno.test("fetchDynamicRegistration() reports error and error_description of an error response", async () => {
  const rows: [body: unknown, details: string, members: unknown[]][] = [
    [{ error: "a_b" }, "a_b", ["a_b", undefined]],
    [{ error: "a_b", error_description: "" }, "a_b", ["a_b", undefined]],
    [{ error: "a_b", error_description: null }, "a_b", ["a_b", undefined]],
    [{ error: "a_b", error_description: "No" }, "a_b: No", ["a_b", "No"]],
    [
      { error: "a_b", error_description: "Gr\u00fc\u00dfe" },
      "a_b: Gr\u00fc\u00dfe",
      [
        "a_b",
        "Gr\u00fc\u00dfe",
      ],
    ],
    // Control characters are escaped in the message and removed from the member.
    [{ error: "a_b", error_description: "\u001b[2J" }, "a_b: \ufffd[2J", [
      "a_b",
      "[2J",
    ]],
    [{ error: "a_b", error_description: ["No"] }, 'a_b: ["No"]', [
      "a_b",
      undefined,
    ]],
  ];
  for (const [body, details, members] of rows) {
    for (const status of [400, 401, 403, 500]) {
      const error = await errorOf(json(body, { status }));
      assertEquals(error.message, FAILED + details);
      assertEquals([error.code, error.status], ["oauth_error", status]);
      assertEquals([error.error, error.error_description], members);
      assertEquals(error.request, "registration");
    }
  }
});

Deno.test("fetchDynamicRegistration() reports an error that is not an error code only in its message", async () => {
  const rows: [body: unknown, details: string, code?: string][] = [
    [{ error: 42, error_description: "No" }, "42: No"],
    [{ error: null }, "null"],
    [{ error: false }, "false"],
    [{ error: "" }, ""],
    [{ error: { code: "x" } }, '{"code":"x"}'],
    [
      { error: { client_secret: "s3cr3t" } },
      '{"client_secret":"[redacted]"}',
    ],
    // Outside the characters of RFC 6749, section 5.2, or too long.
    [{ error: "\u00fc" }, "\u00fc", "oauth_error"],
    [{ error: 'a"b' }, 'a"b', "oauth_error"],
    [{ error: "a\nb" }, "a\nb", "oauth_error"],
    [{ error: "x".repeat(101) }, "x".repeat(101), "oauth_error"],
  ];
  for (const [body, details, code = "unexpected_status"] of rows) {
    const error = await errorOf(json(body, { status: 400 }));
    assertEquals(error.message, FAILED + details);
    assertEquals([String(error.code), error.status], [code, 400]);
    assertEquals([error.error, error.error_description], [
      undefined,
      undefined,
    ]);
  }
});

Deno.test("fetchDynamicRegistration() reports the body of any other failing response", async () => {
  const most = "x".repeat(1_999);
  const rows: [body: string, details?: string][] = [
    ['{"message":"No"}'],
    ['{"error_description":"No"}'],
    ['{"client_id":"c1"}'],
    ["null"],
    ["[]"],
    ['"invalid"'],
    ["<html>No</html>"],
    [""],
    ["a\u0007\tb\n", "a\ufffd\tb\n"],
    [most + "xx", most + "x…"],
  ];
  for (const [body, details = body] of rows) {
    for (const status of [300, 404, 500]) {
      const error = await errorOf(text(body, status));
      assertEquals(error.message, FAILED + details);
      assertEquals([error.code, error.status], ["unexpected_status", status]);
    }
  }
});

Deno.test("fetchDynamicRegistration() rejects a 2xx response without a client_id", async () => {
  const rows: [respond: Answer, shown: string][] = [
    ...[null, [], 7, "text", {}, { client_name: "n" }].map((
      body,
    ): [Answer, string] => [json(body, { status: 201 }), JSON.stringify(body)]),
    [
      json({ client_secret: "s3cr3t", x: 1 }, { status: 201 }),
      '{"client_secret":"[redacted]","x":1}',
    ],
    [text("<html></html>", 201), "<html></html>"],
    [text("", 201), ""],
  ];
  for (const [respond, shown] of rows) {
    const error = await errorOf(respond);
    assertEquals(error.message, INVALID + shown);
    assertEquals([error.code, error.status], ["invalid_response", 201]);
  }
});

Deno.test("fetchDynamicRegistration() words a body of undefined as such", async () => {
  const json = () => Promise.resolve(undefined);
  const error = await errorOf(() => minimal({ json }));
  assertEquals(error.message, `${INVALID}undefined`);
  assertEquals(error.code, "invalid_response");
});

Deno.test("fetchDynamicRegistration() reports an error response with status 200", async () => {
  const body = { error: "invalid_redirect_uri", error_description: "No" };
  const error = await errorOf(json(body));
  assertEquals(error.message, INVALID + JSON.stringify(body));
  assertEquals([error.code, error.status], ["oauth_error", 200]);
  assertEquals([error.error, error.error_description], [
    "invalid_redirect_uri",
    "No",
  ]);
  for (const malformed of ['a"b', "\u00fc", "x".repeat(101)]) {
    const { code, error } = await errorOf(json({ error: malformed }));
    assertEquals([code, error], ["oauth_error", undefined]);
  }
  for (const body of [{ error: false }, { error: "" }, { error: { a: 1 } }]) {
    const { code, error } = await errorOf(json(body));
    assertEquals([code, error], ["invalid_response", undefined]);
  }
});

Deno.test("fetchDynamicRegistration() reports why a body could not be read", async () => {
  const broken = new Error("Body is broken");
  const reject = () => Promise.reject(broken);
  const brokenStream = (status: number) => () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.error(broken) }),
      { status },
    );
  const rows: [respond: Answer, start: string, code: string][] = [
    [() => minimal({ status: 200, json: reject }), INVALID, "network_error"],
    [() => minimal({ status: 500, text: reject }), FAILED, "unexpected_status"],
    [() => untyped({ ok: true, json: reject }), INVALID, "network_error"],
    [() => untyped({ ok: false, text: reject }), FAILED, "unexpected_status"],
    [brokenStream(201), INVALID, "network_error"],
    [brokenStream(400), FAILED, "unexpected_status"],
  ];
  for (const [respond, start, code] of rows) {
    const error = await errorOf(respond);
    assertEquals(error.message, start + "Body is broken");
    assertEquals(String(error.code), code);
    assertStrictEquals(error.cause, broken);
  }
  const thrown = await errorOf(() =>
    minimal({ json: () => Promise.reject("broken off") })
  );
  assertEquals(thrown.message, INVALID + "broken off");
  assertEquals(thrown.cause, "broken off");
});

Deno.test("fetchDynamicRegistration() reports a body that is too large", async () => {
  const problem =
    `Response of ${REGISTRATION_ENDPOINT} is larger than 10 bytes`;
  const rows: [status: number, start: string, code: string][] = [
    [201, INVALID, "response_too_large"],
    [400, FAILED, "unexpected_status"],
  ];
  for (const [status, start, code] of rows) {
    const respond = text('{"client_id":"c1"}', status);
    const error = await errorOf(respond, { maxBytes: 10 });
    assertEquals(error.message, start + problem);
    assertEquals(String(error.code), code);
    assertInstanceOf(error.cause, OAuthClientError);
    assertEquals(error.cause.code, "response_too_large");
  }
});

Deno.test("fetchDynamicRegistration() follows no redirect", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of ["https://evil.example/register", "/elsewhere"]) {
      const error = await errorOf(redirect(location, status));
      assertEquals([error.code, error.status], ["redirect_refused", status]);
      assertEquals(error.message, `${FAILED}Moved`);
      assertInstanceOf(error.cause, OAuthClientError);
      assertEquals(
        error.cause.message,
        `Request to ${REGISTRATION_ENDPOINT} was redirected, which a POST ` +
          "does not follow",
      );
    }
  }
});

Deno.test("fetchDynamicRegistration() keeps sent secrets out of its errors", async () => {
  const secret = "initial-access-token";
  const options = {
    headers: { Authorization: `Bearer ${secret}` },
    clientMetadata: { software_statement: "a-signed-statement" },
  };
  const echo = `Got ${secret} and a-signed-statement`;
  const reject = () => Promise.reject(new Error(echo));
  const body = { error: "invalid_request", error_description: echo };
  const rows: [respond: Answer, message: string][] = [
    [text(echo, 400), FAILED],
    [json(body, { status: 400 }), `${FAILED}invalid_request: `],
    [text(echo, 200), INVALID],
    [() => minimal({ json: reject }), INVALID],
    [() => minimal({ status: 400, text: reject }), FAILED],
  ];
  for (const [respond, start] of rows) {
    const error = await errorOf(respond, options);
    assertEquals(error.message, `${start}Got [redacted] and [redacted]`);
    assertEquals(error.error_description, undefined);
  }
  const { message } = await errorOf(json({ echo }), options);
  assertEquals(message, `${INVALID}{"echo":"Got [redacted] and [redacted]"}`);
});
