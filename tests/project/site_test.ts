/** How pages of the repository become pages of the site. */
import { assertEquals, assertThrows } from "@std/assert";
import { type ApiPage, finishPage } from "../../scripts/docs/api.ts";
import { listPages } from "../../scripts/docs/menu.ts";
import {
  descriptionOf,
  linkTo,
  replaceLinks,
  targetOf,
  titleOf,
} from "../../scripts/docs/pages.ts";
import { fragmentOf } from "../../scripts/site/.vitepress/slug.ts";

const entry = (source: string, path?: string) => ({
  source,
  ...(path === undefined ? {} : { path }),
});
const menuOf = (...entries: ReturnType<typeof entry>[]) => [
  { text: "Guide", entries },
];

Deno.test("listPages() lists the pages of a folder below the page of its name", () => {
  const pages = listPages(
    [".github/docs/a.md", ".github/docs/a/two.md", ".github/docs/a/one.md"],
    menuOf(entry("README.md", "overview"), entry(".github/docs/a.md")),
  );
  assertEquals(pages.map(({ path, parent }) => [path, parent]), [
    ["overview", undefined],
    ["a", undefined],
    ["a/one", ".github/docs/a.md"],
    ["a/two", ".github/docs/a.md"],
  ]);
});

Deno.test("targetOf() returns the page, example or image that a file is on the site", () => {
  const pages = new Map([["README.md", "overview"]]);
  const rows: [string, ReturnType<typeof targetOf>][] = [
    ["README.md", { path: "overview" }],
    [".github/docs/doctor.png", { path: "doctor.png", takes: "image" }],
    ["tests/examples/hosts", { path: "examples/index" }],
    [
      "tests/examples/hosts/slack.ts",
      { path: "examples/hosts/slack", takes: "example" },
    ],
    ["deno.json", undefined],
  ];
  for (const [source, expected] of rows) {
    assertEquals(targetOf(source, pages), expected, source);
  }
});

Deno.test("replaceLinks() replaces links to files, and leaves code, URLs and fragments", () => {
  const known = (path: string) => path === "LICENSE" ? undefined : `<${path}>`;
  const rows: [markdown: string, expected: string][] = [
    ["[a\nb](../a.md#x) c", "[a\nb](<.github/a.md>#x) c"],
    [
      "[`a`](b.md), ![c](d.svg)",
      "[`a`](<.github/docs/b.md>), ![c](<.github/docs/d.svg>)",
    ],
    ["the [licence](../../LICENSE)", "the licence"],
    ["[a](#b), [c](https://d.example/e)", "[a](#b), [c](https://d.example/e)"],
    ["`[a](b.md)` ``[`](b.md)``", "`[a](b.md)` ``[`](b.md)``"],
    ["```ts\n[a](b.md)\n```", "```ts\n[a](b.md)\n```"],
  ];
  for (const [markdown, expected] of rows) {
    const source = ".github/docs/start.md";
    assertEquals(replaceLinks(markdown, source, known), expected);
  }
});

Deno.test("linkTo() returns a link between pages of any folders", () => {
  assertEquals(linkTo("start", "overview"), "./start.md");
  assertEquals(linkTo("examples/a", "examples/hosts/b"), "../a.md");
  assertEquals(linkTo("providers", "providers/google"), "../providers.md");
});

Deno.test("titleOf() and descriptionOf() return text without marks", () => {
  const page = "# The `a` of\n\n<!-- b -->\n\n```ts\nc\n```\n\n" +
    "Read [`d`](e.md) **first**.\nThen f.\n\nNext.\n";
  assertEquals(titleOf(page), "The a of");
  assertEquals(descriptionOf(page), "Read d first. Then f.");
  assertEquals(descriptionOf(`# A\n\nUse "b".\n`), "Use 'b'.");
  const long = `${"word ".repeat(20)}end. ${"more ".repeat(40)}`;
  assertEquals(descriptionOf(long), `${"word ".repeat(20)}end.`);
});

Deno.test("fragmentOf() returns the fragment of GitHub", () => {
  const rows: [string, string][] = [
    ["It's `null`, or AADSTS50011", "its-null-or-aadsts50011"],
    ["redirect_uri – who?", "redirect_uri--who"],
    ["Für Betreiber", "für-betreiber"],
  ];
  for (const [title, fragment] of rows) {
    assertEquals(fragmentOf(title), fragment);
  }
});

Deno.test("finishPage() throws for an export without a page, and keeps code as it is", () => {
  const exports = [{ name: "A_B", isType: false, file: "lib/a.ts" }];
  const specifier = "@oauth-helper/client";
  const one: ApiPage = {
    ...{ path: "api/a", title: "A_B", specifier, section: "", exports },
  };
  const markdown =
    "# api/a\n\n## A\\_B() {#A_B}\n\n### Returns\n\n```sh\n# Run\n```\n";
  assertEquals(
    finishPage(markdown, one),
    "# A_B {#page-top}\n\nFrom `@oauth-helper/client`.\n\n" +
      "## A\\_B() {#A_B}\n\n**Returns**\n\n```sh\n# Run\n```\n",
  );
  const defaults: [tag: string, text: string][] = [
    ["{false}", "**Default:** `false`"],
    ["{the port,\n   * or another}", "**Default:** the port,\nor another"],
  ];
  for (const [tag, text] of defaults) {
    const code = `#### a? {#a}\n\n### Default\n\n\`\`\`ts\n${tag}\n\`\`\`\n`;
    const page = finishPage(`${markdown}\n${code}`, one);
    assertEquals(page.endsWith(`#### a? {#a}\n\n${text}\n`), true, page);
  }
  assertThrows(
    () => finishPage(markdown.replace("A\\_B()", "A()"), one),
    Error,
    "The export A_B has no page",
  );
});
