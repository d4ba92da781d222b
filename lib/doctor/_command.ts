/** The command: its output and its exit status. */

import { printable } from "../core/_quote.ts";
import { OAuthClientError } from "../core/errors.ts";
import { publicClient } from "../client/authentication.ts";
import type { Client } from "../client/known_client.ts";
import { identifierOf } from "../discovery/_identifiers.ts";
import type { IFetch } from "../http/request_options.ts";
import {
  HELP,
  type IArguments,
  readArguments,
  UsageError,
} from "./_arguments.ts";
import { inCommandWords } from "./_command_words.ts";
import { pageOf } from "./_page.ts";
import { reportLines } from "./_report.ts";
import { withoutQuery } from "./_seal.ts";
import { diagnose } from "./diagnose.ts";
import type { IDiagnosisRequest } from "./diagnosis.ts";
import type { DiagnoseSignIn, IDiagnoseCodeSignIn } from "./sign_in.ts";

/** What a sign-in uses of a loopback receiver. */
export type Receiver = Pick<IDiagnoseCodeSignIn, "redirectUri" | "visit">;

/** The output of the command, and the functions of the machine that it uses. */
export interface ICommandIo {
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly colour: boolean;
  /** Replaces the last line of a terminal; absent without a terminal. */
  readonly progress?: (text: string) => void;
  /** Replaces the global `fetch`. */
  readonly fetch?: IFetch;
  readonly now?: () => number;
  /** Ends the diagnosis; the tokens of a sign-in are revoked nevertheless. */
  readonly signal?: AbortSignal;
  /** Replaces the loopback receiver, which opens the browser. */
  readonly createReceiver?: (print: (line: string) => void) => Receiver;
  /** Replaces the file system. */
  readonly readFile?: (path: string) => Promise<string>;
  readonly writeFile?: (path: string, text: string) => Promise<void>;
  readonly requireWritable?: (path: string) => Promise<void>;
}

/** Imported only when they are needed, as they import modules of Node. */
const files = () => import("../native/_text_file.ts");
const native = () => import("../native/loopback_receiver.ts");

/** A file that cannot be read or written. */
class FileError extends Error {}

/** Awaits what is done with a file; says in an error what and which. */
async function using<T>(
  verb: string,
  path: string,
  task: Promise<T>,
): Promise<T> {
  try {
    return await task;
  } catch (error) {
    const { message } = error as Error;
    throw new FileError(`Cannot ${verb} ${path}: ${message}`);
  }
}

async function createReceiver(
  { createReceiver: create, printError, progress }: ICommandIo,
): Promise<Receiver> {
  const print = (line: string) => {
    progress?.("");
    printError(line);
  };
  if (create) return create(print);
  const { createLoopbackReceiver } = await native();
  return createLoopbackReceiver({ print, title: "Diagnosis" });
}

async function clientOf(
  { clientId, clientSecretFile, issuer }: IArguments,
  { readFile }: ICommandIo,
): Promise<Client | undefined> {
  if (clientId === undefined) return undefined;
  const named = issuer && identifierOf(issuer);
  if (clientSecretFile === undefined || named === undefined) {
    return publicClient(clientId, { issuer: named });
  }
  const read = readFile ?? (await files()).readTextFile;
  const client_secret = await using(
    "read",
    clientSecretFile,
    read(clientSecretFile),
  );
  return { issuer: named, client_id: clientId, client_secret };
}

async function signInOf(
  found: IArguments,
  io: ICommandIo,
): Promise<DiagnoseSignIn | undefined> {
  if (!found.signIn) return undefined;
  const common = {
    client: await clientOf(found, io),
    clientMetadataUrl: found.clientMetadataUrl,
    scopes: found.scopes,
  };
  if (!found.device) return { ...common, ...await createReceiver(io) };
  return {
    ...common,
    show({ verification_uri, verification_uri_complete, user_code }) {
      io.progress?.("");
      io.printError(
        printable(
          `Open ${
            verification_uri_complete ?? verification_uri
          } and enter ${user_code}`,
        ),
      );
    },
  };
}

async function run(found: IArguments, io: ICommandIo): Promise<number> {
  const { print, printError, colour, progress, fetch, now, signal } = io;
  const { url, help, json, headers, register, timeoutMs } = found;
  if (help || !url) {
    print(HELP);
    return 0;
  }
  const { html } = found;
  if (html !== undefined) {
    // Before anything is requested: a diagnosis may register a client and ask a user.
    const check = io.requireWritable ?? (await files()).requireWritable;
    await using("write", html, check(html));
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
    signal,
    onRequest,
    userAgent: found.userAgent,
    assumePkce: found.assumePkce,
    allowHttp: found.allowHttp,
    browser: found.browser,
    trustedIssuers: found.trustedIssuers,
    signIn: await signInOf(found, io),
  }).finally(() => progress?.(""));
  if (json) print(JSON.stringify(diagnosis, null, 2));
  else for (const line of reportLines(diagnosis, { colour })) print(line);
  if (html !== undefined) {
    const write = io.writeFile ?? (await files()).writeTextFile;
    await using(
      "write",
      html,
      write(html, pageOf(withoutQuery(diagnosis), inCommandWords)),
    );
    printError(`The report is in ${printable(html)}`);
  }
  return ["broken", "unreachable"].includes(diagnosis.verdict) ? 1 : 0;
}

/** Runs the command; returns its exit status. */
export async function runDoctor(
  args: readonly string[],
  io: ICommandIo,
): Promise<number> {
  const { printError, signal } = io;
  try {
    return await run(readArguments(args), io);
  } catch (error) {
    if (signal?.aborted) {
      printError("Interrupted");
      return 130;
    }
    if (error instanceof FileError) {
      printError(printable(error.message));
      return 1;
    }
    const isUsage = error instanceof UsageError ||
      (error instanceof OAuthClientError && error.code === "invalid_argument");
    if (!isUsage) throw error;
    printError(printable((error as Error).message));
    printError("See --help.");
    return 2;
  }
}
