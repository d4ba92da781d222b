/**
 * What the demo prints: a line a step, for people or for programs. Everything
 * that servers sent passes through here before it reaches a terminal.
 */
import { OAuthClientError } from "../../mod.ts";

/** What one step asked and what came of it. */
export interface IStepReport {
  step: string;
  asked: string;
  answer: string;
  status?: number | undefined;
  ms: number;
  ok: boolean;
  /** What a good answer would have been. */
  expected: string;
  /** More of the answer by name, a line each. */
  details?: Record<string, string> | undefined;
  /** What went wrong, also on the way to a good answer. */
  failures?: Error[] | undefined;
}

/** Where the steps are told. */
export interface IOutput {
  /** For people only. */
  text(line: string): void;
  step(report: IStepReport): void;
  /** The last line: how far the road led. */
  end(target: string, answer: string, ok: boolean): void;
}

const ASKED_WIDTH = 49;
const ANSWER_WIDTH = 57;

/** A failure of several attempts as the failures it holds. */
export function listFailures(failure: unknown): Error[] {
  if (failure instanceof AggregateError) {
    return failure.errors.flatMap(listFailures);
  }
  return [failure instanceof Error ? failure : new Error(String(failure))];
}

/** All that a terminal might obey, or that turns the direction of writing. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function escapeUnsafe(text: string): string {
  const escapeUnit = (unit: string) =>
    "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
  // JSON knows no other escape than that of one UTF-16 unit.
  return text.replace(
    UNSAFE,
    (char) => char.split("").map(escapeUnit).join(""),
  );
}

/** Text of whatever origin as one harmless line, cut when it is long. */
export function toLine(text: string, limit = 400): string {
  const line = escapeUnsafe(text.slice(0, 10_000).replace(/\s+/g, " ").trim());
  return line.length > limit ? line.slice(0, limit - 1) + "…" : line;
}

/** One failure as one line: the address, its status, what was expected. */
function describeFailure(error: Error, expected: string): string {
  const url = error instanceof OAuthClientError ? error.url ?? "" : "";
  const message = error.message
    .replace(/^Failed to fetch [a-z ]+ from /, "")
    // Of an error page, the words.
    .replace(/<[^<>]*>/g, " ");
  const atUrl = url !== "" && message.startsWith(url);
  const line = toLine(message, atUrl ? url.length + 40 : 240);
  return /expected/i.test(line) ? line : `${line} (expected ${expected})`;
}

function describeTime(ms: number): string {
  if (ms < 1) return "<1 ms";
  return ms < 9_999 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function createJsonOutput(print: (line: string) => void): IOutput {
  const start = performance.now();
  const round = (ms: number) => Math.round(ms * 10) / 10;
  const printJson = (value: unknown) =>
    print(escapeUnsafe(JSON.stringify(value)));
  return {
    text() {},
    step(
      { step, asked, answer, status, ms, ok, expected, details, failures = [] },
    ) {
      printJson({
        step,
        asked,
        answer,
        status,
        ms: round(ms),
        ok,
        ...(!ok && { expected }),
        details,
        ...(failures.length > 0 && {
          failures: failures.map((error) => ({
            message: error.message,
            ...(error instanceof OAuthClientError && {
              code: error.code,
              url: error.url,
              status: error.status,
            }),
            expected,
          })),
        }),
      });
    },
    end(asked, answer, ok) {
      const ms = round(performance.now() - start);
      printJson({ step: "end", asked, answer, ms, ok });
    },
  };
}

function createTextOutput(
  print: (line: string) => void,
  colour: boolean,
): IOutput {
  const start = performance.now();
  const paint = (code: number) => (text: string) =>
    colour ? `\x1b[${code}m${text}\x1b[0m` : text;
  const [faint, red, green] = [paint(2), paint(31), paint(32)] as const;
  let count = 0;
  return {
    text: (line) => print(toLine(line)),
    step({ asked, answer, ms, ok, expected, details = {}, failures = [] }) {
      const wanted = ok || failures.length > 0 ? "" : ` (expected ${expected})`;
      print([
        (ok ? green : red)(String(++count).padStart(2)),
        toLine(asked).padEnd(ASKED_WIDTH),
        (ok ? String : red)(toLine(answer + wanted).padEnd(ANSWER_WIDTH)),
        faint(describeTime(ms).padStart(6)),
      ].join("  "));
      for (const failure of failures) {
        print(red("    failed  ") + faint(describeFailure(failure, expected)));
      }
      for (const [name, value] of Object.entries(details)) {
        print(faint(`    ${toLine(`${name}: ${value}`, 240)}`));
      }
    },
    end(_, answer, ok) {
      const ms = describeTime(performance.now() - start);
      print("");
      print((ok ? green : red)(toLine(`${answer} (${ms} in all)`)));
    },
  };
}

/** Output as lines of JSON, or as text with or without colour. */
export function createOutput(
  print: (line: string) => void,
  { json, colour }: { json: boolean; colour: boolean },
): IOutput {
  return json ? createJsonOutput(print) : createTextOutput(print, colour);
}
