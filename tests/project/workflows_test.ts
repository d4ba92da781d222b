/** What the hosted workflows may do. They cannot be run here. */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { parse } from "yaml";

interface IJob {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly needs?: string;
  readonly if?: string;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface IWorkflow extends Pick<IJob, "permissions"> {
  readonly on: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, IJob>>;
}

const directory = new URL("../../.github/workflows/", import.meta.url);
const read = (name: string): IWorkflow =>
  parse(Deno.readTextFileSync(new URL(name, directory)));
const jobs = [...Deno.readDirSync(directory)].flatMap(({ name: file }) => {
  const { permissions, jobs } = read(file);
  return Object.entries(jobs).map(([name, job]) => ({
    permissions,
    ...job,
    name: `${file}: ${name}`,
  }));
});

Deno.test("workflows let no job with the code of the project write, or ask for a token", () => {
  const {
    "publish.yml: publish": publishing,
    "weekly.yml: report": reporting,
    "pages.yml: deploy": deploying,
    ...others
  } = Object.fromEntries(
    jobs.map(({ name, permissions }) => [name, permissions]),
  );
  assertEquals(publishing, { "id-token": "write" });
  assertEquals(reporting, { issues: "write" });
  assertEquals(deploying, { pages: "write", "id-token": "write" });
  for (const [name, permissions] of Object.entries(others)) {
    assertEquals(permissions, { contents: "read" }, name);
  }
});

Deno.test("publish.yml publishes in an environment, and runs no code of the project there", () => {
  const { publish } = read("publish.yml").jobs;
  assertEquals([publish?.environment, publish?.needs], ["release", "build"]);
  for (const { uses = "", run = "" } of publish?.steps ?? []) {
    assert(!uses.startsWith("actions/checkout"), uses);
    assertNotMatch(
      run,
      /deno@[\d.]+ (?!publish)|npm (ci|i|install|exec|run|test) /,
    );
  }
});

Deno.test("publish.yml has npm check the package before JSR has it", () => {
  const commands = read("publish.yml").jobs.publish?.steps.map(({ run = "" }) =>
    /npm publish --dry-run|npm publish|deno@[\d.]+ publish/.exec(run)?.[0]
      .replace(/@.* /, " ")
  );
  assertEquals(commands?.filter((command) => command !== undefined), [
    "npm publish --dry-run",
    "deno publish",
    "npm publish",
  ]);
});

/** The first major versions that run on Node 24; those before do not start. */
const ACTIONS: Readonly<Record<string, number>> = {
  "actions/checkout": 5,
  "actions/deploy-pages": 5,
  "actions/upload-pages-artifact": 5,
  "actions/setup-node": 5,
  "actions/upload-artifact": 6,
  "actions/download-artifact": 7,
};

Deno.test("workflows use actions that run on Node 24, by a version or a commit", () => {
  const uses = jobs.flatMap(({ steps }) =>
    steps.flatMap(({ uses = [] }) => uses)
  );
  assert(uses.length > 0);
  for (const use of uses) {
    const [name = "", version = ""] = use.split("@");
    const first = ACTIONS[name];
    assert(first !== undefined, `${use} is not in this list`);
    // The version of a commit is in a comment, which Dependabot keeps up to date.
    if (/^[0-9a-f]{40}$/.test(version)) continue;
    assert(Number(/^v(\d+)$/.exec(version)?.[1]) >= first, use);
  }
});

Deno.test("pages.yml deploys in a job that runs no code of the project", () => {
  const uses = read("pages.yml").jobs.deploy?.steps.map(({ uses, run }) =>
    run ?? uses?.replace(/@.*/, "")
  );
  assertEquals(uses, ["actions/deploy-pages"]);
});

Deno.test("weekly.yml opens an issue in a job that runs no code of the project", () => {
  const { steps } = read("weekly.yml").jobs.report!;
  for (const { uses, run = "" } of steps) {
    assertEquals(uses, undefined);
    assertMatch(run, /^gh issue create /);
  }
});
