/**
 * Runs the tests and reports how many lines of lib/ they reach. Fails below 95
 * percent in total.
 */
import { importMapArgs, root } from "./support/deno.ts";
import { testArgs, testTargets } from "./test.ts";

const MIN_PERCENT = 95;

async function run(args: string[], stdout: "inherit" | "piped") {
  const command = new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    stdout,
    stderr: "inherit",
  });
  return await command.spawn().output();
}

await Deno.remove(new URL("coverage", root), { recursive: true })
  .catch(() => {});
const tests = await run([
  ...testArgs,
  "--coverage=coverage",
  ...await importMapArgs(),
  ...testTargets,
], "inherit");
if (!tests.success) Deno.exit(tests.code);

const inLib = ["coverage", "--include=/lib/"];
await run([...inLib, "--detailed"], "inherit");
const { stdout } = await run([...inLib, "--lcov"], "piped");
let found = 0;
let hit = 0;
for (const line of new TextDecoder().decode(stdout).split("\n")) {
  const [key, value] = line.split(":");
  if (key === "LF") found += Number(value);
  if (key === "LH") hit += Number(value);
}
const percent = 100 * hit / found;
console.log(
  `\nlib/: ${hit} of ${found} lines reached, ${percent.toFixed(1)} %.`,
);
if (!(percent >= MIN_PERCENT)) {
  console.error(`Less than ${MIN_PERCENT} %.`);
  Deno.exit(1);
}
