import {
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  optionalFunction,
  optionalString,
  requireArgument,
  requireHttpUrl,
  requireNonEmptyString,
  requireObject,
  requireString,
  requireStringMembers,
  requireStrings,
} from "../../../lib/core/_arguments.ts";
import { parseHttpUrl } from "../../../lib/core/_url.ts";
import { OAuthClientError } from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";

const HIDDEN = "HIDDEN";
const FUNCTION = () => HIDDEN;
/** Values of every kind. Those with a string in them hold `HIDDEN`. */
const VALUES: unknown[] = [
  ...[undefined, null, false, true, 0, 42, NaN, 0n, 1n, "", HIDDEN],
  ...[Symbol(HIDDEN), FUNCTION, new String(HIDDEN)],
  ...[{}, { a: HIDDEN }, { a: 1 }, { toString: FUNCTION }],
  ...[[], [HIDDEN], [HIDDEN, 1], [undefined], [[HIDDEN]]],
  ...[new Map([[HIDDEN, HIDDEN]]), new Headers({ A: HIDDEN })],
  ...[Object.create(null), { length: 0 }, new Uint8Array(0)],
];

const isString = (value: unknown) => typeof value === "string";
const isObject = (value: unknown) => typeof value === "object" && !!value;
const isFunction = (value: unknown) => typeof value === "function";
const isMissing = (value: unknown) => value === undefined || value === null;
const isStrings = (value: unknown) =>
  Array.isArray(value) && value.every(isString);

type Check = (name: string, value: unknown) => unknown;
/** Each check, the values that it accepts, and what it says of the others. */
const CHECKS: [check: Check, accepts: Check, expected: string][] = [
  [requireString, (_, value) => isString(value), "a string"],
  [
    requireNonEmptyString,
    (_, value) => isString(value) && value !== "",
    "a non-empty string",
  ],
  [
    optionalString,
    (_, value) => isString(value) || isMissing(value),
    "a string",
  ],
  [requireStrings, (_, value) => isStrings(value), "an array of strings"],
  [requireObject, (_, value) => isObject(value), "an object"],
  [
    optionalFunction,
    (_, value) => isFunction(value) || isMissing(value),
    "a function",
  ],
  [
    requireStringMembers,
    (_, value) =>
      value === undefined ||
      (isObject(value) && !(Symbol.iterator in Object(value)) &&
        Object.values(value as object).every(isString)),
    "a plain object of strings",
  ],
];

for (const [check, accepts, expected] of CHECKS) {
  Deno.test(`${check.name}() returns ${expected}, and names anything else`, () => {
    const accepted = VALUES.filter((value) => accepts("", value));
    for (const value of VALUES) {
      if (accepted.includes(value)) {
        const result = check("name", value);
        const missing = check === requireStringMembers
          ? {}
          : check === optionalString
          ? undefined
          : value;
        const isNone = isMissing(value) ||
          (check === optionalString && value === "");
        assertEquals(result, isNone ? missing : value);
        if (isObject(value)) assertStrictEquals(result, value);
        continue;
      }
      const error = assertThrows(() => check("name", value), OAuthClientError);
      assertEquals(
        [error.code, error.message, error.cause],
        ["invalid_argument", `name must be ${expected}`, undefined],
      );
    }
    assertEquals([0, VALUES.length].includes(accepted.length), false);
  });
}

Deno.test("requireArgument() throws unless the condition holds", () => {
  requireArgument(true, "name", "right");
  assertThrowsCode(
    () => requireArgument(false, "options.fetch", "a function"),
    "invalid_argument",
    "options.fetch must be a function",
  );
});

const HTTP_URLS: [value: string | URL, href: string][] = [
  ["https://as.example", "https://as.example/"],
  ["http://127.0.0.1:8080/a?b#c", "http://127.0.0.1:8080/a?b#c"],
  ["HTTPS://AS.Example:443/A", "https://as.example/A"],
  ["https://as.example/@user:pw", "https://as.example/@user:pw"],
  [new URL("https://as.example/a"), "https://as.example/a"],
];
const OTHER_URLS: unknown[] = [
  ...VALUES,
  ...["/HIDDEN", "//HIDDEN.example", "HIDDEN.example", "http://"],
  ...["https://HIDDEN.example:99999", "https://HID DEN.example"],
  ...["ftp://HIDDEN.example", "file:///HIDDEN", "javascript:HIDDEN"],
  ...["data:,HIDDEN", "ws://HIDDEN.example", "blob:https://HIDDEN.example/1"],
  ...["https://HIDDEN@as.example", "https://user:HIDDEN@as.example"],
  ...["https://:HIDDEN@as.example", new URL("ftp://HIDDEN.example")],
];

Deno.test("requireHttpUrl() and parseHttpUrl() parse a string or URL without credentials", () => {
  for (const [value, href] of HTTP_URLS) {
    const url = requireHttpUrl("url", value);
    assertInstanceOf(url, URL);
    assertEquals([url.href, parseHttpUrl(value)?.href], [href, href]);
  }
  for (const value of OTHER_URLS) {
    assertStrictEquals(parseHttpUrl(value), undefined);
    const error = assertThrowsCode(
      () => requireHttpUrl("targetResource", value),
      "invalid_argument",
      "targetResource must be an absolute http or https URL without credentials",
    );
    assertNotMatch(error.message, /HIDDEN/);
  }
});
