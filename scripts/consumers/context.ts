/** What all consumers are given, and how they judge what came out. */

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
  // The benchmark bundles with it as well, by the version in deno.json.
  esbuild: config.imports.esbuild.replace(/^.*@/, ""),
};

/** What a consumer needs. */
export interface IContext {
  readonly package: IPackage;
  /** Address of the loopback server. */
  readonly server: string;
  /** A directory for projects; it is removed at the end. */
  readonly temporary: string;
}

/** One line of JSON, as every consumer prints it. */
export interface IOutcome {
  readonly importMs?: number;
  readonly kind?: string;
  readonly report?: unknown;
  readonly failure?: string;
}

/** Reads what a consumer printed last. */
export function parseOutcome(printed: string): IOutcome {
  return JSON.parse(printed.trim().split("\n").at(-1) ?? "");
}

/**
 * What is wrong with an outcome; nothing when the report is as expected.
 * Browsers hide where a redirect leads, and so have an expectation of their own.
 */
export function failureOf(
  { failure, report }: IOutcome,
  runtime: "server" | "browser" = "server",
): string | undefined {
  if (failure !== undefined) return failure;
  const expected = structuredClone(expectation.everywhere);
  if (runtime === "browser") {
    Object.assign(expected.limits, expectation.browser);
  }
  const found = differences(report, expected);
  return found.length > 0 ? found.join("\n") : undefined;
}

/** A runtime or tool that cannot be had here. */
export class MissingError extends Error {}

/**
 * The rows of a consumer, or one that says why there are none: a runtime that
 * cannot be had is a failure like any other.
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

/** Copies files of tests/consumers/ into a project. */
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

/** Installs a tool once, in a project of its own; the path of the project. */
export function installTool(
  { temporary }: Pick<IContext, "temporary">,
  name: string,
  version: string,
): Promise<string> {
  const directory = `${temporary}/tools/${name.replace("/", "_")}-${version}`;
  const tool = installed.get(directory) ??
    install(directory, { [name]: version }).catch((error) => {
      throw new MissingError(
        `${name} ${version} cannot be had: ${error.message}`,
      );
    });
  installed.set(directory, tool);
  return tool;
}
