import {
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  optionalText,
  parseHttpUrl,
  requireArgument,
  requireHttpUrl,
  requireObject,
  requireText,
  requireTextMembers,
  requireTexts,
} from "../../../lib/core/_arguments.ts";
import { OAuthClientError } from "../../../mod.ts";

/** The message with which a check refuses. */
function refusal(check: () => unknown): string {
  const error = assertThrows(check, OAuthClientError);
  assertEquals(error.code, "invalid_argument");
  assertEquals(error.cause, undefined);
  assertNotMatch(error.message, /HIDDEN/);
  return error.message;
}

/** One of each kind of value that is neither a string nor falsy. */
const TRUTHY: unknown[] = [
  true,
  42,
  1n,
  Symbol("HIDDEN"),
  {},
  { toString: () => "HIDDEN" },
  [],
  ["HIDDEN"],
  () => "HIDDEN",
  new String("HIDDEN"),
  new URL("https://HIDDEN.example"),
];
const FALSY: unknown[] = [undefined, null, false, 0, NaN, 0n];

Deno.test("requireArgument() passes where the check holds", () => {
  assertStrictEquals(requireArgument(true, "name", "right"), undefined);
});

Deno.test("requireArgument() names the argument where it does not", () => {
  assertEquals(
    refusal(() => requireArgument(false, "options.fetch", "a function")),
    "options.fetch must be a function",
  );
});

Deno.test("requireText() returns a string with a character", () => {
  for (const text of ["a", " ", "0", "\u0000", "ä😀"]) {
    assertStrictEquals(requireText("name", text), text);
  }
});

Deno.test("requireText() refuses everything else", () => {
  for (const value of [...TRUTHY, ...FALSY, ""]) {
    assertEquals(
      refusal(() => requireText("clientId", value)),
      "clientId must be a non-empty string",
    );
  }
});

Deno.test("optionalText() returns a string, and an empty one for nothing", () => {
  assertStrictEquals(optionalText("name", "a"), "a");
  assertStrictEquals(optionalText("name", " "), " ");
  for (const nothing of [undefined, null, ""]) {
    assertStrictEquals(optionalText("name", nothing), "");
  }
});

Deno.test("optionalText() refuses what is there and no string", () => {
  for (const value of TRUTHY) {
    assertEquals(
      refusal(() => optionalText("resource", value)),
      "resource must be a non-empty string",
    );
  }
});

Deno.test("requireTexts() returns the array itself", () => {
  for (const texts of [[], ["a"], ["", "b", "b"]]) {
    assertStrictEquals(requireTexts("scopes", texts), texts);
  }
});

Deno.test("requireTexts() refuses everything else", () => {
  const lists = [
    [1],
    [undefined],
    [null],
    ["HIDDEN", 1],
    [["HIDDEN"]],
    [new String("HIDDEN")],
  ];
  const others = TRUTHY.filter((value) => !Array.isArray(value));
  for (
    const value of [
      ...lists,
      ...others,
      ...FALSY,
      "",
      "HIDDEN",
      { length: 0 },
      new Set(["HIDDEN"]),
      new Uint8Array(0),
      { every: () => true },
    ]
  ) {
    assertEquals(
      refusal(() => requireTexts("scopes", value)),
      "scopes must be an array of strings",
    );
  }
});

Deno.test("requireObject() returns the object itself", () => {
  for (const value of [{}, { a: 1 }, [], new Map(), Object.create(null)]) {
    assertStrictEquals(requireObject("options", value), value);
  }
});

Deno.test("requireObject() refuses everything else", () => {
  const others = TRUTHY.filter((value) => typeof value !== "object");
  for (const value of [...others, ...FALSY, "", "HIDDEN"]) {
    assertEquals(
      refusal(() => requireObject("options", value)),
      "options must be an object",
    );
  }
});

Deno.test("requireTextMembers() passes nothing and a plain object of strings", () => {
  const bare = Object.assign(Object.create(null), { A: "1" });
  for (const value of [undefined, {}, { A: "1", b: "" }, bare]) {
    assertStrictEquals(requireTextMembers("headers", value), undefined);
  }
});

Deno.test("requireTextMembers() refuses everything else", () => {
  const fields = [undefined, null, 1, ["HIDDEN"], new String("HIDDEN")];
  for (
    const value of [
      ...fields.map((field) => ({ A: "1", B: field })),
      ...[null, false, true, 0, 42, "", "HIDDEN", () => "HIDDEN"],
      new Headers({ A: "HIDDEN" }),
      new Map([["A", "HIDDEN"]]),
      [["A", "HIDDEN"]],
    ]
  ) {
    assertEquals(
      refusal(() => requireTextMembers("headers", value)),
      "headers must be a plain object of strings",
    );
  }
});

/** Text as given, and as a URL writes it. */
const HTTP_URLS: [value: string, href: string][] = [
  ["https://as.example", "https://as.example/"],
  ["http://127.0.0.1:8080/a?b#c", "http://127.0.0.1:8080/a?b#c"],
  ["HTTPS://AS.Example:443/A", "https://as.example/A"],
  ["https://as.example/@user:pw", "https://as.example/@user:pw"],
];
const NO_HTTP_URLS: unknown[] = [
  ...TRUTHY,
  ...FALSY,
  Object.create(null),
  ["https://HIDDEN.example"],
  "",
  "/HIDDEN",
  "//HIDDEN.example",
  "HIDDEN.example",
  "http://",
  "https://HIDDEN.example:99999",
  "https://HID DEN.example",
  "ftp://HIDDEN.example",
  "file:///HIDDEN",
  "javascript:HIDDEN",
  "data:,HIDDEN",
  "ws://HIDDEN.example",
  "blob:https://HIDDEN.example/1",
  "https://HIDDEN@as.example",
  "https://user:HIDDEN@as.example",
  "https://:HIDDEN@as.example",
];

Deno.test("parseHttpUrl() tells an http or https URL without credentials from the rest", () => {
  for (const [value] of HTTP_URLS) {
    assertEquals(parseHttpUrl(value)?.href, new URL(value).href);
  }
  for (const value of NO_HTTP_URLS) {
    assertStrictEquals(parseHttpUrl(value), undefined);
  }
});

Deno.test("requireHttpUrl() returns a URL", () => {
  for (const [value, href] of HTTP_URLS) {
    const url = requireHttpUrl("url", value);
    assertInstanceOf(url, URL);
    assertEquals(url.href, href);
  }
});

Deno.test("requireHttpUrl() refuses everything else", () => {
  for (const value of NO_HTTP_URLS) {
    assertEquals(
      refusal(() => requireHttpUrl("targetResource", value)),
      "targetResource must be an absolute http or https URL without credentials",
    );
  }
});

Deno.test("optionalText() refuses falsy values that are not nothing", () => {
  for (const value of [0, false, NaN, 0n]) {
    assertThrows(() => optionalText("name", value), OAuthClientError, "name");
  }
});

Deno.test("requireTexts() refuses a list with holes", () => {
  assertThrows(
    () => requireTexts("scopes", new Array(2)),
    OAuthClientError,
    "scopes must be an array of strings",
  );
});
