/** Scopes are compared, merged and selected as lists of single values. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  mergeScopes,
  missingScopes,
  scopesMatch,
  selectScopes,
  type SelectScopesOptions,
} from "../../../mod.ts";
import { assertThrowsCode, pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";

type ScopeList = Parameters<typeof mergeScopes>[number];

function assertInvalidArgument(call: () => unknown, message: string): void {
  const error = assertThrowsCode(call, "invalid_argument");
  assertEquals(error.message, message);
}

Deno.test("scopesMatch() compares length and sorted values", () => {
  type Scopes = string[] | undefined;
  const same = ["a", "b"];
  const rows: [a: Scopes, b: Scopes, expected: boolean][] = [
    [undefined, undefined, true],
    [same, same, true],
    [Object.freeze(["b", "a"]) as string[], same, true],
    [[], [], true],
    [[], undefined, false],
    [["a"], undefined, false],
    [[""], undefined, false],
    [["a"], ["a"], true],
    [["a", "b"], ["b", "a"], true],
    [["c", "a", "b"], ["b", "c", "a"], true],
    [["a"], ["b"], false],
    [["a"], [], false],
    [["a"], ["a", "b"], false],
    [["a", "b"], ["a", "c"], false],
    [["a"], ["A"], false],
    [["a"], ["a "], false],
    [["a b"], ["a", "b"], false],
    [["ab", "c"], ["a", "bc"], false],
    [["a,b", "c"], ["a", "b,c"], false],
    [[""], [], false],
    [[""], [""], true],
    // A value that occurs twice counts twice.
    [["a", "a"], ["a"], false],
    [["a", "a", "b"], ["a", "b", "b"], false],
    [["a", "a", "b"], ["b", "a", "a"], true],
    // Characters are compared without normalization.
    [["\u00e9"], ["e\u0301"], false],
    [["10", "9"], ["9", "10"], true],
    [["\ud83d\ude00", "\uffff"], ["\uffff", "\ud83d\ude00"], true],
  ];
  for (const [a, b, expected] of rows) {
    assertEquals(scopesMatch(a, b), expected, `${a} / ${b}`);
    assertEquals(scopesMatch(b, a), expected, `${b} / ${a}`);
  }
});

Deno.test("scopesMatch() rejects what is not a list of strings", () => {
  const wrong: unknown[] = [
    ...[true, false, 0, 42, NaN, 1n, "", "SECRET", Symbol("SECRET"), {}],
    ...[{ length: 1, 0: "SECRET" }, new Set(["SECRET"]), () => ["SECRET"]],
    ...[[1], [undefined], [null], ["SECRET", null], [["SECRET"]]],
    [new String("SECRET")],
  ];
  for (const value of wrong) {
    for (const other of [["a"], undefined]) {
      const call = () => scopesMatch(untyped(value), other);
      assertInvalidArgument(call, "a must be an array of strings");
      assertInvalidArgument(
        () => scopesMatch(other, untyped(value)),
        "b must be an array of strings",
      );
    }
  }
});

Deno.test("mergeScopes() returns each value once, in the order of first occurrence", () => {
  const rows: [lists: ScopeList[], expected: string[]][] = [
    [[], []],
    [[undefined], []],
    [["", []], []],
    [["a"], ["a"]],
    [["  a   b "], ["a", "b"]],
    [[["a", "", "b"]], ["a", "b"]],
    [["b a", ["a", "c"], undefined, "c d"], ["b", "a", "c", "d"]],
    [["a a A"], ["a", "A"]],
    // Servers separate by other whitespace, and put two values into one string.
    [["a,b a\tb\nc"], ["a,b", "a", "b", "c"]],
    [[["read admin", "read"]], ["read", "admin"]],
    // RFC 6749, section 3.3, allows neither of these characters.
    [['a "b" c\\d \u00e9', ["e\u0000", "f"]], ["a", "f"]],
    [["__proto__ constructor"], ["__proto__", "constructor"]],
    [["openid https://a.example/.default"], [
      "openid",
      "https://a.example/.default",
    ]],
  ];
  for (const [lists, expected] of rows) {
    // The result is a list of its own.
    mergeScopes(...lists).push("more");
    assertEquals(mergeScopes(...lists), expected, JSON.stringify(lists));
  }
});

Deno.test("missingScopes() returns what is required and not granted", () => {
  const rows: [required: ScopeList, granted: ScopeList, string[]][] = [
    [undefined, undefined, []],
    ["", "a", []],
    ["a", undefined, ["a"]],
    ["a b", "b a", []],
    ["a b", "b", ["a"]],
    ["b a c", ["c"], ["b", "a"]],
    [["a", "a"], [], ["a"]],
    ["a", "A", ["a"]],
    ["a", "ab", ["a"]],
    ["ab", "a b", ["ab"]],
    [["a", "b"], "a \t b", []],
    ["a b", ["a b"], []],
    [["a b"], "b", ["a"]],
  ];
  for (const [required, granted, expected] of rows) {
    assertEquals(
      missingScopes(required, granted),
      expected,
      JSON.stringify([required, granted]),
    );
  }
});

Deno.test("mergeScopes() and missingScopes() reject what is not a scope list", () => {
  for (const value of [1, true, {}, [1], ["a", null], new Set(["a"])]) {
    const list: ScopeList = untyped(value);
    const rows = [
      [() => mergeScopes("a", list), "scopes"],
      [() => missingScopes("a", list), "granted"],
      [() => missingScopes(list, "a"), "required"],
    ] as const;
    eachRow(rows, ([call, name]) => {
      const { message } = pinThrown(call, "invalid_argument");
      assertStringIncludes(message, name);
    });
  }
});

const challenge = (scope?: string) => ({
  params: scope === undefined ? {} as Record<string, string> : { scope },
});
/** Metadata with these members, of whatever type. */
const lists = (scopes_supported?: unknown) => ({
  scopes_supported: untyped(scopes_supported),
});

