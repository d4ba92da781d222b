/** What all consumers share: their input, and how their outcome is judged. */

import { deepEqual } from "node:assert/strict";
import expectation from "../../tests/consumers/expected.json" with {
  type: "json",
};
import pinned from "../../tests/consumers/packages.json" with { type: "json" };
import map from "../import_map.json" with { type: "json" };
import { root } from "../support/deno.ts";
import { install, run } from "../support/process.ts";
import type { Package } from "../support/package.ts";
import type { Row } from "./table.ts";

/** The oldest and the newest of them is what a change pays; all run once a week. */
const { node } = pinned;
const ends = [node[0]!, node.at(-1)!];

/** The versions of runtimes and tools. */
export const packages = {
  ...pinned,
  node: Deno.args.includes("--all") ? node : ends,
  // The benchmark uses it too, with the version in import_map.json.
  esbuild: map.imports.esbuild.replace(/^.*@/, ""),
};

export interface Context {
  readonly package: Package;
  readonly server: string;
  /** A directory for projects, removed at the end. */
  readonly temporary: string;
}

/** What every consumer prints, as one line of JSON. */
export interface Outcome {
  readonly report?: unknown;
  readonly failure?: string;
}

/** Reads the last line that a consumer printed. */
export function parseOutcome(printed: string): Outcome {
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "");
}

/**
 * Returns what is wrong with the report of an outcome. Browsers hide the
 * target of a redirect, so another report is expected of them. Workers and browsers do
 * not load the entry point for programs.
 */
export function judge(
  { failure, report }: Outcome,
  runtime: "program" | "worker" | "browser" = "program",
): Pick<Row, "failure"> {
  const expected = structuredClone(expectation.everywhere);
  if (runtime === "browser") {
    Object.assign(expected.limits, expectation.browser.limits);
    // There is a window, and its URL has no response.
    Object.assign(expected.entryPoints.browser, expectation.browser.page);
  }
  if (runtime === "program") {
    Object.assign(expected.entryPoints, expectation.program);
  }
  try {
    if (failure === undefined) deepEqual(report, expected);
    return { failure };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

/**
 * Returns the rows of a consumer, or one row: with the members that the task returns, or
 * with the error that it throws. A runtime that is not available counts as a failure.
 */
export async function attempt(
  runtime: string,
  version: string,
  loaded: string,
  task: () => Promise<Partial<Row> | readonly Row[]>,
): Promise<readonly Row[]> {
  const row = { runtime, version, loaded };
  try {
    const result = await task();
    return Array.isArray(result) ? result : [{ ...row, ...result }];
  } catch (error) {
    return [{ ...row, failure: String(error) }];
  }
}

/** Makes rows of these items, one after the other. */
export async function rowsOf<T>(
  items: Iterable<T>,
  make: (item: T) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const item of items) rows.push(...await make(item));
  return rows;
}

/** Copies files from tests/consumers/ to a project. */
export async function copyFiles(
  directory: string,
  ...names: string[]
): Promise<void> {
  await Deno.mkdir(directory, { recursive: true });
  for (const name of names) {
    const source = new URL(`tests/consumers/${name}`, root);
    await Deno.copyFile(source, `${directory}/${name}`);
  }
}

const installed = new Map<string, Promise<string>>();

/** Installs a tool once, in its own project; returns the path of the project. */
export function installTool(
  { temporary }: Pick<Context, "temporary">,
  name: string,
  version: string,
): Promise<string> {
  const directory = `${temporary}/tools/${name.replace("/", "_")}-${version}`;
  const tool = installed.get(directory) ??
    install(directory, { [name]: version }).catch((error) => {
      throw new Error(
        `${name} ${version} cannot be installed: ${error.message}`,
      );
    });
  installed.set(directory, tool);
  return tool;
}

/**
 * Runs a program of an installed tool, by default in the project of the tool; returns
 * what it printed, also as failure if it failed.
 */
export async function runTool(
  context: Context,
  [name, version, program]: [name: string, version: string, program: string],
  args: readonly string[],
  directory?: string,
): Promise<{ printed: string; failure: string | undefined }> {
  const tool = await installTool(context, name, version);
  const { code, stdout, stderr } = await run(
    `${tool}/node_modules/.bin/${program}`,
    args,
    { cwd: directory ?? tool, seconds: 150 },
  );
  const printed = `${stdout}${stderr}`;
  return { printed, failure: code === 0 ? undefined : printed };
}
