import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  findReleaseProblems,
  markPublished,
  PUBLISHED,
  UNPUBLISHED,
} from "../../scripts/release.ts";

const readme = Deno.readTextFileSync(
  new URL("../../README.md", import.meta.url),
);

Deno.test("markPublished() removes the notice from README.md and nothing else", () => {
  // As it is before the first release, also after it.
  const before = readme.replace(PUBLISHED, UNPUBLISHED);
  const after = readme.replace(UNPUBLISHED, PUBLISHED);
  assertEquals(markPublished(before), after);
  assertEquals(
    before.length - after.length,
    "Not yet published. Then:\n\n".length,
  );
});

Deno.test("markPublished() throws where the notice is not there once", () => {
  for (
    const text of [
      readme.replace(UNPUBLISHED, PUBLISHED),
      "",
      UNPUBLISHED.replace("yet", "so far"),
      UNPUBLISHED + UNPUBLISHED,
    ]
  ) assertThrows(() => markPublished(text), Error, "expected once");
});

Deno.test("findReleaseProblems() compares the tag with the version", () => {
  const problemOf = (tag?: string) =>
    findReleaseProblems(tag, "1.2.3", PUBLISHED).join();
  assertEquals(problemOf("v1.2.3"), "");
  assertEquals(
    problemOf("v1.2.4"),
    "The tag is v1.2.4, expected v1.2.3 as in deno.json",
  );
  for (const tag of ["1.2.3", "", undefined]) {
    assertMatch(problemOf(tag), /^The tag is /);
  }
});

Deno.test("findReleaseProblems() finds the notice that nothing is published", () => {
  const problemsOf = (text: string) =>
    findReleaseProblems("v1.2.3", "1.2.3", text);
  assertEquals(problemsOf(readme.replace(UNPUBLISHED, PUBLISHED)), []);
  assertMatch(problemsOf(UNPUBLISHED).join(), /^README.md does not say how/);
});
