/** The process as the host of the program. */

import process from "node:process";
import { Failure } from "./_failure.ts";
import type { Host } from "./_host.ts";

/** The signals that stop a program, with their numbers. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/**
 * Returns an abort signal that aborts at the system's first signal. A second one exits
 * the process immediately, and may lose a token that is being refreshed.
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
      // Some systems lack some of these signals.
    }
  }
  return controller.signal;
}

/** Checks whether the user wants no colors; Deno knows it without a permission. */
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
 * Returns a line with commands as the user must run them: npx, which sets
 * `npm_command`, does not put the program on the path. Deno never sets this variable,
 * and prompts for permission to read it.
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
 * Not by `console.log`, which ignores a full disk in Node. The reader of a pipe may
 * stop first.
 */
async function write(text: string): Promise<void> {
  const { stdout } = process;
  // Otherwise, an error would also exit the process.
  if (stdout.listenerCount("error") === 0) stdout.on("error", ignore);
  try {
    await new Promise<void>((resolve, reject) =>
      stdout.write(text, (error) => error ? reject(error) : resolve())
    );
  } catch (error) {
    if ((error as { code?: unknown }).code !== "EPIPE") throw error;
  }
}

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
