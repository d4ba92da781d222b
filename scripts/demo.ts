/**
 * Runs every step from a `401` to a `200` with this library and real servers on
 * loopback. With a URL, runs the doctor instead.
 *
 * The steps are in `demo/discovery_steps.ts`, `demo/client_steps.ts` and
 * `demo/user_steps.ts`, which show how to use the library. `demo/steps.ts` runs them.
 */
import { parseArgs } from "node:util";
import { runDoctor } from "../lib/doctor/_command.ts";
import { clientSteps } from "./demo/client_steps.ts";
import { strictDiscovery } from "./demo/discovery_steps.ts";
import { createOutput, type IOutput, toLine } from "./demo/output.ts";
import { type IProgress, runSteps } from "./demo/steps.ts";

const HELP = `\
Runs every step from a 401 to a 200.

  deno task demo [--json]
  deno task demo [options] https://host/path

Without a URL, the demo starts an authorization server and a protected resource on
this machine and runs all flows: client credentials, device and authorization code,
each up to a call of the resource. With a URL, it runs the doctor, which says what
keeps clients from obtaining a token there, and what to do.

  --json      print one JSON object for each step, or the diagnosis
  --help      print this
  NO_COLOR=1  print without colour, as to a file

With a URL only:

  --header "Name: value"  send a header field to the host of the URL; repeatable
  --timeout SECONDS       time for each request, 10 by default
  --register              also register a client; nothing else is ever written

Exit status: 0 if every step succeeded, or a strict client can continue; 1 if not;
2 for invalid arguments.`;

/** How the demo prints. */
export interface IDemoOptions {
  /** @default false */
  colour?: boolean;
  /** Prints errors in the arguments. @default print */
  printError?: (line: string) => void;
}

/** Parses the arguments; throws an error that says what is wrong with them. */
function readArguments(args: string[]): { json: boolean; help: boolean } {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args,
    options: { json: flag, help: { ...flag, short: "h" } },
  });
  return values;
}

async function runWithOwnServers(output: IOutput): Promise<boolean> {
  // Imported here, as the demo needs no servers for a given URL.
  const { startServers } = await import("./demo/servers.ts");
  const { userSteps } = await import("./demo/user_steps.ts");
  let target: string;
  let ok: boolean;
  {
    await using servers = await startServers();
    ({ target } = servers);
    output.text(
      `On this machine: resource ${target}, ` +
        `authorization server ${servers.issuer} (oidc-provider).`,
    );
    output.text("");
    const { machine } = servers;
    const progress: IProgress = { target, machine, scopes: [] };
    const steps = [...strictDiscovery, ...clientSteps, ...userSteps];
    ok = await runSteps(steps, progress, output);
  }
  output.end(
    target,
    ok
      ? "From a 401 to a 200: every step succeeded, and both servers are stopped."
      : "Not every step succeeded; both servers are stopped.",
    ok,
  );
  return ok;
}

/** Whether the arguments are for the doctor: a URL, or an option that needs one. */
function isForDoctor(args: string[]): boolean {
  return !args.includes("--help") && !args.includes("-h") &&
    args.some((argument) =>
      !/^--?\w*$/.test(argument) ||
      /^--(register|header|timeout)/.test(argument)
    );
}

/** Runs the demo; returns its exit status. */
export async function runDemo(
  given: string[],
  print: (line: string) => void,
  options: IDemoOptions = {},
): Promise<number> {
  const { colour = false, printError = print } = options;
  // `deno task` passes on the `--` that npm would remove.
  const args = given.filter((argument) => argument !== "--");
  if (isForDoctor(args)) {
    return await runDoctor(args, { print, printError, colour });
  }
  let values: ReturnType<typeof readArguments>;
  try {
    values = readArguments(args);
  } catch (failure) {
    // The rest of a message of parseArgs() does not apply here.
    printError(toLine((failure as Error).message.split(". ", 1).join()));
    printError("See `deno task demo --help`.");
    return 2;
  }
  if (values.help) {
    print(HELP);
    return 0;
  }
  const output = createOutput(print, { json: values.json, colour });
  return await runWithOwnServers(output) ? 0 : 1;
}

if (import.meta.main) {
  // Not Deno.exit(), which would hide a resource that is still open.
  Deno.exitCode = await runDemo(Deno.args, console.log, {
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
    printError: console.error,
  });
}
