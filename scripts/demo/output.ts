/**
 * The output of the demo: one line for each step, as text or as JSON. Everything
 * that a server sent is escaped here before it reaches a terminal.
 */
import { OAuthClientError } from "../../mod.ts";

/** A step and its result. */
export interface IStepReport {
  step: string;
  action: string;
  result: string;
  status?: number | undefined;
  ms: number;
  ok: boolean;
  /** The result that counts as success. */
  expected: string;
  /** Further results by name, one line for each. */
  details?: Record<string, string> | undefined;
  /** All failures, also those before a success. */
  failures?: Error[] | undefined;
}

/** Receives the steps. */
export interface IOutput {
  /** A line that is not part of the JSON output. */
  text(line: string): void;
  step(report: IStepReport): void;
  /** The last line: the result of all steps. */
  end(target: string, result: string, ok: boolean): void;
}

const ACTION_WIDTH = 49;
const RESULT_WIDTH = 57;

/** Returns the failures that an `AggregateError` contains. */
export function listFailures(failure: unknown): Error[] {
  if (failure instanceof AggregateError) {
    return failure.errors.flatMap(listFailures);
  }
  return [failure instanceof Error ? failure : new Error(String(failure))];
}

/** Characters that control a terminal or the direction of writing. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function escapeUnsafe(text: string): string {
  const escapeUnit = (unit: string) =>
    "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
  // An escape of JSON is one UTF-16 unit.
  return text.replace(
    UNSAFE,
    (char) => char.split("").map(escapeUnit).join(""),
  );
}

/** Returns a string as one line without control characters, cut at `limit`. */
export function toLine(text: string, limit = 400): string {
  const line = escapeUnsafe(text.slice(0, 10_000).replace(/\s+/g, " ").trim());
  return line.length > limit ? line.slice(0, limit - 1) + "…" : line;
}

/** Describes a failure in one line: the URL, the status, what was expected. */
function describeFailure(error: Error, expected: string): string {
  const url = error instanceof OAuthClientError ? error.url ?? "" : "";
  const message = error.message
    .replace(/^Failed to fetch [a-z ]+ from /, "")
    // The tags of an HTML error page.
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
      {
        step,
        action,
        result,
        status,
        ms,
        ok,
        expected,
        details,
        failures = [],
      },
    ) {
      printJson({
        step,
        action,
        result,
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
    end(action, result, ok) {
      const ms = round(performance.now() - start);
      printJson({ step: "end", action, result, ms, ok });
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
    step({ action, result, ms, ok, expected, details = {}, failures = [] }) {
      const wanted = ok || failures.length > 0 ? "" : ` (expected ${expected})`;
      print([
        (ok ? green : red)(String(++count).padStart(2)),
        toLine(action).padEnd(ACTION_WIDTH),
        (ok ? String : red)(toLine(result + wanted).padEnd(RESULT_WIDTH)),
        faint(describeTime(ms).padStart(6)),
      ].join("  "));
      for (const failure of failures) {
        print(red("    failed  ") + faint(describeFailure(failure, expected)));
      }
      for (const [name, value] of Object.entries(details)) {
        print(faint(`    ${toLine(`${name}: ${value}`, 240)}`));
      }
    },
    end(_, result, ok) {
      const ms = describeTime(performance.now() - start);
      print("");
      print((ok ? green : red)(toLine(`${result} (${ms} in all)`)));
    },
  };
}

/** Creates the output as lines of JSON, or as text with or without colour. */
export function createOutput(
  print: (line: string) => void,
  { json, colour }: { json: boolean; colour: boolean },
): IOutput {
  return json ? createJsonOutput(print) : createTextOutput(print, colour);
}
