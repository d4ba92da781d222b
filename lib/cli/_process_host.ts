/** The process as the host of the program. */

import process from "node:process";
import { Failure } from "./_failure.ts";
import type { Host } from "./_host.ts";

/** The signals by which users and systems end a program, with their numbers. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/**
 * Returns an abort signal that aborts at the first signal of the system. A second one
 * ends the process immediately, and may lose a token that is being refreshed.
 */
function listenForEnd(): AbortSignal {
  const controller = new AbortController();
  const stops: (() => void)[] = [];
  for (const [name, number] of Object.entries(SIGNALS)) {
    const end = () => {
      for (const stop of stops) stop();
      controller.abort(new Failure(128 + number, `Ended by ${name}`));
    };
    try {
      process.once(name, end);
      stops.push(() => process.removeListener(name, end));
    } catch {
      // Not every system has all of these signals.
    }
  }
  return controller.signal;
}

/** Checks whether the user wants no colours; Deno knows it without a permission. */
function isColourless(env: Readonly<Record<string, string | undefined>>) {
  const { Deno: deno } = globalThis as unknown as {
    Deno?: { noColor: boolean };
  };
  return deno ? deno.noColor : Boolean(env.NO_COLOR);
}

/** The name of the program in a command that a message or a help text shows. */
const COMMAND =
  /\boauth-helper (?=(login|token|headers|logout|status|doctor|COMMAND|--\w))/g;

/**
 * Returns a line with its commands as the user has to run them: the program is not on the
 * path if npx runs it, which sets `npm_command`. Deno has no such variable, and asks for
 * a permission to read one.
 */
export function asRun(
  line: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  return !("Deno" in globalThis) && env.npm_command === "exec"
    ? line.replace(COMMAND, "npx @oauth-helper/client ")
    : line;
}

function ignore(): void {}

/**
 * Writes to the standard output. Not by `console.log`, which ignores a full disk in
 * Node. The reader of a pipe may end first.
 */
async function write(text: string): Promise<void> {
  const { stdout } = process;
  // Otherwise, an error also ends the process.
  if (stdout.listenerCount("error") === 0) stdout.on("error", ignore);
  try {
    await new Promise<void>((resolve, reject) =>
      stdout.write(text, (error) => error ? reject(error) : resolve())
    );
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EPIPE") throw error;
  }
}

/** Returns the process as the host of the program. */
export function processHost(): Host {
  const { env, platform } = process;
  let signal: AbortSignal | undefined;
  let written: Promise<unknown> = Promise.resolve();
  return {
    platform,
    env,
    isTerminal: () => process.stderr.isTTY === true,
    hasColours: () => process.stdout.isTTY === true && !isColourless(env),
    print(line) {
      written = Promise.all([written, write(`${asRun(line, env)}\n`)]);
      written.catch(ignore);
    },
    flush: () => written,
    printError: (line) => console.error(asRun(line, env)),
    printProgress: (text) => void process.stderr.write(`\r\x1b[K${text}`),
    endSignal: () => signal ??= listenForEnd(),
  };
}
