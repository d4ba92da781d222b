import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import {
  postForm,
  type ReplyMembers,
  secondsMember,
  textMember,
} from "../../../lib/token/_form_request.ts";
import { OAuthClientError } from "../../../mod.ts";
import {
  assertInvalidArgument,
  assertRedirectRefused,
  postTokenRequest,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  FORM,
  json,
  minimal,
  text,
  typed,
  untyped,
} from "../../support/stub_fetch.ts";

Deno.test("textMember() gives strings only", () => {
  const members = { a: "x", b: "", c: 7, d: null, e: ["x"], f: {} };
  const values = ["a", "b", "c", "d", "e", "f", "g"]
    .map((name) => textMember(members, name));
  const none = Array(5).fill(undefined);
  assertEquals(values, ["x", "", ...none]);
});

Deno.test("secondsMember() gives numbers that are not negative, and digits", () => {
  const rows: [value: unknown, seconds: number | undefined][] = [
    [0, 0],
    [3600, 3600],
    [1.5, 1.5],
    ["0", 0],
    ["3600", 3600],
    ["", undefined],
    [" ", undefined],
    ["3600s", undefined],
    ["-1", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["9".repeat(400), undefined],
    [-1, undefined],
    [NaN, undefined],
    [Infinity, undefined],
    [true, undefined],
    [[3600], undefined],
    [{}, undefined],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [value, seconds] of rows) {
    assertStrictEquals(secondsMember({ value }, "value"), seconds);
  }
});

Deno.test("postForm() posts the form and asks for JSON", async () => {
  const form = new URLSearchParams({ a: "1 2", b: "ü&=" });
  const { requests } = await postTokenRequest(json({ x: 1 }), {}, form);
  assertEquals(requests.length, 1);
  const { signal, ...init } = requests[0]!.init;
  assertEquals(init, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": FORM },
    body: "a=1+2&b=%C3%BC%26%3D",
    redirect: "manual",
  });
  assertInstanceOf(signal, AbortSignal);
});

Deno.test("postForm() reads JSON, whatever it is called, and forms by their type", async () => {
  const rows: [answer: Answer, members: ReplyMembers][] = [
    [typed('{"a":1}', "application/json"), { a: 1 }],
    [typed('{"a":1}', "text/html"), { a: 1 }],
    [typed('{"a":1}', ""), { a: 1 }],
    [typed("a=1&b=x+y", FORM), { a: "1", b: "x y" }],
    [typed("a=1", `${FORM}; charset=utf-8`), { a: "1" }],
    [typed("a=1", "Application/X-WWW-Form-Urlencoded"), { a: "1" }],
    [typed("a=1", "text/plain"), {}],
    [json({ a: null, b: 0, c: "", d: false }), { b: 0, c: "", d: false }],
    [json(null), {}],
    [json([1]), {}],
    [json("x"), {}],
    [text("", 200), {}],
    [text("<html>", 200), {}],
    [() => new Response(null, { status: 204 }), {}],
  ];
  for (const [answer, members] of rows) {
    assertEquals((await postTokenRequest(answer)).result, members);
  }
});

Deno.test("postForm() keeps __proto__ as a member like any other", async () => {
  for (
    const answer of [
      text('{"__proto__":{"error":"x"}}', 200),
      typed("__proto__=x", FORM),
    ]
  ) {
    const { result } = await postTokenRequest(answer);
    assertEquals(Object.keys(result), ["__proto__"]);
    assertStrictEquals(Object.getPrototypeOf(result), Object.prototype);
  }
});

Deno.test("postForm() reads a minimal response", async () => {
  const json = () => Promise.resolve({ a: 1 });
  const { result } = await postTokenRequest(() => minimal({ json }));
  assertEquals(result, { a: 1 });
});

