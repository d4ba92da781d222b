import { isMembers } from "../../core/_members.ts";
import { escapeHtml } from "../../core/_quote.ts";
import {
  assumptionsOf,
  describeTime,
  factRows,
  findingsPage,
  hintsIn,
  joinSteps,
  proseHtml,
  type ReportWords,
} from "./_text.ts";
import { commandFor } from "./_command_words.ts";
import { STYLE } from "./_style.ts";
import { type Row, sequenceSvg } from "./_sequence.ts";
import { STEPS } from "../_step_table.ts";
import type {
  Diagnosis,
  DiagnosisVerdict,
  Finding,
  FindingSeverity,
} from "../diagnosis.ts";
import { REPOSITORY } from "./_repository.ts";

/** The words of the terminal. */
const VERDICTS: Readonly<Record<string, string>> = {
  ready: "ready",
  needs_client: "needs client",
  needs_option: "needs option",
  open: "open",
  unreachable: "unreachable",
  broken: "broken",
} satisfies Record<DiagnosisVerdict, string>;

const SEVERITIES: Readonly<Record<string, string>> = {
  error: "Error",
  warning: "Warning",
  info: "Note",
} satisfies Record<FindingSeverity, string>;

/** Returns the title of a verdict or a severity, or the value itself. */
function titleHtml(
  titles: Readonly<Record<string, string>>,
  name: string,
): string {
  return escapeHtml(
    Object.hasOwn(titles, name) ? titles[name] ?? name : `${name}`,
  );
}

/** Returns the class of a verdict or a severity; none for any other text. */
function classOf(titles: Readonly<Record<string, string>>, name: string) {
  return Object.hasOwn(titles, name) ? name : "";
}

/** Empty descriptions are skipped. */
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

function worstOf(findings: readonly Finding[]): FindingSeverity | undefined {
  return (["error", "warning", "info"] as const).find((severity) =>
    findings.some((finding) => finding.severity === severity)
  );
}

function headerHtml(
  diagnosis: Diagnosis,
  words: ReportWords,
): string {
  const { target, date, verdict, summary, notTried } = diagnosis;
  return [
    "<header>",
    '<p class="kind">OAuth diagnosis</p>',
    `<h1>${escapeHtml(target)}</h1>`,
    `<p class="date">${
      escapeHtml(date.replace("T", " ").slice(0, 16))
    } UTC</p>`,
    `<section class="verdict ${classOf(VERDICTS, verdict)}">`,
    `<strong>${titleHtml(VERDICTS, verdict)}</strong>`,
    `<p>${proseHtml(summary)}</p></section>`,
    termsHtml([
      ...factRows(diagnosis, words).map(([name, text]) =>
        [name, proseHtml(text)] as const
      ),
      [
        "Not tried",
        notTried && escapeHtml(notTried.join(", ").replaceAll("_", " ")),
      ],
      ["Try it with", monoHtml(commandFor(diagnosis))],
    ], "facts"),
    "</header>",
  ].join("\n");
}

function findingHtml(
  finding: Finding,
  rows: readonly Row[],
  words: ReportWords,
): string {
  const { id, severity, message, operator, client, standard, url } = finding;
  const { assumed, step, excerpt, hints } = finding;
  const row = rows.find(({ indices }) => indices.includes(step ?? -1));
  const where = [
    ...(row ? [`request ${row.number}`] : []),
    ...(url === undefined ? [] : [url]),
  ].join(": ");
  return [
    `<article class="finding ${classOf(SEVERITIES, severity)}"><header>`,
    `<span class="badge">${titleHtml(SEVERITIES, severity)}</span>`,
    `<span class="id mono">${escapeHtml(id)}</span>`,
    `<h3>${proseHtml(message)}</h3></header><div>`,
    ...(excerpt ? [`<pre>${escapeHtml(excerpt)}</pre>`] : []),
    termsHtml([
      ["Operator", proseHtml(operator)],
      ["Client", client && proseHtml(client)],
      ["Assumed", assumed && proseHtml(assumptionsOf(assumed))],
      ["Hint", escapeHtml(hintsIn(hints, words).join("; "))],
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

/** Checks whether a request shows more than the diagram. */
function isWorthReading({ step, severity }: Row): boolean {
  const { sent, received } = step;
  return severity !== undefined ||
    Object.keys({ ...sent, ...received }).length > 0;
}

function requestHtml({ step, indices, number, severity }: Row): string {
  const { method, url, status, ms, result, standard, sent, received } = step;
  const came = [
    ...[STEPS[step.name].purpose ?? []].flat(),
    status === undefined ? "no HTTP status" : `status ${status}`,
    result + (indices.length > 1 ? ` (${indices.length} times)` : ""),
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

/** Writes a diagnosis as a page, in the words for its readers. */
export function pageOf(
  diagnosis: Diagnosis,
  words: ReportWords,
): string {
  const { target, findings, steps } = diagnosis;
  const rows = joinSteps(steps).map((joined, index): Row => ({
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
    headerHtml(diagnosis, words),
    `<section><h2>Findings ${count(findings)}</h2>`,
    ...(findings.length === 0 ? ['<p class="none">None.</p>'] : []),
    ...findings.map((finding) => findingHtml(finding, rows, words)),
    ...(findings.length === 0
      ? []
      : [`<p>${escapeHtml(findingsPage(REPOSITORY).join(" "))}</p>`]),
    "</section>",
    `<section><h2>Requests ${count(rows)}</h2>`,
    `<figure>${sequenceSvg(rows, diagnosis)}<figcaption>`,
    "Solid: the request. Dashed: the response. Grey: a request of this diagnosis " +
    "that a client does not make. A number on colour: a finding refers to it.",
    "</figcaption></figure></section>",
    "<section><h2>Details of the requests</h2>",
    `<ol class="requests">${
      rows.filter(isWorthReading).map(requestHtml).join("\n")
    }</ol></section>`,
    "<footer>Made by the doctor of @oauth-helper/client. This file contains no " +
    "values of header fields that were sent, tokens, codes or secrets.</footer>",
    "</main></body>",
    "</html>",
    "",
  ].join("\n");
}
