import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import fc from "fast-check";
import { OAuthClientError, scopesMatch } from "../../../mod.ts";

type Scopes = string[] | undefined;

Deno.test("scopesMatch() matches one reference with itself, undefined included", () => {
  const scopes = ["a", "b"];
  assert(scopesMatch(scopes, scopes));
  assert(scopesMatch(undefined, undefined));
  assert(scopesMatch([], []));
});

Deno.test("scopesMatch() does not match a list with undefined", () => {
  for (const scopes of [[], ["a"], [""]]) {
    assertFalse(scopesMatch(scopes, undefined));
    assertFalse(scopesMatch(undefined, scopes));
  }
});

Deno.test("scopesMatch() compares length and sorted values", () => {
  const rows: [a: Scopes, b: Scopes, expected: boolean][] = [
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
    // A value that stands twice counts twice.
    [["a", "a"], ["a"], false],
    [["a", "a", "b"], ["a", "b", "b"], false],
    [["a", "a", "b"], ["b", "a", "a"], true],
    // Characters are compared as they are, without normalising.
    [["\u00e9"], ["e\u0301"], false],
    [["10", "9"], ["9", "10"], true],
    [["\ud83d\ude00", "\uffff"], ["\uffff", "\ud83d\ude00"], true],
  ];
  for (const [a, b, expected] of rows) {
    assertEquals(scopesMatch(a, b), expected, `${a} / ${b}`);
    assertEquals(scopesMatch(b, a), expected, `${b} / ${a}`);
  }
});

Deno.test("scopesMatch() leaves its arguments as they were", () => {
  const a = ["c", "a", "b"];
  const b = ["b", "c", "a"];
  assert(scopesMatch(a, b));
  assertEquals(a, ["c", "a", "b"]);
  assertEquals(b, ["b", "c", "a"]);
  assert(scopesMatch(Object.freeze(["b", "a"]), Object.freeze(["a", "b"])));
});

Deno.test("scopesMatch() refuses what is no list of strings", () => {
  const wrong: unknown[] = [
    true,
    42,
    1n,
    "SECRET",
    Symbol("SECRET"),
    {},
    { length: 1, 0: "SECRET" },
    new Set(["SECRET"]),
    () => ["SECRET"],
    [1],
    [undefined],
    [null],
    ["SECRET", null],
    [["SECRET"]],
    [new String("SECRET")],
  ];
  for (const value of wrong) {
    for (
      const [a, b, name] of [
        [value, ["a"], "a"],
        [value, undefined, "a"],
        [["a"], value, "b"],
        [undefined, value, "b"],
      ] as const
    ) {
      const error = assertThrows(
        () => scopesMatch(a as string[], b as string[]),
        OAuthClientError,
      );
      assertEquals(error.code, "invalid_argument");
      assertEquals(error.message, `${name} must be an array of strings`);
    }
  }
});

/** Removes each value of one list from the other, one for one. */
function matchByHand(a: string[], b: string[]): boolean {
  const left = [...b];
  for (const scope of a) {
    const place = left.indexOf(scope);
    if (place === -1) return false;
    left.splice(place, 1);
  }
  return left.length === 0;
}

Deno.test("scopesMatch() agrees with taking values away by hand", () => {
  const scopes = fc.array(fc.constantFrom("a", "b", "ab", "", "ä", "10", "9"), {
    maxLength: 4,
  });
  fc.assert(
    fc.property(scopes, scopes, (a, b) => {
      assertEquals(scopesMatch(a, b), matchByHand(a, b));
    }),
    { numRuns: 1000 },
  );
});

Deno.test("scopesMatch() matches every list with each of its orders, and with no longer one", () => {
  const shuffled = fc.array(fc.string(), { maxLength: 6 }).chain((list) =>
    fc.tuple(
      fc.constant(list),
      fc.shuffledSubarray(list, { minLength: list.length }),
      fc.string(),
    )
  );
  fc.assert(
    fc.property(shuffled, ([list, other, more]) => {
      assert(scopesMatch(list, other));
      assertFalse(scopesMatch(list, [...other, more]));
    }),
    { numRuns: 300 },
  );
});

Deno.test("scopesMatch() refuses what is neither a list nor nothing, falsy or not", () => {
  for (const value of [false, 0, NaN, "", "read", {}, new Array(2)]) {
    const list = value as unknown as string[];
    for (
      const run of [
        () => scopesMatch(list, ["read"]),
        () => scopesMatch(["read"], list),
      ]
    ) {
      assertEquals(
        assertThrows(run, OAuthClientError).code,
        "invalid_argument",
      );
    }
  }
});
