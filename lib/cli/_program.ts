/**
 * The program `oauth-helper` as a function.
 *
 * @module
 */

import { printable, quote } from "../core/_quote.ts";
import { withAsciiHosts } from "../core/_url.ts";
import { type Arguments, readArguments } from "./_arguments.ts";
import { didYouMean, ExitCode, usageError } from "./_failure.ts";
import type { Host } from "./_host.ts";
import type { Command } from "./_options.ts";

type Run = (given: Arguments, host: Host) => Promise<number>;

/** Loaded when called: `token` runs before each request of a script. */
const COMMANDS: Readonly<
  Record<Command, () => Promise<{ readonly run: Run }>>
> = {
  login: () => import("./commands/_login.ts"),
  token: () => import("./commands/_token.ts"),
  headers: () => import("./commands/_headers.ts"),
  logout: () => import("./commands/_logout.ts"),
  status: () => import("./commands/_status.ts"),
  doctor: () => import("./commands/_doctor.ts"),
};

function isCommand(name: string): name is Command {
  return Object.hasOwn(COMMANDS, name);
}

const LAST_EXIT_CODE = Math.max(...Object.values(ExitCode));

/** Runs a command; throws if it fails. */
async function runCommand(
  [name = "", ...rest]: readonly string[],
  host: Host,
): Promise<number> {
  if (isCommand(name)) {
    const given = readArguments(name, rest);
    if (given.help) {
      host.print((await import("./commands/_help.ts")).helpOf(name));
      return ExitCode.Done;
    }
    return await (await COMMANDS[name]()).run(given, host);
  }
  if (["--help", "-h", "help"].includes(name)) {
    const [command = ""] = rest;
    if (command !== "") return await runCommand([command, "--help"], host);
    host.print((await import("./commands/_help.ts")).HELP);
    return ExitCode.Done;
  }
  if (["--version", "-V"].includes(name)) {
    host.print((await import("./_version.ts")).VERSION);
    return ExitCode.Done;
  }
  throw usageError(
    name === ""
      ? "A command is required: login, token, headers, logout, status or doctor"
      : /^https?:/i.test(name)
      ? "A command is required before the URL, such as login or doctor"
      : `There is no command '${quote(name)}'` +
        didYouMean(name, Object.keys(COMMANDS)),
  );
}

/** Runs the program; returns its exit code. */
export async function runOn(
  args: readonly string[],
  host: Host,
): Promise<number> {
  try {
    const exitCode = await runCommand(args, host);
    await host.flush();
    return exitCode;
  } catch (error) {
    const { explain } = await import("./_remedy.ts");
    const { nextCommands } = await import("./_next_commands.ts");
    const [name = "", ...rest] = args;
    const { exitCode, message, remedy } = explain(
      error,
      isCommand(name) ? nextCommands(name, rest) : undefined,
    );
    // A user who stops the program needs no message.
    if (exitCode > LAST_EXIT_CODE) return exitCode;
    // In one line: a server must not add one that looks like a fix.
    host.printError(`oauth-helper: ${withAsciiHosts(printable(message))}`);
    if (remedy !== undefined) host.printError(remedy);
    if (exitCode === ExitCode.Usage) {
      const command = isCommand(name) ? `${name} ` : "";
      host.printError(`See oauth-helper ${command}--help.`);
    }
    return exitCode;
  }
}
