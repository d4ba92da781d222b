/** Messages of errors are compared with `tests/messages/`. */

import { assertEquals } from "@std/assert";
import {
  formatSections,
  parseSections,
  type PinningTest,
  sectionsAfter,
} from "../../scripts/support/pinned_messages.ts";

const A = "tests/unit/core/a_test.ts";
const FIRST = { place: `${A}:9`, name: "first", messages: ["1", "2\n3"] };
const SECOND = { place: `${A}:10`, name: "second", messages: ["4", "1"] };
const OTHER = { place: "tests/flows/b_test.ts:1", name: "b", messages: ["5"] };
const PINNED = `${A}\n\n1\n2\\n3\n\n4\n`;

/** What is pinned after these tests. */
const after = (tests: PinningTest[], isPart = false, before = PINNED) =>
  formatSections(sectionsAfter(parseSections(before), tests, isPart));

Deno.test("sectionsAfter() has the messages of a file in the order of its tests", () => {
  const silent = { place: `${A}:1`, name: "silent", messages: [] };
  assertEquals(after([SECOND, silent, FIRST], false, ""), PINNED);
  const both = `tests/flows/b_test.ts\n\n5\n\n${PINNED}`;
  assertEquals(after([SECOND, OTHER, FIRST]), both);
  assertEquals(formatSections(parseSections(both)), both);
});

Deno.test("sectionsAfter() removes what no test of a file pins, if all have run", () => {
  const rows: [tests: PinningTest[], isPart: boolean, expected: string][] = [
    [[SECOND], false, `${A}\n\n4\n1\n`],
    [[OTHER], false, `tests/flows/b_test.ts\n\n5\n\n${PINNED}`],
    [[SECOND], true, PINNED],
    [[{ ...SECOND, messages: ["6"] }], true, `${PINNED}6\n`],
    // A platform may leave a test out.
    [[FIRST, { place: `${A}:10`, name: "second" }], false, PINNED],
    [[{ ...FIRST, messages: [] }, { ...SECOND, messages: [] }], false, ""],
  ];
  for (const [tests, isPart, expected] of rows) {
    assertEquals(after(tests, isPart), expected);
  }
});
