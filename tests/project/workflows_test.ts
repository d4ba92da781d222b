/** What the hosted workflows may do. They cannot be run here. */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { parse } from "yaml";

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly needs?: string;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const directory = new URL("../../.github/workflows/", import.meta.url);
const jobs = new Map(
  [...Deno.readDirSync(directory)].flatMap(({ name: file }) => {
    const { permissions, jobs } = parse(
      Deno.readTextFileSync(new URL(file, directory)),
    );
    return Object.entries<Job>(jobs).map((
      [name, job],
    ): [string, Job] => [`${file}: ${name}`, { permissions, ...job }]);
  }),
);

/** The jobs that may do more than read the repository. */
const WRITING: Readonly<Record<string, Job["permissions"]>> = {
  "publish.yml: npm": { "id-token": "write" },
  "publish.yml: jsr": { "id-token": "write" },
  "weekly.yml: report": { issues: "write" },
  "pages.yml: deploy": { pages: "write", "id-token": "write" },
};

Deno.test("workflows let no job with the code of the project write, or ask for a token", () => {
  for (const [name, { permissions, steps }] of jobs) {
    assertEquals(permissions, WRITING[name] ?? { contents: "read" }, name);
    if (!WRITING[name]) continue;
    for (const { uses = "", run = "" } of steps) {
      assertNotMatch(uses, /checkout/, name);
      assertNotMatch(
        run,
        /deno@[\d.]+ (?!publish)|npm (ci|i|install|exec|run|test) |git /,
        name,
      );
    }
  }
  const names = [...jobs.keys()];
  assertEquals(Object.keys(WRITING).filter((one) => !names.includes(one)), []);
});

Deno.test("publish.yml publishes in an environment, after what has tested the files", () => {
  const rows = [
    ["npm", "build", "npm publish --provenance"],
    ["jsr", "npm", "deno@2.9.6 publish"],
  ] as const;
  for (const [name, after, command] of rows) {
    const { environment, needs, steps } = jobs.get(`publish.yml: ${name}`)!;
    assertEquals([environment, needs], ["release", after]);
    assert(steps.some(({ run }) => run?.includes(command)));
  }
  // Only npm itself runs where npm accepts the token: nothing is installed.
  const { steps } = jobs.get("publish.yml: npm")!;
  for (const { run = "" } of steps) {
    assertNotMatch(run, /npx|npm (ci|i|install) /);
  }
});

Deno.test("workflows use actions by their commit, with the version in a comment", async () => {
  for (const { name } of Deno.readDirSync(directory)) {
    const text = await Deno.readTextFile(new URL(name, directory));
    for (const [, action = ""] of text.matchAll(/uses: (.+)/g)) {
      assertMatch(action, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  }
});
