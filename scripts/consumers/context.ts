/** What all consumers share: their input, and how their outcome is judged. */

import expectation from "../../tests/consumers/expected.json" with {
  type: "json",
};
import pinned from "../../tests/consumers/packages.json" with { type: "json" };
import config from "../../deno.json" with { type: "json" };
import { root } from "../support/deno.ts";
import { install } from "../support/process.ts";
import type { IPackage } from "../support/package.ts";
import { differences, type IRow } from "./table.ts";

/** The versions of runtimes and tools. */
export const packages = {
  ...pinned,
  // The benchmark uses it too, with the version in deno.json.
  esbuild: config.imports.esbuild.replace(/^.*@/, ""),
};

/** The input of a consumer. */
export interface IContext {
  readonly package: IPackage;
  /** Origin of the server on loopback. */
  readonly server: string;
  /** A directory for projects, removed at the end. */
  readonly temporary: string;
}

/** What every consumer prints, as one line of JSON. */
export interface IOutcome {
  readonly importMs?: number;
  readonly kind?: string;
  readonly report?: unknown;
  readonly failure?: string;
}

/** Reads the last line that a consumer printed. */
export function parseOutcome(printed: string): IOutcome {
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "");
}

/**
 * Returns what is wrong with an outcome; undefined if the report is as expected.
 * Browsers hide the target of a redirect, so another report is expected of them.
 * Workers and browsers do not load the entry point for programs.
 */
export function failureOf(
  { failure, report }: IOutcome,
  runtime: "program" | "worker" | "browser" = "program",
): string | undefined {
  if (failure !== undefined) return failure;
  const expected = structuredClone(expectation.everywhere);
  if (runtime === "browser") {
    Object.assign(expected.limits, expectation.browser.limits);
    // There is a window, and its URL has no response.
    Object.assign(expected.entryPoints.browser, expectation.browser.page);
  }
  if (runtime === "program") {
    Object.assign(expected.entryPoints, expectation.program);
  }
  const found = differences(report, expected);
  return found.length > 0 ? found.join("\n") : undefined;
}

/** A runtime or tool that is not available on this machine. */
export class MissingError extends Error {}

/**
 * Returns the rows of a consumer, or one row that says why there are none. A
 * runtime that is not available counts as a failure.
 */
export async function attempt(
  runtime: string,
  version: string,
  loaded: string,
  rows: () => Promise<IRow | IRow[]>,
): Promise<IRow[]> {
  try {
    return [await rows()].flat();
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    const isMissing = error instanceof MissingError;
    return [{ runtime, version, loaded, failure, isMissing }];
  }
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
  { temporary }: Pick<IContext, "temporary">,
  name: string,
  version: string,
): Promise<string> {
  const directory = `${temporary}/tools/${name.replace("/", "_")}-${version}`;
  const tool = installed.get(directory) ??
    install(directory, { [name]: version }).catch((error) => {
      throw new MissingError(
        `${name} ${version} cannot be installed: ${error.message}`,
      );
    });
  installed.set(directory, tool);
  return tool;
}
