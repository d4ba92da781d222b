/**
 * The steps of a release that are programs; `.github/RELEASING.md` has all steps.
 *
 * - `readme` removes the notice from README.md that the package is not published. It
 *   is run once, before the first release.
 * - `check TAG` checks that the tag is the version in deno.json, and that README.md
 *   has no such notice.
 * - `pack` collects in `./release` what is published, after `deno task build:npm`: the
 *   sources for JSR, and the tarball for npm.
 */
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { root } from "./support/deno.ts";
import { copySources, npmPack } from "./support/package.ts";

/** How the section of README.md begins, before and after the first release. */
export const UNPUBLISHED = "## Install\n\nNot yet published. Then:\n\n```sh\n";
export const PUBLISHED = "## Install\n\n```sh\n";

/** Returns README without the notice; throws if it is not there. */
export function markPublished(readme: string): string {
  const found = readme.split(UNPUBLISHED).length - 1;
  if (found !== 1) {
    throw new Error(
      `README.md has ${JSON.stringify(UNPUBLISHED)} ${found} times, expected ` +
        "once. If its text was changed, change it in scripts/release.ts too",
    );
  }
  return readme.replace(UNPUBLISHED, PUBLISHED);
}

/** Returns what keeps this tag from being published, one message for each problem. */
export function findReleaseProblems(
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

/** Collects what is published; returns the path of the tarball for npm. */
async function pack(): Promise<string> {
  const directory = fileURLToPath(new URL("release", root));
  await Deno.mkdir(directory);
  await copySources(`${directory}/jsr`);
  const packed = await npmPack(fileURLToPath(new URL("npm", root)), directory);
  const tarball = `${directory}/npm.tgz`;
  await Deno.rename(packed, tarball);
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
  } else {
    console.error("Usage: deno task release readme|check TAG|pack");
    Deno.exit(2);
  }
}
