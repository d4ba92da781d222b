/** A finding quotes a few values, in one line. */

import { assertEquals } from "@std/assert";
import { list, shown } from "../../../lib/doctor/_facts.ts";

Deno.test("list() names up to five values, and the number of the others", () => {
  const rows: [values: string[], text: string][] = [
    [[], ""],
    [["a"], "a"],
    [["a", "b", "c", "d", "e"], "a, b, c, d, e"],
    [["a", "b", "c", "d", "e", "f"], "a, b, c, d, e and 1 more"],
    [["x".repeat(61)], `${"x".repeat(60)}…`],
  ];
  for (const [values, text] of rows) assertEquals(list(values), text);
});

Deno.test("shown() returns one line of a limited length", () => {
  const rows: [value: unknown, text: string][] = [
    [" a \n\t b ", "a b"],
    ["x".repeat(120), "x".repeat(120)],
    ["x".repeat(121), `${"x".repeat(120)}…`],
    ["https://user:pass@a.example/", "https://[redacted]@a.example/"],
    [
      "Request to https://\u0430pple.example/\u0430 failed",
      "Request to https://xn--pple-43d.example/\u0430 failed",
    ],
    [{}, "object"],
  ];
  for (const [value, text] of rows) assertEquals(shown(value), text);
});
