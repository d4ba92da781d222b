/**
 * The claims of a JWT are read without a look at its signature, or an error says what
 * is wrong.
 */

import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import { getClaimsFromJWT, type OAuthClientError } from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";
import { encodeBase64Url } from "../../support/base64url.ts";

const HEADER = encodeBase64Url('{"alg":"none"}');
// Starts with a letter, as V8 quotes what surrounds an unexpected letter.
const SECRET = "SECRET0123456789";

const PARTS =
  "Invalid JWT token format: token must have three parts separated by dots";
const FAILED = "Failed to parse JWT token";
const NO_OBJECT = {
  header: `${FAILED}: Invalid JWT token format: header is not a JSON object`,
  payload: `${FAILED}: Invalid JWT token format: payload is not a JSON object`,
};

function tokenOf(payload: string, signature = "c2ln"): string {
  return `${HEADER}.${encodeBase64Url(payload)}.${signature}`;
}

function rejection(token: unknown): OAuthClientError {
  const call = () => getClaimsFromJWT(token as string);
  const error = assertThrowsCode(call, "invalid_jwt");
  // What a parser throws may quote the token.
  assertEquals(error.cause, undefined);
  return error;
}

Deno.test("getClaimsFromJWT() reads the payload of the token of RFC 7519, section 3.1", () => {
  const token =
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  assertEquals(getClaimsFromJWT(token) as unknown, {
    iss: "joe",
    exp: 1300819380,
    "http://example.com/is_root": true,
  });
});

Deno.test("getClaimsFromJWT() does not look at the signature", () => {
  for (const signature of ["", "sig", "!", " ", "=", "ä", "\u0000"]) {
    assertEquals(getClaimsFromJWT(tokenOf('{"sub":"u"}', signature)).sub, "u");
  }
});

Deno.test("getClaimsFromJWT() keeps __proto__ as an own property", () => {
  const json = '{"__proto__":{"admin":true},"constructor":"c"}';
  const claims = getClaimsFromJWT(tokenOf(json));
  assertEquals(Object.keys(claims), ["__proto__", "constructor"]);
  assert(Object.getPrototypeOf(claims) === Object.prototype);
  assertEquals(claims.admin, undefined);
  assert(!("admin" in {}));
  assertEquals(JSON.stringify(claims), json);
});

Deno.test("getClaimsFromJWT() rejects anything but three parts", () => {
  const payload = encodeBase64Url(JSON.stringify({ jti: SECRET }));
  const rows = [
    ...["", HEADER, payload, `${HEADER}.${payload}`],
    ...[`${HEADER}.${payload}.s.`, `.${HEADER}.${payload}.s`],
    ...[`${HEADER}.${payload}.s.x`, `${HEADER}.${payload}.s.x.y`],
    ".".repeat(65_536),
  ];
  for (const token of rows) {
    assertEquals(rejection(token).message, PARTS, token.slice(0, 40));
  }
});

Deno.test("getClaimsFromJWT() rejects anything but a string", () => {
  const token = tokenOf("{}");
  const rows = [
    ...[undefined, null, true, false, 0, 42, 1n, Symbol(SECRET), {}, []],
    token.split("."),
    () => token,
  ];
  for (const value of rows) assertEquals(rejection(value).message, PARTS);
});

Deno.test("getClaimsFromJWT() rejects a header or payload that is not a JSON object in base64", () => {
  const good = encodeBase64Url("{}");
  const bytes = (...list: number[]) => encodeBase64Url(new Uint8Array(list));
  const bad: [what: string, part: string][] = [
    ...["null", "[]", '[{"a":1}]', "42", "0", '""', '"{}"', "true"].map((
      json,
    ): [string, string] => [json, encodeBase64Url(json)]),
    ["empty", ""],
    ["empty JSON", encodeBase64Url(" ")],
    ["cut JSON", encodeBase64Url(`{"jti":"${SECRET}"`)],
    ["bare word", encodeBase64Url(SECRET)],
    ["two values", encodeBase64Url("{}{}")],
    ["JSON with a comment", encodeBase64Url("{}//")],
    ["single quotes", encodeBase64Url("{'a':1}")],
    ["BOM in the JSON", encodeBase64Url("\ufeff{}")],
    ["BOM before the base64", "\ufeff" + good],
    ["space before", " " + good],
    ["space after", good + " "],
    ["space inside", good[0] + " " + good.slice(1)],
    ["tab", good + "\t"],
    ["line feed", good + "\n"],
    ["bad character", good + "!"],
    ["bad character inside", good[0] + "*" + good.slice(1)],
    ["umlaut", good + "ä"],
    ["percent-encoded padding", good + "%3D"],
    ["JSON without base64", "{}"],
    ["length 1", "e"],
    ["too much padding", good + "=="],
    ["padding in the middle", "e30=e30="],
    ["invalid UTF-8", bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ["cut UTF-8", bytes(0x7b, 0x7d, 0xc3)],
    ["surrogate in UTF-8", bytes(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ["Latin-1", bytes(0x7b, 0x22, 0xe4, 0x22, 0x3a, 0x31, 0x7d)],
  ];
  for (const [what, part] of bad) {
    for (const token of [`${part}.${good}.s`, `${HEADER}.${part}.s`]) {
      const { message } = rejection(token);
      const part = token.startsWith(HEADER) ? "payload" : "header";
      assertEquals(message, NO_OBJECT[part], what);
    }
  }
});

Deno.test("getClaimsFromJWT() adds no inner message when the failure is not an Error", () => {
  using _parse = stub(JSON, "parse", () => {
    throw "a string";
  });
  assertEquals(rejection(tokenOf("{}")).message, FAILED);
});

Deno.test("getClaimsFromJWT() decodes either alphabet, padded or not", () => {
  // The alphabets differ in the six-bit values 62 and 63.
  const names = ["??>?>?", ">>>???>>>???", "\u00fc\u{1f30d}", "\\ud800", "0"];
  for (const name of names) {
    const json = `{"${name}":[1,{"a":null}],"exp":1.5}`;
    const url = encodeBase64Url(json);
    const standard = url.replaceAll("-", "+").replaceAll("_", "/");
    const padding = "=".repeat(-url.length & 3);
    for (const payload of [url, standard, url + padding, standard + padding]) {
      const claims = getClaimsFromJWT(`${HEADER}.${payload}.`);
      assertEquals(JSON.stringify(claims), JSON.stringify(JSON.parse(json)));
    }
  }
});
