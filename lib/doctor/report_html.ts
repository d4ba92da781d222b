/**
 * The diagnosis as a page that can be sent to the operator of a server.
 *
 * @module
 */

import { requireObject } from "../core/_arguments.ts";
import { isMembers } from "../core/_members.ts";
import { escapeHtml } from "../core/_quote.ts";
import { parseUrl } from "../core/_url.ts";
import { describeTime, proseHtml } from "./_html.ts";
import { joinSteps } from "./_join_steps.ts";
import { STYLE } from "./_report_style.ts";
import { type IRow, sequenceSvg } from "./_sequence.ts";
import { PURPOSES, signInRows } from "./_sign_in_words.ts";
import type {
  DiagnosisVerdict,
  FindingSeverity,
  IDiagnosis,
  IFinding,
} from "./diagnosis.ts";

const VERDICTS: Record<DiagnosisVerdict, string> = {
  ready: "Ready",
  needs_client: "Ready with a client of the operator",
  needs_option: "Ready with options",
  open: "Open",
  unreachable: "Unreachable",
  broken: "Broken",
};

const SEVERITIES: Record<FindingSeverity, string> = {
  error: "Error",
  warning: "Warning",
  info: "Note",
};

/** Returns a list of terms; empty descriptions are left out. */
function termsHtml(
  rows: readonly (readonly [name: string, html: string | undefined])[],
  kind = "",
): string {
  const items = rows.flatMap(([name, html]) =>
    html ? [`<dt>${escapeHtml(name)}</dt><dd>${html}</dd>`] : []
  );
  return items.length > 0
    ? `<dl${kind && ` class="${kind}"`}>${items.join("")}</dl>`
    : "";
}

const monoHtml = (text: string | undefined) =>
  text === undefined
    ? undefined
    : `<span class="mono">${escapeHtml(text)}</span>`;

/** The worst severity among findings. */
function worstOf(findings: readonly IFinding[]): FindingSeverity | undefined {
  return (["error", "warning", "info"] as const).find((severity) =>
    findings.some((finding) => finding.severity === severity)
  );
}

function headerHtml(diagnosis: IDiagnosis): string {
  const { target, date, verdict, summary, options, notTried } = diagnosis;
  const { context } = diagnosis;
  const words = options?.map(({ name, value }) =>
    `<code>${
      escapeHtml(
        value === undefined ? name : `${name}: ${JSON.stringify(value)}`,
      )
    }</code>`
  );
  return [
    "<header>",
    '<p class="kind">OAuth diagnosis</p>',
    `<h1>${escapeHtml(target)}</h1>`,
    `<p class="date">${
      escapeHtml(date.replace("T", " ").slice(0, 16))
    } UTC</p>`,
    `<section class="verdict ${verdict}"><strong>${VERDICTS[verdict]}</strong>`,
    `<p>${proseHtml(summary)}</p></section>`,
    termsHtml([
      ["Issuer", monoHtml(context?.issuer)],
      ["Resource", monoHtml(context?.resource)],
      [
        "Scopes",
        context?.scopes && escapeHtml(context.scopes.slice(0, 20).join(" ")),
      ],
      ["Options", words?.join(", ")],
      [
        "Not tried",
        notTried && escapeHtml(notTried.join(", ").replaceAll("_", " ")),
      ],
      ...signInRows(diagnosis.signIn).map(([name, text]) =>
        [name, escapeHtml(text)] as const
      ),
    ], "facts"),
    "</header>",
  ].join("\n");
}

function findingHtml(
  { id, severity, message, operator, client, standard, url, step, excerpt }:
    IFinding,
  rows: readonly IRow[],
): string {
  const row = rows.find(({ indices }) => indices.includes(step ?? -1));
  const where = [
    ...(row ? [`request ${row.number}`] : []),
    ...(url === undefined ? [] : [url]),
  ].join(": ");
  return [
    `<article class="finding ${severity}"><header>`,
    `<span class="badge">${SEVERITIES[severity]}</span>`,
    `<span class="id mono">${escapeHtml(id)}</span>`,
    `<h3>${proseHtml(message)}</h3></header><div>`,
    ...(excerpt ? [`<pre>${escapeHtml(excerpt)}</pre>`] : []),
    termsHtml([
      ["Operator", proseHtml(operator)],
      ["Client", client && proseHtml(client)],
      ["Standard", escapeHtml(standard)],
      ["Seen at", monoHtml(where)],
    ]),
    "</div></article>",
  ].join("\n");
}

