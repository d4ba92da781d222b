/** The diagnosis as lines for a terminal. */

import { wordsOfHint } from "../_hint_words.ts";
import { printable } from "../../core/_quote.ts";
import { parseUrl } from "../../core/_url.ts";
import {
  assumptionsOf,
  describeTime,
  factRows,
  findingsPage,
  fit,
  hintsIn,
  joinSteps,
  type ReportWords,
} from "../../doctor/report/_text.ts";
import {
  commandFor,
  describeArgument,
} from "../../doctor/report/_command_words.ts";
import { STEPS } from "../../doctor/_step_table.ts";
import type {
  Diagnosis,
  DiagnosisStep,
  DiagnosisVerdict,
  Finding,
  FindingSeverity,
} from "../../doctor/diagnosis.ts";
import { REPOSITORY } from "../../doctor/report/_repository.ts";

const WIDTH = 80;

const COLOURS: Record<FindingSeverity | DiagnosisVerdict | "faint", number> = {
  error: 31,
  warning: 33,
  info: 36,
  ready: 32,
  needs_client: 33,
  needs_option: 33,
  open: 32,
  unreachable: 31,
  broken: 31,
  faint: 2,
};

export type Titles = Readonly<
  Record<FindingSeverity, readonly [one: string, many: string]>
>;

const TITLES: Titles = {
  error: ["error: a strict client stops", "errors: a strict client stops"],
  warning: [
    "warning: some clients stop, or security suffers",
    "warnings: some clients stop, or security suffers",
  ],
  info: ["note", "notes"],
};

/** The command's words, or the library's for an option that only the library has. */
export const COMMAND_WORDS: ReportWords = {
  optionWords: describeArgument,
  hintWords: (hint) => wordsOfHint(hint) ?? `with this library: ${hint.text}`,
};

/** Wraps text at spaces; a longer word is broken. */
export function wrap(text: string, indent: string, first = indent): string[] {
  const width = WIDTH - indent.length;
  const lines: string[] = [];
  let line = "";
  const words = printable(text.replace(/\s+/g, " ").trim()).split(" ");
  for (let word of words) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    for (; word.length > width; word = word.slice(width)) {
      if (line !== "") lines.push(line);
      lines.push(word.slice(0, width));
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  if (line !== "") lines.push(line);
  return lines.map((one, index) => (index === 0 ? first : indent) + one);
}

export function painter(colour: boolean, name: keyof typeof COLOURS) {
  return (line: string): string =>
    colour ? `\x1b[${COLOURS[name]}m${line}\x1b[0m` : line;
}

/** Indents words after a name. */
function named(name: string, text: string): string[] {
  return wrap(text, " ".repeat(14), `  ${name.padEnd(12)}`);
}

function stepLines(steps: readonly DiagnosisStep[]): string[] {
  const lines: string[] = [];
  let origin: string | undefined;
  for (const { step, indices } of joinSteps(steps)) {
    const { name, isExtra, method, url, status, ms } = step;
    const times = indices.length > 1 ? ` ×${indices.length}` : "";
    const result = step.result + times;
    const parsed = parseUrl(url);
    if (parsed?.origin !== origin) {
      origin = parsed?.origin;
      lines.push(`  ${fit(printable(origin ?? ""), WIDTH - 2)}`);
    }
    const path = parsed ? parsed.pathname + parsed.search : printable(url);
    const { purpose } = STEPS[name];
    const named = purpose === undefined ? path : `${path} · ${purpose}`;
    lines.push([
      `  ${isExtra ? "+" : " "} ${method.padEnd(7)}`,
      fit(named, 42).padEnd(42),
      String(status ?? "-").padStart(3),
      fit(result, 14).padEnd(14),
      describeTime(ms).padStart(6),
    ].join(" "));
  }
  return lines;
}

/** At most 80 characters wide. */
export function reportLines(
  diagnosis: Diagnosis,
  { colour }: { colour: boolean },
): string[] {
  const { target, verdict, summary, steps, findings } = diagnosis;
  const lines = [
    ...wrap(target, ""),
    ...wrap(`${verdict.replace("_", " ")}: ${summary}`, "")
      .map(painter(colour, verdict)),
  ];
  const command = commandFor(diagnosis);
  if (command !== undefined) {
    lines.push("", "To try it:", ...wrap(command, "    ", "  "));
  }
  const facts = factRows(diagnosis, COMMAND_WORDS);
  if (facts.length > 0) lines.push("");
  for (const [name, text] of facts) {
    lines.push(...named(name, text));
  }
  lines.push("", "Requests (+: not made by a client)");
  lines.push(...stepLines(steps).map(painter(colour, "faint")));
  lines.push(...findingLines(findings, { colour }));
  return lines;
}

export interface FindingDisplay {
  readonly colour: boolean;
  readonly titles?: Titles;
  /** Returns the label of the first advice. */
  readonly labelOf?: (finding: Finding) => string;
}

/** By severity. */
export function findingLines(
  findings: readonly Finding[],
  { colour, titles = TITLES, labelOf = () => "Server" }: FindingDisplay,
): string[] {
  const lines: string[] = [];
  for (const severity of ["error", "warning", "info"] as const) {
    const some = findings.filter((finding) => finding.severity === severity);
    if (some.length === 0) continue;
    const [one, many] = titles[severity];
    const title = `${some.length} ${some.length === 1 ? one : many}`;
    lines.push("", painter(colour, severity)(title));
    for (const finding of some) {
      lines.push(...linesOf(finding, colour, labelOf(finding)));
    }
  }
  if (findings.length > 0) lines.push("", ...findingsPage(REPOSITORY));
  return lines;
}

function linesOf(
  finding: Finding,
  colour: boolean,
  label: string,
): string[] {
  const { id, severity, message, url, standard, operator, client } = finding;
  const { assumed, hints } = finding;
  return [
    "",
    `  ${painter(colour, severity)(id)}`,
    ...wrap(message, "    "),
    ...named(`  ${label}`, operator),
    ...(client ? named("  Client", client) : []),
    ...hintsIn(hints, COMMAND_WORDS).flatMap((hint) => named("  Hint", hint)),
    ...(assumed ? named("  Assumed", assumptionsOf(assumed)) : []),
    ...wrap(url ? `${standard}; ${url}` : standard, "    ")
      .map(painter(colour, "faint")),
  ];
}
