/** The list of exports does not depend on the order in which TypeScript reads files. */

import { assertEquals } from "@std/assert";
import { sortUnions } from "../../scripts/support/public_api.ts";

Deno.test("sortUnions() sorts the members of each union of a line", () => {
  const rows: [line: string, expected?: string][] = [
    ["const a: string | number", "const a: number | string"],
    [
      'type T = "b | x" | "a" | `c | ${string}`',
      'type T = "a" | "b | x" | `c | ${string}`',
    ],
    ['type T = "say \\"b\\"" | "a"', 'type T = "a" | "say \\"b\\""'],
    // A union is as far as a return type, a parameter or a member reaches.
    [
      "interface I.f?: (b: string | URL, a: C) => string | Promise<string>",
      "interface I.f?: (b: URL | string, a: C) => Promise<string> | string",
    ],
    ["function f(a: B): b is T | S", "function f(a: B): b is S | T"],
    [
      "function f(...a: (string | readonly string[])[]): Z & B | A[]",
      "function f(...a: (readonly string[] | string)[]): A[] | Z & B",
    ],
    [
      "const a: Map<Z | B, (() => Z | A) | B>",
      "const a: Map<B | Z, (() => A | Z) | B>",
    ],
    [
      'type T = { type: "b"; c: 2 | 1; } | { type: "a"; }',
      'type T = { type: "a"; } | { type: "b"; c: 1 | 2; }',
    ],
    [
      "type T<K> = K extends B | A ? Z | Y : X | W",
      "type T<K> = K extends A | B ? Y | Z : W | X",
    ],
    [
      "type T = undefined | { a: null | 1; }",
      "type T = { a: 1 | null; } | undefined",
    ],
    ["function f(a: B, b?: C): void"],
  ];
  for (const [line, expected = line] of rows) {
    assertEquals(sortUnions(line), expected);
    assertEquals(sortUnions(expected), expected);
  }
});
