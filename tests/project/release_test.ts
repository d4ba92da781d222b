/** A release finds what its tag, its notices and its registries lack. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { findingsPage } from "../../lib/doctor/report/_text.ts";
import {
  findMissing,
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

Deno.test("reports of the doctor name a page of the repository that is there", async () => {
  const url = "https://code.example/client";
  const [, path = ""] = `${findingsPage(url)}`.split(`${url}/blob/HEAD/`);
  const text = await Deno.readTextFile(
    new URL(`../../${path}`, import.meta.url),
  );
  assertMatch(text, /^# Findings of the doctor$/m);
});

const PINNED = `actions/checkout@${"a".repeat(40)}`;

Deno.test("findMissing() says what a first publication lacks", () => {
  const ready = {
    version: "1.2.3",
    readme: PUBLISHED,
    changelog: "# Changelog\n\n## 1.2.3 - 2026-01-01\n",
    repository: "https://code.example/client",
    isNameTaken: false,
    actions: [PINNED],
  };
  assertEquals(findMissing(ready), []);
  const lacks: Record<string, object> = {
    REPOSITORY: { repository: undefined },
    "did not say": { isNameTaken: undefined },
    "no first publication": { isNameTaken: true },
    "release readme": { readme: UNPUBLISHED },
    "no entry for 1.2.4": { version: "1.2.4" },
    "without a commit: actions/checkout@v6": {
      actions: [PINNED, "actions/checkout@v6"],
    },
  };
  for (const [words, change] of Object.entries(lacks)) {
    const [message = "", ...others] = findMissing({ ...ready, ...change });
    assertEquals([message.includes(words), others], [true, []], message);
  }
});
