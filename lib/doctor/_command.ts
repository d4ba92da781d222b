/** The command: its arguments, its output and its exit status. */

import { printable } from "../core/_quote.ts";
import { parseHttpUrl, quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IFetch } from "../http/request_options.ts";
import { reportLines } from "./_report.ts";
import { diagnose } from "./diagnose.ts";
import type { IDiagnosisRequest } from "./diagnosis.ts";

const HELP = `\
Diagnoses why an OAuth client cannot obtain a token for a URL.

  deno run -N jsr:@oauth-helper/client/doctor [options] https://host/path
  npx @oauth-helper/client doctor [options] https://host/path

  --json                  print the diagnosis as JSON
  --header "Name: value"  send a header field to the host of the URL; repeatable
  --timeout SECONDS       time for each request, 10 by default
  --register              also register a client
  --help                  print this

Without --register, requests are GET and OPTIONS. Only a URL that responds to
GET with 404 or 405 receives a POST, without the header fields of --header: a
ping of the Model Context Protocol, which has no effect on a server of that
protocol.

Exit status: 0 if a client can continue, if need be with the options that the
verdict names; 1 if it stops whatever its options; 2 for invalid arguments.`;

/** Where the command prints. */
export interface ICommandIo {
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly colour: boolean;
  /** Replaces the last line of a terminal; absent without a terminal. */
  readonly progress?: (text: string) => void;
  /** Replaces the global `fetch`. */
  readonly fetch?: IFetch;
  readonly now?: () => number;
}

interface IArguments {
  json: boolean;
  register: boolean;
  help: boolean;
  timeoutMs?: number;
  headers: Record<string, string>;
  url?: URL;
}

/** An error in the arguments. */
class UsageError extends Error {}

function readHeader(value: string): [name: string, value: string] {
  const colon = value.indexOf(":");
  if (colon < 1) throw new UsageError('--header requires "Name: value"');
  return [value.slice(0, colon).trim(), value.slice(colon + 1).trim()];
}

function readTimeout(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0)) {
    throw new UsageError("--timeout requires a number of seconds");
  }
  return seconds * 1_000;
}

function readUrl(argument: string): URL {
  const url = parseHttpUrl(argument);
  if (!url) {
    throw new UsageError(
      `'${quoteUrl(argument)}' is not an http or https URL without credentials`,
    );
  }
  return url;
}

/** Reads the arguments; throws what is wrong with them. */
function readArguments(args: readonly string[]): IArguments {
  const found: IArguments = {
    json: false,
    register: false,
    help: false,
    headers: {},
  };
  // `deno task` passes on the `--` that npm would remove.
  const queue = args.filter((argument) => argument !== "--");
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const [name = "", inline] = next.startsWith("--")
      ? next.split(/=(.*)/s, 2)
      : [next];
    const value = () => {
      const given = inline ?? queue.shift();
      if (given === undefined) throw new UsageError(`${name} requires a value`);
      return given;
    };
    if (name === "--help" || name === "-h") found.help = true;
    else if (name === "--json") found.json = true;
    else if (name === "--register") found.register = true;
    else if (name === "--timeout") found.timeoutMs = readTimeout(value());
    else if (name === "--header") {
      const [field, text] = readHeader(value());
      found.headers[field] = text;
    } else if (name.startsWith("-")) {
      throw new UsageError(`Unknown option '${name}'`);
    } else if (found.url) throw new UsageError("Expected one URL");
    else found.url = readUrl(next);
  }
  if (!found.help && !found.url) throw new UsageError("Expected a URL");
  return found;
}

/** Runs the command; returns its exit status. */
export async function runDoctor(
  args: readonly string[],
  io: ICommandIo,
): Promise<number> {
  const { print, printError, colour, progress, fetch, now } = io;
  try {
    const { url, help, json, headers, register, timeoutMs } = readArguments(
      args,
    );
    if (help || !url) {
      print(HELP);
      return 0;
    }
    const onRequest = ({ name, method, url }: IDiagnosisRequest) => {
      const line = printable(`${method} ${url}`);
      if (name === "registration") {
        progress?.("");
        printError(`Registers a client at ${printable(url)}`);
      }
      progress?.(line.slice(0, 79));
    };
    const diagnosis = await diagnose(url, {
      headers,
      register,
      timeoutMs,
      fetch,
      now,
      onRequest,
    }).finally(() => progress?.(""));
    if (json) print(JSON.stringify(diagnosis, null, 2));
    else for (const line of reportLines(diagnosis, { colour })) print(line);
    return ["broken", "unreachable"].includes(diagnosis.verdict) ? 1 : 0;
  } catch (error) {
    const isUsage = error instanceof UsageError ||
      (error instanceof OAuthClientError && error.code === "invalid_argument");
    if (!isUsage) throw error;
    printError(printable((error as Error).message));
    printError("See --help.");
    return 2;
  }
}
