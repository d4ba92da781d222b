import { assertEquals, assertThrows } from "@std/assert";
import {
  findReleaseProblems,
  markPublished,
  PUBLISHED,
  UNPUBLISHED,
} from "../../scripts/release.ts";

Deno.test("markPublished() replaces the notice, and throws where it is not there once", () => {
  assertEquals(markPublished(`a\n${UNPUBLISHED}\nb`), `a\n${PUBLISHED}\nb`);
  for (const text of ["", PUBLISHED, UNPUBLISHED + UNPUBLISHED]) {
    assertThrows(() => markPublished(text), Error, "expected once");
  }
});

Deno.test("findReleaseProblems() finds another tag, and the notice that nothing is published", () => {
  const rows: [tag: string | undefined, text: string, problems: number][] = [
    ["v1.2.3", PUBLISHED, 0],
    ["v1.2.3", UNPUBLISHED, 1],
    ...["v1.2.4", "1.2.3", "", undefined].map((tag): typeof rows[number] => [
      tag,
      PUBLISHED,
      1,
    ]),
  ];
  for (const [tag, text, problems] of rows) {
    assertEquals(findReleaseProblems(tag, "1.2.3", text).length, problems, tag);
  }
});
