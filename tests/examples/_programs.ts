/** How the examples are run: as programs, in a directory of their own. */

import { importMapArgs, root } from "../../scripts/support/deno.ts";
import { type Running, start as startProgram } from "../support/terminal.ts";

/** Where a program runs: it has its own session, and a command for the browser. */
export interface Desk extends AsyncDisposable {
  readonly sessionFile: string;
  start(name: string, ...args: string[]): Program;
  /** Starts one in a terminal, where a user types. */
  startInTerminal(name: string, ...args: string[]): Running;
}

export interface Program {
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends a program that does not end by itself. */
  kill(): Promise<void>;
  /** Waits for the end; returns the output, or throws if the program fails. */
  output(): Promise<string>;
}

export interface DeskOptions {
  env?: Record<string, string>;
  /** The sockets in place of hosts, for the programs and for the browser. */
  sockets?: Record<string, string>;
  /** A module of this folder that runs before each program. */
  preload?: string;
}

/** Long: with an empty cache, the packages of a program are downloaded first. */
const LIMIT_MS = 90_000;

/**
 * The port of a client that is registered elsewhere is fixed, and a test that runs at
 * the same time may have it.
 */
const PORT_IN_USE = /Cannot listen on port 33418 /;

async function portIsFree(): Promise<void> {
  for (;;) {
    try {
      Deno.listen({ hostname: "127.0.0.1", port: 33_418 }).close();
      return;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** What the programs need; no more of the network than this machine. */
const PERMISSIONS = [
  "--no-prompt",
  "--allow-net=127.0.0.1,[::1]",
  "--allow-read=.",
  "--allow-write=.",
  "--allow-run=xdg-open",
  "--allow-env",
];

export const path = (name: string): string =>
  new URL(name, import.meta.url).pathname;

/** Returns the arguments for an import map, at an absolute path. */
export async function mapArgs(): Promise<string[]> {
  const [option, map] = await importMapArgs();
  return option && map ? [option, new URL(map, root).pathname] : [];
}

export async function createDesk(
  { env, sockets, preload: module }: DeskOptions = {},
): Promise<Desk> {
  const directory = await Deno.makeTempDir();
  const command = `${directory}/xdg-open`;
  const deno = Deno.execPath();
  const preload = sockets ? [`--preload=${path("_hosts.ts")}`] : [];
  const page = [...preload, path("_browser.ts")].map((one) => `"${one}"`);
  await Deno.writeTextFile(
    command,
    `#!/bin/sh\nexec "${deno}" run --no-config --allow-env=HOSTS ` +
      `--allow-net=127.0.0.1,localhost ${page.join(" ")} "$1"\n`,
  );
  await Deno.chmod(command, 0o700);
  const given = await mapArgs();
  const argumentsOf = (name: string, args: readonly string[]) => [
    ...["run", "--quiet", ...given, ...PERMISSIONS, ...preload],
    ...module ? [`--preload=${path(module)}`] : [],
    ...[path(name), ...args],
  ];
  const environment = {
    ...env,
    HOSTS: JSON.stringify(sockets ?? {}),
    PATH: `${directory}:${Deno.env.get("PATH")}`,
    NO_COLOR: "1",
  };

  function spawn(name: string, args: readonly string[]) {
    const child = new Deno.Command(deno, {
      args: argumentsOf(name, args),
      cwd: directory,
      env: environment,
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(LIMIT_MS),
    }).spawn();
    return {
      kill: () => child.kill("SIGKILL"),
      status: child.status,
      errors: new Response(child.stderr).text(),
      reader: child.stdout.pipeThrough(new TextDecoderStream()).getReader(),
    };
  }

  function start(name: string, ...args: string[]): Program {
    let child = spawn(name, args);
    let text = "";
    const read = async () => {
      const { value = "", done } = await child.reader.read();
      text += value;
      return !done;
    };
    return {
      async find(pattern) {
        let match: RegExpExecArray | null;
        while (!(match = pattern.exec(text))) {
          if (!await read()) throw new Error(`${text}${await child.errors}`);
        }
        return match;
      },
      async kill() {
        child.kill();
        while (await read());
        await Promise.all([child.status, child.errors]);
      },
      async output() {
        for (;;) {
          while (await read());
          const { success } = await child.status;
          const errors = await child.errors;
          if (success) return text;
          if (!PORT_IN_USE.test(errors)) {
            throw new Error(`${name} failed: ${errors}`);
          }
          await portIsFree();
          child = spawn(name, args);
        }
      },
    };
  }
  return {
    sessionFile: `${directory}/.session.json`,
    start,
    startInTerminal: (name, ...args) =>
      startProgram(
        ["/usr/bin/env", "-C", directory, deno],
        argumentsOf(name, args),
        { home: directory, isTerminal: true, env: environment },
      ),
    [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
  };
}
