/**
 * Runs everything that a change must pass. Runs all steps, then prints which of
 * them failed; the exit code is 1 if any did.
 *
 * `--quick` runs only the steps of a minute, with the unit tests in place of all tests.
 * `--no-tests` skips the tests, for a machine that has just run them. `--no-packages`
 * skips the steps that install packages and runtimes, which need Linux.
 */
import { parseArgs } from "node:util";
import { denoOutput, importMapArgs } from "./support/deno.ts";
import { entryPoints } from "./support/npm_package.ts";
import { PACKED } from "./support/package.ts";

interface Step {
  readonly name: string;
  readonly args: readonly string[];
  /** Whether it runs before the steps that use the package. */
  readonly isFirst?: true;
  readonly usesAllCores?: true;
  readonly option?: "no-tests" | "no-packages";
  /** Whether `--quick` runs it too, or alone. */
  readonly quick?: "too" | "alone";
}

const { values } = parseArgs({
  args: Deno.args,
  options: {
    quick: { type: "boolean", default: false },
    "no-tests": { type: "boolean", default: false },
    "no-packages": { type: "boolean", default: false },
  },
});
const script = (name: string, ...args: string[]) => [
  "run",
  "-A",
  `scripts/${name}.ts`,
  ...args,
];

const map = await importMapArgs();
const packed = await Deno.makeTempDir({ prefix: "ok_" });

const STEPS: readonly Step[] = [
  // The longest first, so that both lanes end at about the same time.
  {
    name: "types",
    args: ["check", "--quiet", ...map, "mod.ts", "lib", "scripts", "tests"],
    isFirst: true,
    quick: "too",
  },
  {
    name: "package",
    args: script("pack", packed),
    isFirst: true,
    option: "no-packages",
  },
  {
    name: "documentation",
    // In one call: the types of `.` that another entry point names are public there.
    args: ["doc", "--lint", ...entryPoints.map(({ path }) => path)],
    isFirst: true,
  },
  {
    name: "options",
    args: script("check_options"),
    isFirst: true,
    quick: "too",
  },
  { name: "lint", args: ["lint"], isFirst: true, quick: "too" },
  { name: "format", args: ["fmt", "--check"], isFirst: true, quick: "too" },
  { name: "layers", args: script("check_layers"), isFirst: true, quick: "too" },
  { name: "names", args: script("check_names"), isFirst: true, quick: "too" },
  { name: "consumers", args: script("consumers"), option: "no-packages" },
  { name: "site", args: script("docs"), option: "no-packages" },
  {
    name: "size",
    // To pack the package needs Linux.
    args: script("check_size", ...values["no-packages"] ? ["--sources"] : []),
  },
  {
    name: "unit tests",
    // The step "types" has checked them.
    args: script("test", "--no-check", "tests/unit"),
    usesAllCores: true,
    quick: "alone",
  },
  {
    name: "tests",
    args: script("test"),
    usesAllCores: true,
    option: "no-tests",
  },
  {
    name: "stores",
    // The step "types" has checked them.
    args: script("test_stores", "--no-check"),
    usesAllCores: true,
    // They need Redis and Chromium.
    option: "no-packages",
  },
  { name: "conformance", args: script("conformance") },
  // The servers that install and start fast; the hosted workflow plays all.
  {
    name: "interop",
    args: script("interop", "--light"),
    option: "no-packages",
  },
  {
    name: "publishing",
    // The step "package" has checked the types that are published.
    args: [
      ...["publish", "--dry-run", "--allow-dirty"],
      ...values["no-packages"] ? [] : ["--no-check"],
    ],
  },
  { name: "exports", args: script("check_exports", "--sources") },
];

/** How much of a failed step is printed again at the end, where a long log is read first. */
const REPEATED_LINES = 60;

const steps = STEPS.filter(({ option, quick }) =>
  values.quick
    ? quick !== undefined
    : quick !== "alone" && !(option && values[option])
);
const failed: { name: string; end: string }[] = [];

/** Runs one step after the other, until none is left. Another lane may take some. */
async function runSteps(remaining: Step[]): Promise<void> {
  for (let step = remaining.shift(); step; step = remaining.shift()) {
    const { name, args } = step;
    const start = performance.now();
    const { code, output } = await denoOutput(...args);
    const seconds = Math.round((performance.now() - start) / 1000);
    const lines = output.trimEnd().split("\n");
    console.log(`\n== ${name}: deno ${args.join(" ")}`);
    console.log([...lines, `${seconds} s`].join("\n"));
    if (code !== 0) {
      failed.push({ name, end: lines.slice(-REPEATED_LINES).join("\n") });
    }
  }
}

// Most steps use one core, so two run at a time.
const runTwo = (some: Step[]) => Promise.all([runSteps(some), runSteps(some)]);
await runTwo(steps.filter(({ isFirst }) => isFirst));
// The steps that install or bundle the package take this one; if there is none, they pack.
Deno.env.set(PACKED, packed);
await runTwo(steps.filter((one) => !one.isFirst && !one.usesAllCores));
await runSteps(steps.filter(({ usesAllCores }) => usesAllCores));
await Deno.remove(packed, { recursive: true });
for (const { name, end } of failed) {
  console.log(`\n== the end of ${name}\n${end}`);
}
console.log(
  failed.length === 0
    ? "\nAll steps passed."
    : `\nFailed: ${failed.map(({ name }) => name).join(", ")}`,
);
Deno.exit(failed.length === 0 ? 0 : 1);
