/**
 * The road from a `401` to a token, walked with this library: against real
 * servers on loopback, or against an address of yours as far as it leads.
 *
 * `demo/discovery_steps.ts`, `demo/client_steps.ts` and `demo/user_steps.ts` hold the steps and
 * show how the library is used; `demo/walk.ts` goes from one to the next.
 */
import { parseArgs } from "node:util";
import {
  clientSteps,
  lookForRegistration,
  registerClient,
} from "./demo/client_steps.ts";
import {
  discovery,
  guessServerMetadata,
  strictDiscovery,
} from "./demo/discovery_steps.ts";
import { createOutput, type IOutput, toLine } from "./demo/output.ts";
import { type IWalk, walkSteps } from "./demo/walk.ts";

const HELP = `\
Walks the road from a 401 to a token.

  deno task demo [--json]
  deno task demo [--json] [--register] https://host/path

Without an address, an authorization server and a protected resource are started
on this machine, and every step is made: a machine, a device and a program with a
browser each get a token and call the resource. With an address, the demo finds out
where a client of that address would have to go, and stops where it would have to
be known there. No request waits for longer than 10 seconds.

  --register  also register a client at the server that was found
  --json      print a JSON object a line
  --help      print this
  NO_COLOR=1  print without colour, as into a file

Exit status: 0 when the authorization server's metadata was found (without an
address: when every step worked), 1 when not, 2 for a mistake in the arguments.`;

/** How the demo is shown, beside its arguments. */
export interface IDemoOptions {
  /** Default false. */
  colour?: boolean;
  /** Takes complaints about the arguments; `print` when absent. */
  printError?: (line: string) => void;
}

interface IArguments {
  json: boolean;
  register: boolean;
  help: boolean;
  target: string | undefined;
}

/** The arguments; throws an error whose message says what is wrong with them. */
function readArguments(args: string[]): IArguments {
  const flag = { type: "boolean", default: false } as const;
  const { values, positionals } = parseArgs({
    // `deno task` hands on the `--` that npm would take away.
    args: args.filter((argument) => argument !== "--"),
    options: { json: flag, register: flag, help: { ...flag, short: "h" } },
    allowPositionals: true,
  });
  const [address, ...others] = positionals;
  if (others.length > 0) throw new Error("More than one address was given");
  if (address === undefined) {
    if (values.register) throw new Error("--register goes with an address");
    return { ...values, target: undefined };
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`'${address}' is not an http:// or https:// address`);
  }
  if (url.username || url.password) {
    throw new Error("An address must not carry a user name or a password");
  }
  url.hash = ""; // RFC 9728, section 1.2: a resource has no fragment.
  return { ...values, target: url.href };
}

async function walkOwnServers(output: IOutput): Promise<boolean> {
  // Only here, so that a walk elsewhere need not load a server.
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
    const walk: IWalk = { target, machine, scopes: [] };
    const steps = [...strictDiscovery, ...clientSteps, ...userSteps];
    ok = await walkSteps(steps, walk, output);
  }
  output.end(
    target,
    ok
      ? "From a 401 to a 200: every step worked, and both servers are stopped."
      : "Not every step worked; both servers are stopped.",
    ok,
  );
  return ok;
}

async function walkGivenAddress(
  target: string,
  register: boolean,
  output: IOutput,
): Promise<boolean> {
  output.text(
    `How would a client get into ${target}? Each request has 10 seconds.`,
  );
  output.text("");
  const walk: IWalk = { target, scopes: [] };
  const last = register ? registerClient : lookForRegistration;
  await walkSteps([...discovery, last], walk, output);
  const found = walk.server !== undefined;
  if (!found) await walkSteps([guessServerMetadata], walk, output);
  output.end(
    target,
    `The road ends here: ${describeEnd(walk, register)}`,
    found,
  );
  return found;
}

function describeEnd({ server, client }: IWalk, register: boolean): string {
  if (!server) {
    return "no authorization server was found, so nobody can be asked for a token.";
  }
  if (client !== undefined) {
    return "discovery and registration worked; a token would need a user who signs in.";
  }
  if (register) {
    return "discovery worked and registration did not, so there is no client to get a token for.";
  }
  return server.registration_endpoint
    ? "discovery worked; a token would need a client, which --register makes."
    : "discovery worked; a token would need a client that its operator has made known there.";
}

/** Runs the demo; its exit status. */
export async function runDemo(
  args: string[],
  print: (line: string) => void,
  options: IDemoOptions = {},
): Promise<number> {
  const { colour = false, printError = print } = options;
  let given: IArguments;
  try {
    given = readArguments(args);
  } catch (failure) {
    // The rest of a message of parseArgs() is of no help here.
    printError(toLine((failure as Error).message.split(". ", 1).join()));
    printError("`deno task demo --help` tells what can be given.");
    return 2;
  }
  if (given.help) {
    print(HELP);
    return 0;
  }
  const output = createOutput(print, { json: given.json, colour });
  const ok = given.target === undefined
    ? await walkOwnServers(output)
    : await walkGivenAddress(given.target, given.register, output);
  return ok ? 0 : 1;
}

if (import.meta.main) {
  // Not Deno.exit(), which would hide that something was left running.
  Deno.exitCode = await runDemo(Deno.args, console.log, {
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
    printError: console.error,
  });
}