Deno.test("selectScopes() prefers the challenge to the metadata of the resource", () => {
  const rows: [SelectScopesOptions, string[] | undefined][] = [
    [{}, undefined],
    [{ challenge: challenge("a  b a ") }, ["a", "b"]],
    [{ challenge: challenge("a"), resourceMetadata: lists(["b"]) }, ["a"]],
    [{ challenge: challenge(), resourceMetadata: lists(["b", "c", "b"]) }, [
      "b",
      "c",
    ]],
    [{ challenge: challenge(" "), resourceMetadata: lists(["b"]) }, ["b"]],
    [{ challenge: challenge('"\\'), resourceMetadata: lists(["b"]) }, ["b"]],
    [{ resourceMetadata: lists([]) }, undefined],
    [{ resourceMetadata: lists() }, undefined],
    [{ challenge: challenge(), resourceMetadata: lists() }, undefined],
    // Servers publish several values in one string, and other types.
    [{ resourceMetadata: lists(["read admin", "read"]) }, ["read", "admin"]],
    [{ resourceMetadata: lists(["b", 1, "\u00e9"]) }, ["b"]],
    [{ resourceMetadata: lists("b c") }, ["b", "c"]],
    [{ resourceMetadata: lists({}) }, undefined],
    // The scopes of the authorization server are those of all its resources.
    [{ serverMetadata: lists(["x"]) }, undefined],
    [{ serverMetadata: lists(["x"]), resourceMetadata: lists(["b"]) }, ["b"]],
  ];
  for (const [options, expected] of rows) {
    selectScopes(options)?.push("more");
    assertEquals(selectScopes(options), expected, JSON.stringify(options));
  }
});

Deno.test("selectScopes() adds offline_access where it is wanted and listed", () => {
  const offline = lists(["openid", "offline_access"]);
  const rows: [SelectScopesOptions, isAdded: boolean][] = [
    [{ offlineAccess: true, serverMetadata: offline }, true],
    [{ offlineAccess: false, serverMetadata: offline }, false],
    [{ serverMetadata: offline }, false],
    [{ offlineAccess: true }, false],
    ...[undefined, ["openid"], "no_offline_access", {}, [["offline_access"]]]
      .map((listed): typeof rows[0] => [
        { offlineAccess: true, serverMetadata: lists(listed) },
        false,
      ]),
  ];
  for (const [options, isAdded] of rows) {
    const text = JSON.stringify(options);
    const expected = isAdded ? ["a", "offline_access"] : ["a"];
    const rows = [
      { challenge: challenge("a") },
      { resourceMetadata: lists(["a"]) },
    ];
    for (const source of rows) {
      assertEquals(selectScopes({ ...options, ...source }), expected, text);
    }
    // Alone, it would replace the default of the server.
    assertEquals(selectScopes(options), undefined, text);
  }
  const once = { challenge: challenge("offline_access a") };
  assertEquals(
    selectScopes({ ...once, serverMetadata: offline, offlineAccess: true }),
    ["offline_access", "a"],
  );
});

Deno.test("selectScopes() rejects options that are not an object", () => {
  for (const options of [undefined, null, 1, "a"]) {
    pinThrown(() => selectScopes(untyped(options)), "invalid_argument");
  }
  // The header field in place of what findChallenge() returns.
  pinThrown(
    () => selectScopes({ challenge: untyped('Bearer scope="a"') }),
    "invalid_argument",
  );
});