Deno.test("postForm() tells a reply that cannot be read from one that is no JSON", async () => {
  const rows: [text: string, members: ReplyMembers][] = [
    ["<html>", {}],
    ["", {}],
    ['{"a":1}', { a: 1 }],
  ];
  for (const [text, expected] of rows) {
    const reply = minimal({ text: () => Promise.resolve(text) });
    assertEquals((await postTokenRequest(() => reply)).result, expected);
  }
  const cause = new Error("Cable cut");
  const reply = minimal({ text: () => Promise.reject(cause) });
  const { result, requests } = await postTokenRequest(() => reply);
  assertInstanceOf(result, OAuthClientError);
  assertEquals([result.code, result.url], ["network_error", TOKEN_ENDPOINT]);
  assertStrictEquals(result.cause, cause);
  assertEquals(requests.length, 1);
});

Deno.test("postForm() takes nothing from a form that is not UTF-8", async () => {
  for (const tail of [[0xff], [0xc3], [0xed, 0xa0, 0x80]]) {
    const bytes = new Uint8Array([...new TextEncoder().encode("a=1"), ...tail]);
    const headers = { "Content-Type": FORM };
    const answer = () => new Response(bytes, { headers });
    assertEquals((await postTokenRequest(answer)).result, {});
  }
});

Deno.test("postForm() fails on an error at any status", async () => {
  const body = {
    error: "invalid_grant",
    error_description: "Too\u0007 old",
    error_uri: "https://as.example/help",
    more: [1],
    nothing: null,
  };
  for (const status of [200, 201, 400, 401, 403, 500, 503]) {
    const { result } = await postTokenRequest(json(body, { status }));
    assertInstanceOf(result, OAuthClientError);
    assertEquals(
      result.message,
      `Request to ${TOKEN_ENDPOINT} was refused: invalid_grant: Too\\u0007 old`,
    );
    const { nothing: _, ...members } = body;
    assertEquals({ ...result }, {
      name: "OAuthClientError",
      code: "oauth_error",
      url: TOKEN_ENDPOINT,
      status,
      error: "invalid_grant",
      error_description: "Too\u0007 old",
      error_uri: "https://as.example/help",
      errorResponse: members,
    });
  }
});

Deno.test("postForm() fails on an error in a form", async () => {
  const { result } = await postTokenRequest(typed("error=bad_code", FORM));
  assertInstanceOf(result, OAuthClientError);
  assertEquals([result.code, result.error], ["oauth_error", "bad_code"]);
  assertFalse("error_description" in result);
});

Deno.test("postForm() keeps members of an error that are no text in errorResponse only", async () => {
  const body = { error: "x", error_description: { a: 1 }, error_uri: 7 };
  const { result } = await postTokenRequest(json(body));
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.message, `Request to ${TOKEN_ENDPOINT} was refused: x`);
  assertFalse("error_description" in result);
  assertFalse("error_uri" in result);
  assertEquals(result.errorResponse, body);
});

Deno.test("postForm() fails on an error that is no text, over a token too", async () => {
  const rows: [error: unknown, shown: string][] = [
    [
      { type: "OAuthException", message: "Code expired" },
      '{"type":"OAuthException","message":"Code expired"}',
    ],
    [{ client_secret: "s3cret" }, '{"client_secret":"[redacted]"}'],
    [["invalid_grant"], '["invalid_grant"]'],
    [{}, "{}"],
    [7, "7"],
    [0, "0"],
    [true, "true"],
    [false, "false"],
  ];
  for (const [error, shown] of rows) {
    for (const status of [200, 400]) {
      const body = { error, access_token: "t" };
      const { result } = await postTokenRequest(json(body, { status }));
      assertInstanceOf(result, OAuthClientError);
      assertEquals([result.code, result.error], ["oauth_error", shown]);
      assertEquals(
        result.message,
        `Request to ${TOKEN_ENDPOINT} was refused: ${shown}`,
      );
    }
  }
  // These say that there is none.
  for (const error of [null, "", undefined]) {
    const { result } = await postTokenRequest(
      json({ error, access_token: "t" }),
    );
    assertFalse(result instanceof OAuthClientError);
  }
});

