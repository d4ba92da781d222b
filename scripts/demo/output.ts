/** The output of the demo: lines for a terminal, or one JSON object for each step. */
import { wrap } from "../../lib/cli/_doctor_report.ts";

/** A request of a step. */
export interface IRecordedRequest {
  method: string;
  url: string;
  status: number;
  grant_type?: string;
}

/** A step and its result. */
export interface IStepReport {
  step: string;
  action: string;
  requests: readonly IRecordedRequest[];
  result: string;
  ms: number;
  ok: boolean;
  /** The result that counts as success. */
  expected: string;
  /** Further results by name. */
  details?: Record<string, string>;
  /** What the step threw. */
  error?: Error;
}

/** Receives the steps. */
export interface IOutput {
  /** A line that is not part of the JSON output. */
  text(line: string): void;
  step(report: IStepReport): void;
  /** The result of all steps. */
  end(result: string, ok: boolean): void;
}

const INDENT = " ".repeat(4);

/** Creates the output as lines of JSON. */
export function createJsonOutput(print: (line: string) => void): IOutput {
  const start = performance.now();
  const round = (ms: number) => Math.round(ms * 10) / 10;
  return {
    text() {},
    step({ ms, expected, error, ...report }) {
      print(JSON.stringify({
        ...report,
        ms: round(ms),
        ...(error &&
          { expected, error: { ...error, message: error.message } }),
      }));
    },
    end(result, ok) {
      const ms = round(performance.now() - start);
      print(JSON.stringify({ step: "end", result, ms, ok }));
    },
  };
}

/** Creates an output that is at most 80 characters wide. */
export function createTextOutput(
  print: (line: string) => void,
  colour: boolean,
): IOutput {
  const start = performance.now();
  const paint = (code: number) => (text: string) =>
    colour ? `\x1b[${code}m${text}\x1b[0m` : text;
  const [faint, red, green] = [paint(2), paint(31), paint(32)] as const;
  const describeTime = (ms: number) =>
    ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  const printAll = (text: string, style = (line: string) => line, more = "") =>
    wrap(text, INDENT + more, INDENT).forEach((line) => print(style(line)));
  let count = 0;
  return {
    text: print,
    step({ action, requests, result, ms, ok, expected, details = {} }) {
      print([
        (ok ? green : red)(String(++count).padStart(2)),
        ` ${action.padEnd(67)}`,
        faint(describeTime(ms).padStart(8)),
      ].join(" "));
      for (const { method, url, status, grant_type = "" } of requests) {
        printAll(`${status} ${method} ${url} ${grant_type}`, faint);
      }
      if (ok) printAll(result);
      else printAll(`${result} (expected ${expected})`, red);
      for (const [name, value] of Object.entries(details)) {
        printAll(`${name}: ${value}`, faint, "  ");
      }
    },
    end(result, ok) {
      const ms = describeTime(performance.now() - start);
      print("");
      const lines = wrap(`${result} (${ms} in all)`, "");
      for (const line of lines) print((ok ? green : red)(line));
    },
  };
}
