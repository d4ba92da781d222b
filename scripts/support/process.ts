/** Runs programs, copies files, and installs packages with npm. */

import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./deno.ts";

/** Creates a temporary directory, which disposing of the result removes. */
export async function temporaryDirectory(
  prefix: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir({ prefix });
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment without the variables that `npx`, `npm run` and test suites set. */
function environment(): Record<string, string> {
  const inherited = Object.entries(Deno.env.toObject()).filter(([name]) =>
    !/^(npm_(package|lifecycle|config_(package|call|yes|local_prefix|prefix))|mcp_conformance_)/i
      .test(name)
  );
  return { ...Object.fromEntries(inherited), NO_COLOR: "1", FORCE_COLOR: "0" };
}

/**
 * For programs that compute for long: a limit of the wall clock that stops what hangs, and
 * nothing on a machine that is slow or shared.
 */
export const BUILD_SECONDS = 3_600;

/** Runs a program, and stops it after `seconds`. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, seconds = 60, env = {} }: {
    cwd: string;
    seconds?: number;
    env?: Record<string, string>;
  },
): Promise<Run> {
  const signal = AbortSignal.timeout(seconds * 1_000);
  const child = new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { ...environment(), ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal,
  }).spawn();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  const late = signal.aborted ? `Stopped after ${seconds} s. ` : "";
  return {
    code: signal.aborted ? 1 : code,
    stdout: decoder.decode(stdout),
    stderr: late + decoder.decode(stderr),
  };
}

/** Runs a program and returns its output; throws if the program fails. */
export async function outputOf(
  program: string,
  args: readonly string[],
  options: { cwd: string; seconds?: number },
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, options);
  if (code === 0) return stdout;
  throw new Error(stderr.trim() || stdout.trim() || `exit ${code}`);
}

/**
 * Creates a project in this directory and installs packages: versions by name, or paths
 * of tarballs. The options are passed to `npm install`.
 */
export async function install(
  directory: string,
  dependencies: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(
    `${directory}/package.json`,
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const args = ["install", "--prefer-offline", ...quiet, ...options];
  await outputOf("npm", args, {
    cwd: directory,
    seconds: 600,
  });
  return directory;
}

/** Copies a file or folder of the project to the same path in `directory`. */
export async function copyFromRoot(
  path: string,
  directory: string,
): Promise<void> {
  const target = resolve(directory, path);
  await Deno.mkdir(dirname(target), { recursive: true });
  const source = fileURLToPath(new URL(path, root));
  await outputOf("cp", ["-rT", source, target], { cwd: fileURLToPath(root) });
}
