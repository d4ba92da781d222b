/** The pictures of the documents are those that the script draws, and each page describes its own. */

import { assert, assertEquals } from "@std/assert";
import { PICTURES } from "../../scripts/pictures.ts";

const docs = new URL("../../.github/docs/", import.meta.url);
const PAGES = [
  "../../README.md",
  "quickstart.md",
  "sessions.md",
  "start.md",
  "web.md",
];

Deno.test("each picture is as the script draws it, and pages show it with its description", async () => {
  const pages = await Promise.all(
    PAGES.map((name) => Deno.readTextFile(new URL(name, docs))),
  );
  const all = pages.join("\n").replace(/\s+/g, " ");
  for (const [name, { svg, description }] of Object.entries(PICTURES)) {
    assertEquals(await Deno.readTextFile(new URL(name, docs)), svg, name);
    assert(svg.includes("prefers-color-scheme:dark"));
    const shown = all.matchAll(
      new RegExp(`!\\[([^\\]]*)\\]\\(\\S*${name}\\)`, "g"),
    );
    const texts = new Set([...shown].map(([, text]) => text));
    assertEquals([...texts], [description], name);
  }
});
