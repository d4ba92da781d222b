import { assertEquals } from "@std/assert";
import {
  compareLists,
  withoutRepeatedMembers,
} from "../../scripts/check_exports.ts";

Deno.test("compareLists() names what is missing, then what is additional", () => {
  assertEquals(compareLists(["a", "b"], ["b", "a"]), []);
  assertEquals(compareLists(["a", "c"], ["a", "b"]), ["- b", "+ c"]);
});

Deno.test("withoutRepeatedMembers() keeps names, and members that differ", () => {
  const main = [
    "interface A",
    "interface A.b: string",
    "interface A[string]: unknown",
    "type B = string",
  ];
  assertEquals(withoutRepeatedMembers(main, main), [
    "interface A",
    "type B = string",
  ]);
  const other = ["class C.new(): C", "interface A", "interface A.b: number"];
  assertEquals(withoutRepeatedMembers(other, main), other);
});
