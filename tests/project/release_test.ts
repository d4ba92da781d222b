/** A release replaces the notice in README; reports name a page that is there. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { findingsPage } from "../../lib/doctor/report/_text.ts";
import {
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

Deno.test("reports of the doctor name a page of the repository that is there", async () => {
  const url = "https://code.example/client";
  const [, path = ""] = `${findingsPage(url)}`.split(`${url}/blob/HEAD/`);
  const text = await Deno.readTextFile(
    new URL(`../../${path}`, import.meta.url),
  );
  assertMatch(text, /^# Findings of the doctor$/m);
});
