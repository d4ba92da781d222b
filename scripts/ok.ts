/**
 * Everything a change must pass before it is pushed. Runs all steps, then says
 * which failed; the exit code is 1 when any did.
 *
 * `--no-tests` leaves the tests out, for whoever has just run them.
 */
import { deno, importMapArgs } from "./support/deno.ts";
import { testArgs, testTargets } from "./test.ts";

const map = await importMapArgs();
const steps: [name: string, args: string[]][] = [
  ["format", ["fmt", "--check"]],
  ["lint", ["lint"]],
  ["types", ["check", ...map, "mod.ts", "lib", "scripts", "tests"]],
  ["documentation", ["doc", "--lint", "mod.ts"]],
  ["layers", ["run", "-A", "scripts/check_layers.ts"]],
  ["tests", [...testArgs, ...map, ...testTargets]],
  ["exports", ["run", "-A", "scripts/check_exports.ts"]],
  ["conformance", ["run", "-A", "scripts/conformance.ts"]],
  ["publishing", ["publish", "--dry-run", "--allow-dirty"]],
];

const failed: string[] = [];
for (const [name, args] of steps) {
  if (name === "tests" && Deno.args.includes("--no-tests")) continue;
  console.log(`\n== ${name}: deno ${args.join(" ")}`);
  if (await deno(...args) !== 0) failed.push(name);
}
console.log(
  failed.length === 0 ? "\nAll is well." : `\nFailed: ${failed.join(", ")}`,
);
Deno.exit(failed.length === 0 ? 0 : 1);
