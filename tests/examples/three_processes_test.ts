/** The programs of three-processes.md run, and the page and the playground show what they did. */

import { assert, assertEquals } from "@std/assert";
import recording from "../../scripts/site/playground/recording.json" with {
  type: "json",
};
import { linesOf, PROGRAMS, runThree } from "../../scripts/three_processes.ts";
import { pageAt } from "../support/markdown.ts";

/** A refresh is due after two seconds, or three. */
const SHORT = { seconds: 3, tokenSeconds: 4 };
const PAGE = pageAt("three-processes.md");

const read = (path: string) =>
  Deno.readTextFileSync(new URL(path, import.meta.url));

Deno.test("three processes of with_library.ts refresh each token once, and every call succeeds", async () => {
  const result = await runThree("with_library.ts", SHORT);
  const { calls, succeeded, problems, refreshes } = result;
  assertEquals([succeeded, problems], [calls, []]);
  assert(refreshes.length > 0);
  for (const [index, { token, result }] of refreshes.entries()) {
    assertEquals([token, result], [index + 1, index + 2]);
  }
});

Deno.test("three processes of by_hand.ts share a session until two of them send the same refresh token", async () => {
  const { succeeded, refreshes } = await runThree("by_hand.ts", SHORT);
  assert(succeeded > 0);
  const tokensOf = (isRejected: boolean) =>
    refreshes.filter(({ result }) =>
      isRejected === (typeof result === "string")
    )
      .map(({ token }) => token);
  const used = tokensOf(false);
  assertEquals([...new Set(used)], used);
  const isShared =
    refreshes.length > new Set(refreshes.map(({ token }) => token)).size;
  assertEquals(tokensOf(true).length > 0, isShared);
});

Deno.test("three-processes.md contains the program, and the result that the playground shows", () => {
  const names = [...PROGRAMS, "calls.ts"];
  const blocks = [...PAGE.matchAll(/^```ts ignore\n(.*?)^```$/gms)]
    .map(([, code = ""]) => code);
  assertEquals(blocks, [read("three_processes/with_library.ts")]);
  for (const name of names.filter((name) => name !== "with_library.ts")) {
    assert(PAGE.includes(`examples/three_processes/${name})`), name);
  }
  assertEquals(recording.map(({ program }) => program), [...PROGRAMS]);
  const readme = read("../../README.md");
  for (const result of recording) {
    const lines = linesOf(result);
    assert(PAGE.includes(lines.join("\n  ")), result.program);
    const [figure = ""] = /\S+ of \S+/.exec(lines[0]!) ?? [];
    assert(readme.includes(figure), figure);
    const count = read(`three_processes/${result.program}`)
      .match(/\S.*\n/g)!.length;
    assert(
      new RegExp(`\\| Lines .*\\| ${count} `).test(PAGE),
      `${count} lines`,
    );
  }
});