Deno.test("postForm() fails on any other status than 2xx", async () => {
  const answers: [Answer, status: number][] = [
    [json({ access_token: "t" }, { status: 300 }), 300],
    [json({ access_token: "t" }, { status: 400 }), 400],
    [json({ error: "" }, { status: 400 }), 400],
    [text("<html>", 404), 404],
    [text("", 500), 500],
  ];
  for (const [answer, status] of answers) {
    const { result, requests } = await postTokenRequest(answer);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "unexpected_status");
    assertEquals([result.url, result.status], [TOKEN_ENDPOINT, status]);
    assertEquals(
      result.message,
      `Request to ${TOKEN_ENDPOINT} failed: expected status 200, got ${status}`,
    );
    assertEquals(requests.length, 1);
  }
});

Deno.test("postForm() fails on a redirect, whatever its body, with the reason", async () => {
  const locations = ["/elsewhere", "https://evil.example/"];
  for (const status of [301, 302, 303, 307, 308]) {
    for (const location of locations) {
      for (const body of ["", '{"access_token":"t"}']) {
        const headers = { Location: location };
        const answer = () => new Response(body, { status, headers });
        const { result, requests } = await postTokenRequest(answer);
        assertRedirectRefused(result, TOKEN_ENDPOINT, status);
        assertEquals(
          result.message,
          `Request to ${TOKEN_ENDPOINT} failed: expected status 200, got ${status}`,
        );
        assertEquals(requests.length, 1);
      }
    }
  }
});

Deno.test("postForm() says that no reply came", async () => {
  const cause = new TypeError("Cable cut");
  const { result } = await postTokenRequest(failing(cause));
  assertInstanceOf(result, OAuthClientError);
  assertEquals([result.code, result.url], ["network_error", TOKEN_ENDPOINT]);
  assertStrictEquals(result.cause, cause);
});

Deno.test("postForm() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  const { result } = await postTokenRequest(answer, { signal });
  assertStrictEquals(result as unknown, reason);
});

Deno.test("postForm() refuses an endpoint that is missing or unsafe, before any request", async () => {
  const rows: [token_endpoint: unknown, allowHttp?: boolean][] = [
    [undefined],
    [""],
    ["javascript:alert(1)"],
    ["data:text/plain,x"],
    ["file:///etc/passwd"],
    ["http://as.example/token"],
    ["http://as.example/token", false],
    ["https://u:s3cret@as.example/token"],
    ["ftp://as.example/token", true],
    ["/token"],
    [7],
  ];
  const asked = () => Promise.reject(new Error("Asked"));
  using global = stub(globalThis, "fetch", asked);
  for (const [token_endpoint, allowHttp] of rows) {
    const server = untyped({ ...SERVER, token_endpoint });
    const error = await assertRejects(
      () =>
        postForm(
          server,
          "token_endpoint",
          new URLSearchParams(),
          { allowHttp },
          (members) => members,
        ),
      OAuthClientError,
    );
    assertEquals(error.code, token_endpoint ? "url_refused" : "unsupported");
    assert(!error.message.includes("s3cret"));
  }
  assertSpyCalls(global, 0);
});

Deno.test("postForm() names an argument that is of no use", async () => {
  const form = new URLSearchParams();
  const rows: [args: unknown[], name: string][] = [
    [[null, form, {}], "serverMetadata"],
    [[7, form, {}], "serverMetadata"],
    [[SERVER, "a=1", {}], "body"],
    [[SERVER, { a: "1" }, {}], "body"],
    [[SERVER, undefined, {}], "body"],
    [[SERVER, form, "x"], "options"],
    [[SERVER, form, { client: {} }], "client"],
    [[SERVER, form, { client: "c1" }], "client"],
    [[SERVER, form, { dpop: {} }], "dpop"],
    [[SERVER, form, { dpop: "proof" }], "dpop"],
    [[SERVER, form, { fetch: 7 }], "options.fetch"],
    [[SERVER, form, { signal: {} }], "options.signal"],
    [[SERVER, form, { headers: new Headers() }], "headers"],
  ];
  using _global = stub(
    globalThis,
    "fetch",
    () => Promise.reject(new Error("Asked")),
  );
  for (const [[server, body, options], name] of rows) {
    await assertInvalidArgument(
      () =>
        untyped(postForm)(
          server,
          "token_endpoint",
          body,
          options,
          () => undefined,
        ),
      name,
    );
  }
});
