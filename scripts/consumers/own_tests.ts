/** A program's own tests with the servers of `./testing`, in three test runners. */

import {
  attempt,
  type Context,
  copyFiles,
  packages,
  rowsOf,
} from "./context.ts";
import { findNode } from "./node.ts";
import { install, outputOf } from "../support/process.ts";
import type { Row } from "./table.ts";

const FOLDER = "own_tests";

/** Runs the tests with the packed package in Vitest, Node's runner and Deno. */
export async function runOwnTests(context: Context): Promise<Row[]> {
  const { name, tarball } = context.package;
  const project = `${context.temporary}/${FOLDER}`;
  const { vitest, node } = packages;
  await install(project, { [name]: `file:${tarball}`, vitest });
  await Deno.mkdir(`${project}/${FOLDER}`);
  await copyFiles(project, `${FOLDER}/cases.js`, `${FOLDER}/notes.js`);
  const cwd = `${project}/${FOLDER}`;
  const newest = node.at(-1) ?? "";
  const program = await findNode(context, newest);
  const runVitest = `${project}/node_modules/vitest/vitest.mjs`;
  /** For each runner: its version, its command, and what hands the tests to it. */
  const runners: [runtime: string, version: string, string[], string][] = [
    [
      "Vitest",
      vitest,
      [program, runVitest, "run", "--dir", "Vitest"],
      `import { expect, test } from "vitest";
const equal = (actual, expected) => expect(actual).toEqual(expected);`,
    ],
    [
      "Node",
      newest,
      [program, "--test", "Node/notes.test.js"],
      `import { deepEqual as equal } from "node:assert/strict";
import { test } from "node:test";`,
    ],
    [
      "Deno",
      Deno.version.deno,
      [Deno.execPath(), "test", "Deno"],
      // Deno has types for node:assert in a project with npm packages only if it has them.
      `const { test } = Deno;
function equal(...values) {
  const [actual, expected] = values.map((value) => JSON.stringify(value));
  if (actual !== expected) throw new Error(actual + " is not " + expected);
}`,
    ],
  ];
  return await rowsOf(
    runners,
    ([runtime, version, [command = "", ...args], head]) =>
      attempt(runtime, version, "tests with ./testing", async () => {
        await Deno.mkdir(`${cwd}/${runtime}`);
        await Deno.writeTextFile(
          `${cwd}/${runtime}/notes.test.js`,
          `${head}
import { cases } from "../cases.js";
for (const [name, run] of cases(equal)) test(name, run);`,
        );
        const printed = await outputOf(command, args, { cwd });
        // Vitest and Deno print "3 passed", Node "pass 3".
        const passed = /\b3 passed\b|\bpass 3\b/.test(printed);
        return {
          failure: passed ? undefined : `Expected 3 tests:\n${printed}`,
        };
      }),
  );
}
