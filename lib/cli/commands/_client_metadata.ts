/** The command `doctor --client-metadata`: the diagnosis of a document. */

import {
  type ClientMetadataDiagnosis,
  diagnoseClientMetadata,
  type DiagnoseClientMetadataOptions,
} from "../../doctor/client_metadata.ts";
import type { Arguments } from "../_arguments.ts";
import { findingLines, painter, type Titles, wrap } from "./_doctor_report.ts";
import { ExitCode, usageError } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { headersOf, serverMetadataOf } from "../_server_options.ts";

const TITLES: Titles = {
  error: ["error: servers reject it", "errors: servers reject it"],
  warning: [
    "warning: some servers reject it, or it needs more requests",
    "warnings: some servers reject it, or they need more requests",
  ],
  info: ["note", "notes"],
};

/** At most 80 characters wide. */
function clientMetadataLines(
  { url, findings }: ClientMetadataDiagnosis,
  { colour, target }: { colour: boolean; target?: URL | undefined },
): string[] {
  const isRefused = findings.some(({ severity }) => severity === "error");
  const servers = target
    ? `the server of ${target.href}`
    : "servers that accept client metadata documents";
  const verdict = isRefused ? "broken" : "ready";
  const summary = `${verdict}: ${servers} ${
    isRefused ? "cannot" : "can"
  } use the document.`;
  return [
    ...wrap(url, ""),
    ...wrap(summary, "").map(painter(colour, verdict)),
    ...findingLines(findings, {
      colour,
      titles: TITLES,
      labelOf: (finding) => finding.url === url ? "Document" : "Server",
    }),
  ];
}

export async function runClientMetadata(
  given: Arguments,
  host: Host,
  io: Pick<DiagnoseClientMetadataOptions, "fetch" | "now">,
): Promise<ExitCode> {
  const { clientMetadataUrl, url: target, json } = given;
  if (!clientMetadataUrl) throw usageError("--client-metadata requires a URL");
  const diagnosis = await diagnoseClientMetadata(clientMetadataUrl, {
    target,
    headers: await headersOf(given),
    timeoutMs: given.timeoutMs,
    userAgent: given.userAgent,
    allowHttp: given.allowHttp,
    trustedIssuers: given.trustedIssuers,
    serverMetadata: await serverMetadataOf(given),
    signal: host.endSignal(),
    fetch: io.fetch,
    now: io.now,
  });
  const colour = host.hasColours();
  const lines = json
    ? [JSON.stringify(diagnosis, null, 2)]
    : clientMetadataLines(diagnosis, { colour, target });
  for (const line of lines) host.print(line);
  return diagnosis.findings.some(({ severity }) => severity === "error")
    ? ExitCode.Failed
    : ExitCode.Done;
}
