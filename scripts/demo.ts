/**
 * Runs every step from a `401` to a `200` with this library: with real servers on
 * loopback, or with a given URL as far as is possible there.
 *
 * The steps are in `demo/discovery_steps.ts`, `demo/client_steps.ts` and
 * `demo/user_steps.ts`, which show how to use the library. `demo/steps.ts` runs them.
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
import { type IProgress, runSteps } from "./demo/steps.ts";

const HELP = `\
Runs every step from a 401 to a 200.

  deno task demo [--json]
  deno task demo [--json] [--register] https://host/path

Without a URL, the demo starts an authorization server and a protected resource on
this machine and runs all flows: client credentials, device and authorization code,
each up to a call of the resource. With a URL, it looks for the authorization server
of that resource, and stops where a client would need a registration. Each request
has a timeout of 10 seconds.

  --register  also register a client at the server that was found
  --json      print one JSON object for each step
  --help      print this
  NO_COLOR=1  print without colour, as to a file

Exit status: 0 if the metadata of the authorization server was found (without a URL:
if every step succeeded), 1 if not, 2 for invalid arguments.`;

/** How the demo prints. */
export interface IDemoOptions {
  /** @default false */
  colour?: boolean;
  /** Prints errors in the arguments. @default print */
  printError?: (line: string) => void;
}

interface IArguments {
  json: boolean;
  register: boolean;
  help: boolean;
  target: string | undefined;
}

/** Parses the arguments; throws an error that says what is wrong with them. */
function readArguments(args: string[]): IArguments {
  const flag = { type: "boolean", default: false } as const;
  const { values, positionals } = parseArgs({
    // `deno task` passes on the `--` that npm would remove.
    args: args.filter((argument) => argument !== "--"),
    options: { json: flag, register: flag, help: { ...flag, short: "h" } },
    allowPositionals: true,
  });
  const [argument, ...others] = positionals;
  if (others.length > 0) throw new Error("Expected at most one URL");
  if (argument === undefined) {
    if (values.register) throw new Error("--register requires a URL");
    return { ...values, target: undefined };
  }
  const url = URL.canParse(argument) ? new URL(argument) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`'${argument}' is not an http:// or https:// URL`);
  }
  if (url.username || url.password) {
    throw new Error("The URL must not contain a user name or a password");
  }
  url.hash = ""; // RFC 9728, section 1.2: a resource has no fragment.
  return { ...values, target: url.href };
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

async function runWithGivenUrl(
  target: string,
  register: boolean,
  output: IOutput,
): Promise<boolean> {
  output.text(
    `Looking for the authorization server of ${target}; timeout 10 s for each request.`,
  );
  output.text("");
  const progress: IProgress = { target, scopes: [] };
  const last = register ? registerClient : lookForRegistration;
  await runSteps([...discovery, last], progress, output);
  const found = progress.server !== undefined;
  if (!found) await runSteps([guessServerMetadata], progress, output);
  output.end(
    target,
    `Result: ${describeEnd(progress, register)}`,
    found,
  );
  return found;
}

function describeEnd({ server, client }: IProgress, register: boolean): string {
  if (!server) {
    return "no authorization server was found.";
  }
  if (client !== undefined) {
    return "discovery and registration succeeded; the next step is the sign-in of a user.";
  }
  if (register) {
    return "discovery succeeded, but registration failed.";
  }
  return server.registration_endpoint
    ? "discovery succeeded; the next step is to register a client, with --register."
    : "discovery succeeded; the next step is a client that the operator of the server registers.";
}

/** Runs the demo; returns its exit status. */
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
    // The rest of a message of parseArgs() does not apply here.
    printError(toLine((failure as Error).message.split(". ", 1).join()));
    printError("See `deno task demo --help`.");
    return 2;
  }
  if (given.help) {
    print(HELP);
    return 0;
  }
  const output = createOutput(print, { json: given.json, colour });
  const ok = given.target === undefined
    ? await runWithOwnServers(output)
    : await runWithGivenUrl(given.target, given.register, output);
  return ok ? 0 : 1;
}

if (import.meta.main) {
  // Not Deno.exit(), which would hide a resource that is still open.
  Deno.exitCode = await runDemo(Deno.args, console.log, {
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
    printError: console.error,
  });
}