/** Writes members in one line: names and values. */
function membersHtml(members: Record<string, unknown> | undefined) {
  if (!members || Object.keys(members).length === 0) return undefined;
  return Object.entries(members).map(([name, value]) =>
    `<span class="mono">${escapeHtml(name)}=${
      escapeHtml(
        Array.isArray(value)
          ? value.join(" ")
          : isMembers(value)
          ? JSON.stringify(value)
          : String(value),
      )
    }</span>`
  ).join(" ");
}

function requestHtml({ step, count, number, severity }: IRow): string {
  const { method, url, status, ms, result, standard, sent, received } = step;
  const came = [
    ...[PURPOSES[step.name] ?? []].flat(),
    status === undefined ? "no HTTP status" : `status ${status}`,
    result + (count > 1 ? ` (${count} times)` : ""),
    describeTime(ms),
  ].join(", ");
  return [
    `<li><span class="at ${
      severity ? `badge ${severity}` : ""
    }">${number}</span>`,
    `<p class="mono">${escapeHtml(`${method} ${url}`)}</p>`,
    `<p class="came">${escapeHtml(came)}${
      step.isExtra ? "; not made by a client" : ""
    }</p>`,
    termsHtml([
      ["Sent", membersHtml(sent)],
      ["Received", membersHtml(received)],
      ["Standard", escapeHtml(standard)],
    ]),
    "</li>",
  ].join("\n");
}

/** Hides the query of the target, where keys of an API may stand, in all strings. */
function withoutQuery<T>(value: T, search: string): T {
  if (typeof value === "string") return value.replaceAll(search, "?…") as T;
  if (Array.isArray(value)) {
    return value.map((member) => withoutQuery(member, search)) as T;
  }
  return isMembers(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        withoutQuery(one, search),
      ]),
    ) as T
    : value;
}

/**
 * Writes a diagnosis as one HTML page, to send to the operator of a server: the verdict,
 * the findings with the part of the response that shows each, a sequence diagram of the
 * requests, and what each has sent and received.
 *
 * The page has no scripts and no links, loads nothing, and fits a wide and a narrow
 * screen, light and dark, and paper. It has no values of header fields that were sent,
 * no tokens, codes or secrets, and no query of the target. All text of servers is
 * escaped.
 *
 * @param diagnosis The result of {@linkcode diagnose}.
 * @returns The text of a file.
 * @throws {OAuthClientError} `invalid_argument`: `diagnosis` is not an object.
 *
 * @example Write a report
 * ```ts
 * import { diagnose, reportHtml } from "@oauth-helper/client/doctor";
 * import { assert } from "@std/assert";
 *
 * const diagnosis = await diagnose("https://api.example/mcp", {
 *   // Replaces a server that requires a token and publishes nothing.
 *   fetch: (url) =>
 *     Promise.resolve(
 *       new Response(null, { status: url.endsWith("/mcp") ? 401 : 404 }),
 *     ),
 * });
 * assert(reportHtml(diagnosis).startsWith("<!DOCTYPE html>"));
 * ```
 */
export function reportHtml(diagnosis: IDiagnosis): string {
  const given = requireObject("diagnosis", diagnosis);
  const { search = "" } = parseUrl(given.target) ?? {};
  const shown = search === "" ? given : withoutQuery(given, search);
  const { target, findings, steps } = shown;
  const rows = joinSteps(steps).map((joined, index): IRow => ({
    ...joined,
    number: index + 1,
    severity: worstOf(
      findings.filter(({ step }) => joined.indices.includes(step ?? -1)),
    ),
  }));
  const count = (list: readonly unknown[]) =>
    `<span class="count">${list.length}</span>`;
  return [
    "<!DOCTYPE html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ' +
    "style-src 'unsafe-inline'\">",
    `<title>${escapeHtml(`OAuth diagnosis of ${target}`)}</title>`,
    `<style>${STYLE}</style>`,
    "</head>",
    "<body><main>",
    headerHtml(shown),
    `<section><h2>Findings ${count(findings)}</h2>`,
    ...(findings.length === 0 ? ['<p class="none">None.</p>'] : []),
    ...findings.map((finding) => findingHtml(finding, rows)),
    "</section>",
    `<section><h2>Requests ${count(rows)}</h2>`,
    `<figure>${sequenceSvg(rows, shown)}<figcaption>`,
    "Solid: the request. Dashed: the response. Grey: a request of this diagnosis " +
    "that a client does not make. A number on colour: a finding refers to it.",
    "</figcaption></figure></section>",
    "<section><h2>Details of the requests</h2>",
    `<ol class="requests">${rows.map(requestHtml).join("\n")}</ol></section>`,
    "<footer>Made by the doctor of @oauth-helper/client. Values of header fields " +
    "that were sent, tokens, codes and secrets are not in this file.</footer>",
    "</main></body>",
    "</html>",
    "",
  ].join("\n");
}
