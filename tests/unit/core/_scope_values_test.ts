import { assertEquals, assertFalse } from "@std/assert";
import { requireScopes, scopesFrom } from "../../../lib/core/_scope_values.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";

/** Every character that RFC 6749, section 3.3, allows in a scope value. */
const ALLOWED = Array.from({ length: 0x7f }, (_, code) => code)
  .filter((code) => code > 0x20 && code !== 0x22 && code !== 0x5c)
  .map((code) => String.fromCharCode(code)).join("");

/** Values that are not scope values, with the way a message quotes them. */
const UNFIT: [value: string, quoted: string][] = [
  ["", '""'],
  [" ", '" "'],
  ["read admin", '"read admin"'],
  ['say"', '"say\\""'],
  ["a\\b", '"a\\\\b"'],
  ["a\tb", '"a\\tb"'],
  ["a\nb", '"a\\nb"'],
  ["\u00e9", '"\u00e9"'],
  ["x ".repeat(500), `"${"x ".repeat(25)}"`],
];

Deno.test("requireScopes() returns a list of valid scope values", () => {
  const scopes = Object.freeze(["b", "a", "b", ALLOWED, "https://a.example/x"]);
  assertEquals(requireScopes("scopes", scopes), [...scopes]);
  assertEquals(requireScopes("scopes", []), []);
});

Deno.test("requireScopes() rejects and quotes the start of any other value", () => {
  for (const [value, quoted] of UNFIT) {
    const error = assertThrowsCode(
      () => requireScopes("scopes", ["read", value]),
      "invalid_argument",
    );
    assertEquals(
      error.message,
      "scopes must be an array of scope values (RFC 6749, section 3.3), " +
        `but contains ${quoted}`,
    );
  }
  const { message } = assertThrowsCode(
    () => requireScopes("scopes", ["a\u202eb\u007f"]),
    "invalid_argument",
  );
  assertFalse(/[\u202e\u007f]/.test(message));
});

Deno.test("requireScopes() rejects what is not an array of strings", () => {
  for (const value of [undefined, null, "read", 1, {}, [1], ["a", {}]]) {
    assertThrowsCode(
      () => requireScopes("scopes", value),
      "invalid_argument",
      "scopes must be an array of strings",
    );
  }
});

Deno.test("scopesFrom() splits strings and lists, and drops what is not allowed", () => {
  const rows: [value: unknown, expected: string[]][] = [
    ["", []],
    [" \t\r\n ", []],
    ["a", ["a"]],
    ["  b \t a\nb ", ["b", "a"]],
    [["read admin"], ["read", "admin"]],
    [["b", "a", "b a", ""], ["b", "a"]],
    [["a", 1, null, undefined, {}, ["b"], "c"], ["a", "c"]],
    ['a "b" c\\d e\u0000 f\u00e9 g', ["a", "g"]],
    ["__proto__ constructor", ["__proto__", "constructor"]],
    [ALLOWED, [ALLOWED]],
    ...[undefined, null, 1, true, {}, new Set(["a"])].map((value) =>
      [value, []] as [unknown, string[]]
    ),
  ];
  for (const [value, expected] of rows) {
    assertEquals(scopesFrom(value), expected, String(value));
  }
});
