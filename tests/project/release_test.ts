/** A release replaces the notice in README; reports name a page that is there. */

import {
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertThrows,
} from "@std/assert";
import { findingsPage } from "../../lib/doctor/report/_text.ts";
import {
  markPublished,
  PUBLISHED,
  UNPUBLISHED,
} from "../../scripts/release.ts";

Deno.test("markPublished() replaces the notice, and throws where it is not there once", () => {
  const until = "Until then, build it:\n\n```sh\na\n```\n\n";
  assertEquals(
    markPublished(`a\n${UNPUBLISHED}\n${until}b`),
    `a\n${PUBLISHED}\nb`,
  );
  const wrong = ["", PUBLISHED + until, UNPUBLISHED, UNPUBLISHED + UNPUBLISHED];
  for (const text of wrong) {
    assertThrows(() => markPublished(text), Error, "expected once");
  }
});

Deno.test("README.md has what markPublished() removes, and nothing else about it", async () => {
  const url = new URL("../../README.md", import.meta.url);
  const readme = markPublished(await Deno.readTextFile(url));
  assertNotMatch(readme, /until then|published|\.tgz/i);
});

Deno.test("reports of the doctor name a page of the repository that is there", async () => {
  const url = "https://code.example/client";
  const [, path = ""] = `${findingsPage(url)}`.split(`${url}/blob/HEAD/`);
  const text = await Deno.readTextFile(
    new URL(`../../${path}`, import.meta.url),
  );
  assertMatch(text, /^# Findings of the doctor$/m);
});
