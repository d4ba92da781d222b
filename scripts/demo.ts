/**
 * Runs every step from a `401` to a `200` with this library and real servers on
 * loopback. With a URL, runs the doctor instead.
 *
 * The steps are in `demo/`, in files that show how to use the library.
 */
import { processHost } from "../lib/cli/_process_host.ts";
import { runOn } from "../lib/cli/program.ts";
import {
  createLoopbackReceiver,
  type ILoopbackReceiver,
} from "../lib/native/mod.ts";
import {
  createJsonOutput,
  createTextOutput,
  type IOutput,
} from "./demo/output.ts";

const HELP = `\
Runs every step from a 401 to a 200.

  deno task demo [--json] [--browser]
  deno task demo [options] https://host/path

Without a URL, the demo starts an authorization server and a protected resource
on this machine, and runs the client credentials, device and code flows up to a
call of the resource. At the end, createAuthorizedFetch() does all of it in one
call. With a URL, the demo runs the doctor, which finds why clients cannot
obtain a token there.

  --json      print one JSON object for each step, or the diagnosis
  --browser   sign in with your own browser, by any name and password
  --help      print this
  NO_COLOR=1  print without colour, as to a file

With a URL only:

  --header "Name: value"  send a header field to the host of the URL; repeatable
  --timeout SECONDS       time for each request, 10 by default
  --register              also register a client; nothing else is ever written

Exit status: 0 if every step succeeded, or a strict client can continue; 1 if
not; 2 for invalid arguments.`;

/** The options of the demo without a URL. */
const OWN = ["--json", "--browser"];

async function runWithOwnServers(
  output: IOutput,
  own: ILoopbackReceiver | undefined,
): Promise<boolean> {
  // Imported here, as the doctor needs no servers.
  const { startServers } = await import("./demo/servers.ts");
  const { createDemo, StepError } = await import("./demo/step.ts");
  const steps = await import("./demo/steps.ts");
  let ok = true;
  try {
    await using servers = await startServers();
    output.text(
      "From a 401 to a 200: each step of an OAuth client, then all of",
    );
    output.text(
      "them in one call. Real servers on this machine, nothing else.\n",
    );
    output.text(`Resource ${servers.target}`);
    output.text(`Authorization server ${servers.issuer} (oidc-provider)`);
    const demo = createDemo(servers, output);
    if (!own) {
      output.text("\nDiscovery and registration");
      const known = await steps.discover(demo);
      output.text("\nClient credentials");
      await steps.clientCredentials(demo, known);
      output.text("\nDevice flow");
      await steps.device(demo, known);
      output.text("\nCode flow");
      await steps.code(demo, known);
    }
    output.text("\nAll in one call");
    await steps.session(demo, own);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    ok = false;
  }
  output.end(
    ok
      ? "Every step succeeded, and both servers are stopped."
      : "The last step failed; both servers are stopped.",
    ok,
  );
  return ok;
}

/** Runs the demo; returns its exit status. */
export async function runDemo(
  given: string[],
  print: (line: string) => void,
  { colour = false, printError = print } = {},
): Promise<number> {
  // `deno task` passes on the `--` that npm would remove.
  const args = given.filter((argument) => argument !== "--");
  if (args.includes("--help") || args.includes("-h")) {
    print(HELP);
    return 0;
  }
  if (args.some((argument) => !OWN.includes(argument))) {
    return await runOn(["doctor", ...args], {
      ...processHost(),
      print,
      printError,
      isTerminal: () => false,
      hasColours: () => colour,
    });
  }
  const output = args.includes("--json")
    ? createJsonOutput(print)
    : createTextOutput(print, colour);
  const receiver = args.includes("--browser")
    ? createLoopbackReceiver({ title: "Demo" })
    : undefined;
  return await runWithOwnServers(output, receiver) ? 0 : 1;
}

if (import.meta.main) {
  // Not Deno.exit(), which would hide a resource that is still open.
  Deno.exitCode = await runDemo(Deno.args, console.log, {
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
    printError: console.error,
  });
}
