/**
 * Runs every step from a `401` to a `200` with this library and real servers on
 * loopback. With a URL, runs the doctor instead.
 *
 * The steps are in `demo/steps.ts`, which shows how to use the library.
 */
import { processHost } from "../lib/cli/_process_host.ts";
import { runOn } from "../lib/cli/_program.ts";
import { createLoopbackReceiver } from "../lib/native/mod.ts";
import { createJsonOutput, createTextOutput } from "./demo/output.ts";

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

Exit status: 0 if every step succeeded, or a strict client can continue; 1 if
not; 2 for invalid arguments.`;

/** What to do after the demo. */
const NEXT = `
What next:
  your own API    npx -y deno@2.9.6 task demo https://your-api.example/
  your program    "Your first program" in README.md
  more guides     .github/docs/start.md`;

/** The options of the demo without a URL. */
const OWN = ["--json", "--browser"];

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
  // Imported here, as the doctor needs no servers.
  const { runSteps, StepError } = await import("./demo/steps.ts");
  try {
    await runSteps(output, receiver);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    output.end("The last step failed; both servers are stopped.", false);
    return 1;
  }
  output.end("Every step succeeded, and both servers are stopped.", true);
  if (!args.includes("--json")) print(NEXT);
  return 0;
}

if (import.meta.main) {
  // Not Deno.exit(), which would hide a resource that is still open.
  Deno.exitCode = await runDemo(Deno.args, console.log, {
    colour: Deno.stdout.isTerminal() && !Deno.noColor,
    printError: console.error,
  });
}
