import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  isMembers,
  numberMember,
  stringMember,
  stringsIn,
  withoutNulls,
} from "../../../lib/core/_members.ts";

Deno.test("isMembers() accepts JSON objects only", () => {
  for (const value of [{}, { a: 1 }]) assertEquals(isMembers(value), true);
  for (const value of [null, undefined, [], "x", 1, true]) {
    assertEquals(isMembers(value), false);
  }
});

Deno.test("withoutNulls() removes the members that are null, and nothing else", () => {
  const members = JSON.parse('{"a":null,"__proto__":1,"b":{"c":null},"d":0}');
  const expected = JSON.parse('{"__proto__":1,"b":{"c":null},"d":0}');
  assertEquals(JSON.stringify(withoutNulls(members)), JSON.stringify(expected));
  for (const value of [{ a: 1 }, [null], null, "x", undefined]) {
    assertStrictEquals(withoutNulls(value), value);
  }
});

Deno.test("stringMember() returns a string that is not empty", () => {
  assertEquals(stringMember({ a: "x" }, "a"), "x");
  for (const a of ["", null, undefined, 1, true, ["x"], {}]) {
    assertEquals(stringMember({ a }, "a"), undefined);
  }
});

Deno.test("numberMember() returns a finite number, or that of a string of digits", () => {
  const rows: [value: unknown, number: number | undefined][] = [
    [60, 60],
    [0, 0],
    [-1, -1],
    [1.5, 1.5],
    ["60", 60],
    ["-1", -1],
    ["007", 7],
    ...["", " 5", "5 ", "1.5", "1e3", "0x1", "+1", "soon", "9".repeat(400)]
      .map((value): [string, undefined] => [value, undefined]),
    ...[NaN, Infinity, null, undefined, true, [60], {}]
      .map((value): [unknown, undefined] => [value, undefined]),
  ];
  for (const [a, number] of rows) {
    assertEquals([a, numberMember({ a }, "a")], [a, number]);
  }
});

Deno.test("stringsIn() returns the strings of a list", () => {
  const rows: [value: unknown, strings: string[] | undefined][] = [
    [["a", "", "b"], ["a", "", "b"]],
    [["a", 1, null, ["b"], undefined], ["a"]],
    [[], []],
    ...["a", null, undefined, { 0: "a", length: 1 }, true]
      .map((value): [unknown, undefined] => [value, undefined]),
  ];
  for (const [value, strings] of rows) assertEquals(stringsIn(value), strings);
});
