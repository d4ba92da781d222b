/**
 * Runs the command with the arguments of the process, in Deno, Node and Bun.
 *
 * @module
 */

import { runDoctor } from "./_command.ts";

/** The part of `node:process` that is used, which Deno and Bun have as a global. */
interface IProcess {
  argv: string[];
  env: Record<string, string | undefined>;
  exitCode?: number | string | null | undefined;
  stdout: { isTTY?: boolean };
  stderr: { isTTY?: boolean; write(text: string): unknown };
  once(event: "SIGINT", listener: () => void): unknown;
  removeListener(event: "SIGINT", listener: () => void): unknown;
}

const { Deno: deno, process } = globalThis as unknown as {
  Deno?: { args: string[]; noColor: boolean };
  process: IProcess;
};

// Deno asks for a permission before it reads the environment.
const noColour = deno ? deno.noColor : Boolean(process.env.NO_COLOR);
const { stdout, stderr } = process;

// A second time ends the process: the first one revokes the tokens of a sign-in.
const interruption = new AbortController();
const interrupt = () => interruption.abort();
process.once("SIGINT", interrupt);

// Not awaited: CommonJS has no `await` at the top.
runDoctor(deno?.args ?? process.argv.slice(2), {
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
  signal: interruption.signal,
  colour: stdout.isTTY === true && !noColour,
  ...(stderr.isTTY && {
    progress: (text: string) => void stderr.write(`\r\x1b[K${text}`),
  }),
}).then((status) => {
  process.exitCode = status;
}).finally(() => process.removeListener("SIGINT", interrupt));
