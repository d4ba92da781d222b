/**
 * The steps of a release that are programs; `.github/RELEASING.md` has all steps.
 *
 * - `readme` removes the notice from README.md that the package is not published. It
 *   is run once, before the first release.
 * - `missing` says what is missing for a first publication. It publishes nothing, and
 *   fails as long as something is missing.
 * - `check TAG` checks that the tag is the version in deno.json, and that README.md
 *   has no such notice.
 * - `pack` collects in `./release` what is published, after `deno task build:npm`: the
 *   sources for JSR, the tarball for npm, and its software bill of materials.
 */
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { REPOSITORY } from "../lib/doctor/report/_repository.ts";
import { root } from "./support/deno.ts";
import { copySources, npmPack, unpackInto } from "./support/package.ts";
import { outputOf, temporaryDirectory } from "./support/process.ts";

/** How the section of README.md begins, before and after the first release. */
export const UNPUBLISHED =
  "## Install\n\nThe package isn't published yet. Once it is:\n\n```sh\n";
export const PUBLISHED = "## Install\n\n```sh\n";
/** How README.md says what to do until then, with its commands. */
const UNTIL_THEN = /^Until then, .*?^```sh$.*?^```\n\n/gms;

/** Returns README without the notices; throws if they are not there. */
export function markPublished(readme: string): string {
  const found = [
    readme.split(UNPUBLISHED).length - 1,
    [...readme.matchAll(UNTIL_THEN)].length,
  ];
  if (found.some((count) => count !== 1)) {
    throw new Error(
      `README.md has ${JSON.stringify(UNPUBLISHED)} and "Until then, …" ` +
        `${found.join(" and ")} times, expected once. If its text was ` +
        "changed, change it in scripts/release.ts too",
    );
  }
  return readme.replace(UNPUBLISHED, PUBLISHED).replace(UNTIL_THEN, "");
}

/** Returns what keeps this tag from being published, one message for each problem. */
function findReleaseProblems(
  tag: string | undefined,
  version: string,
  readme: string,
): string[] {
  const problems: string[] = [];
  if (tag !== `v${version}`) {
    problems.push(
      `The tag is ${tag ?? "missing"}, expected v${version} as in deno.json`,
    );
  }
  if (!readme.includes(PUBLISHED)) {
    problems.push(
      "README.md does not say how to install the package: run " +
        "`deno task release readme` before the first release",
    );
  }
  return problems;
}

interface Readiness {
  readonly version: string;
  readonly readme: string;
  readonly changelog: string;
  readonly repository: string | undefined;
  /** Whether npm has a package of this name; undefined if npm did not respond. */
  readonly isNameTaken: boolean | undefined;
  readonly actions: readonly string[];
}

/** Returns what is missing for a first publication, one message for each point. */
function findMissing(
  {
    version,
    readme,
    changelog,
    repository,
    isNameTaken,
    actions,
  }: Readiness,
): string[] {
  const unpinned = actions.filter((uses) => !/@[0-9a-f]{40}$/.test(uses));
  const points: [isMissing: boolean, message: string][] = [
    [
      repository === undefined,
      "The URL of the repository is unknown: set REPOSITORY in lib/doctor/report/_repository.ts",
    ],
    [
      isNameTaken === undefined,
      `npm did not say whether ${config.name} is free: run this where it responds`,
    ],
    [
      isNameTaken === true,
      `npm has a package ${config.name} already: this is no first publication`,
    ],
    [
      !readme.includes(PUBLISHED),
      "README.md says that nothing is published: run `deno task release readme`",
    ],
    [
      !changelog.includes(`\n## ${version} - `),
      `CHANGELOG.md has no entry for ${version}`,
    ],
    [
      unpinned.length > 0,
      `publish.yml has actions without a commit: ${
        [...new Set(unpinned)].join(", ")
      }`,
    ],
  ];
  return points.filter(([isMissing]) => isMissing).map(([, text]) => text);
}

/** Asks npm whether it has a package of this name. */
async function isTaken(): Promise<boolean | undefined> {
  const { code, stderr } = await new Deno.Command("npm", {
    args: ["view", config.name, "name"],
  }).output();
  if (code === 0) return true;
  return new TextDecoder().decode(stderr).includes("E404") ? false : undefined;
}

const read = (path: string) => Deno.readTextFile(new URL(path, root));

/** Prints what is missing for a first publication; returns the exit code. */
async function printMissing(): Promise<number> {
  const missing = findMissing({
    version: config.version,
    readme: await read("README.md"),
    changelog: await read("CHANGELOG.md"),
    // The URL of a workflow is not enough: reports of the doctor name it as well.
    repository: REPOSITORY,
    isNameTaken: await isTaken(),
    actions: [
      ...(await read(".github/workflows/publish.yml"))
        .matchAll(/uses: (\S+)/g),
    ].map(([, action = ""]) => action),
  });
  for (const message of missing) console.error(`- ${message}`);
  console.log(
    "What no program can see: the scope and the package on JSR, the organization on " +
      "npm, and the environment `release` with its reviewers (RELEASING.md).",
  );
  return missing.length === 0 ? 0 : 1;
}

/**
 * Returns the software bill of materials of a packed package, in CycloneDX. npm makes it
 * from what is installed, so the dependencies of the build's own tests are left out.
 */
export async function sbomOf(tarball: string): Promise<string> {
  await using folder = await temporaryDirectory("sbom_");
  const directory = await unpackInto(folder.path, tarball);
  const file = `${directory}/package.json`;
  const { devDependencies: _, ...published } = JSON.parse(
    await Deno.readTextFile(file),
  );
  await Deno.writeTextFile(file, JSON.stringify(published));
  const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=library"];
  return await outputOf("npm", args, { cwd: directory });
}

/** Collects what is published; returns the path of the tarball for npm. */
async function pack(): Promise<string> {
  const directory = fileURLToPath(new URL("release", root));
  await Deno.mkdir(directory);
  await copySources(`${directory}/jsr`);
  const packed = await npmPack(fileURLToPath(new URL("npm", root)), directory);
  const tarball = `${directory}/npm.tgz`;
  await Deno.rename(packed, tarball);
  await Deno.writeTextFile(`${directory}/sbom.json`, await sbomOf(tarball));
  return tarball;
}

if (import.meta.main) {
  const [command, tag] = Deno.args;
  const file = new URL("README.md", root);
  const readme = await Deno.readTextFile(file);
  if (command === "readme") {
    await Deno.writeTextFile(file, markPublished(readme));
  } else if (command === "check") {
    const problems = findReleaseProblems(tag, config.version, readme);
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) Deno.exit(1);
  } else if (command === "pack") {
    console.log(await pack());
  } else if (command === "missing") {
    Deno.exit(await printMissing());
  } else {
    console.error("Usage: deno task release readme|missing|check TAG|pack");
    Deno.exit(2);
  }
}
