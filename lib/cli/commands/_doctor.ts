/** The command `doctor`: the diagnosis of a server. */

import type { Client } from "../../client/known_client.ts";
import { printable } from "../../core/_quote.ts";
import { pageOf } from "../../doctor/report/_page.ts";
import { withoutQuery } from "../../doctor/_seal.ts";
import { diagnose } from "../../doctor/diagnose.ts";
import type {
  DiagnoseOptions,
  DiagnosisRequest,
} from "../../doctor/diagnosis.ts";
import type {
  DiagnoseCodeSignIn,
  DiagnoseSignIn,
} from "../../doctor/sign_in/sign_in.ts";
import type { Arguments } from "../_arguments.ts";
import { runClientMetadata } from "./_client_metadata.ts";
import { COMMAND_WORDS, reportLines } from "./_doctor_report.ts";
import { ExitCode, Failure, usageError } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { headersOf, namedServerOf } from "../_server_options.ts";

/** The used part of a loopback receiver. */
export type Receiver = Pick<
  DiagnoseCodeSignIn,
  "redirectUri" | "turn" | "visit"
>;

/** For tests. */
export interface DoctorIo extends Pick<DiagnoseOptions, "fetch" | "now"> {
  /** Replaces the loopback receiver, which opens the browser. */
  readonly createReceiver?: (print: (line: string) => void) => Receiver;
  /** Replaces the file system. */
  readonly files?: Pick<
    typeof import("../../native/_text_file.ts"),
    "requireWritable" | "writeTextFile"
  >;
}

async function defaultReceiver(
  given: Arguments,
  print: (line: string) => void,
): Promise<Receiver> {
  // Imported only if needed, because they import modules of Node.
  const { receiverOf } = await import("../_sign_in.ts");
  const { takingAnyState } = await import("./_doctor_receiver.ts");
  return takingAnyState(await receiverOf(given, print));
}

/** Awaits an operation on the report's file. */
async function writing(task: Promise<void>): Promise<void> {
  try {
    await task;
  } catch (error) {
    const { message } = error as Error;
    throw new Failure(ExitCode.Failed, `--html: ${message}`);
  }
}

async function signInOf(
  given: Arguments,
  client: Client | undefined,
  { print, createReceiver }: DoctorIo & Pick<Host, "print">,
): Promise<DiagnoseSignIn | undefined> {
  const { signIn, device, clientMetadataUrl, scopes, parameters } = given;
  if (!signIn && !device) return undefined;
  const common = {
    client,
    clientMetadataUrl,
    scopes,
    parameters,
    resourceIndicator: given.indicator,
  };
  if (device) {
    return {
      ...common,
      show({ verification_uri, verification_uri_complete, user_code }) {
        const uri = verification_uri_complete ?? verification_uri;
        print(printable(`Open ${uri} and enter ${user_code}`));
      },
    };
  }
  const receiver = createReceiver?.(print) ??
    await defaultReceiver(given, print);
  return { ...common, ...receiver };
}

export async function runDoctor(
  given: Arguments,
  host: Host,
  io: DoctorIo = {},
): Promise<ExitCode> {
  const files = io.files ?? await import("../../native/_text_file.ts");
  if (given.isDocument) return await runClientMetadata(given, host, io);
  const { url, html, json, browser, timeoutMs, userAgent } = given;
  if (!url) throw usageError("doctor requires a URL");
  const { print, printError } = host;
  if (html !== undefined) {
    // Checked first: a diagnosis may register a client and prompt a user.
    await writing(files.requireWritable(html));
  }
  const progress = (text: string) => {
    if (host.isTerminal()) host.printProgress(text);
  };
  const printLine = (line: string) => {
    progress("");
    printError(line);
  };
  let registeredAt: string | undefined;
  const onRequest = ({ name, method, url }: DiagnosisRequest) => {
    // A rejected registration is repeated in its plainest form.
    if (name === "registration" && url !== registeredAt) {
      registeredAt = url;
      printLine(`Registers a client at ${printable(url)}`);
    }
    progress(printable(`${method} ${url}`).slice(0, 79));
  };
  const { client, serverMetadata } = await namedServerOf(given);
  const diagnosis = await diagnose(url, {
    headers: await headersOf(given),
    ...{ browser, timeoutMs, userAgent, onRequest },
    ...{ fetch: io.fetch, now: io.now },
    assumePkce: given.assumePkce,
    allowHttp: given.allowHttp,
    trustedIssuers: given.trustedIssuers,
    serverMetadata,
    // A sign-in's tokens are revoked before the program exits.
    signal: host.endSignal(),
    client: given.signIn || given.device ? undefined : client,
    signIn: await signInOf(given, client, { ...io, print: printLine }),
  }).finally(() => progress(""));
  if (json) print(JSON.stringify(diagnosis, null, 2));
  else {
    const colour = host.hasColours();
    for (const line of reportLines(diagnosis, { colour })) print(line);
  }
  if (html !== undefined) {
    const page = pageOf(withoutQuery(diagnosis), COMMAND_WORDS);
    await writing(files.writeTextFile(html, page));
    printError(`The report is in ${printable(html)}`);
  }
  return ["broken", "unreachable"].includes(diagnosis.verdict)
    ? ExitCode.Failed
    : ExitCode.Done;
}

export const run = (given: Arguments, host: Host): Promise<ExitCode> =>
  runDoctor(given, host);
