/**
 * Runs the tests and prints how much of each file of lib/ they reach. Fails below the
 * threshold in deno.json. `deno coverage --include=/lib/ --detailed coverage` then shows
 * the lines that no test reaches.
 */
import { deno, root } from "./support/deno.ts";
import { PROGRAM_TESTS, runAllTests } from "./test.ts";
import { runProgramTests } from "./test_stores.ts";

/** Removes the empty files of processes that a test has killed. */
async function removeEmptyFiles(): Promise<void> {
  const directory = new URL("coverage/", root);
  for await (const { name } of Deno.readDir(directory)) {
    const file = new URL(name, directory);
    if ((await Deno.stat(file)).size === 0) await Deno.remove(file);
  }
}

await Deno.remove(new URL("coverage", root), { recursive: true })
  .catch(() => {});
const options = ["--coverage=coverage", "--coverage-raw-data-only"];
const code = await runAllTests(options) ||
  await runProgramTests([...options, ...PROGRAM_TESTS]);
if (code !== 0) Deno.exit(code);

await removeEmptyFiles();
Deno.exit(await deno("coverage", "--quiet", "--include=/lib/", "coverage"));
