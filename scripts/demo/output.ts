/** The output of the demo: lines for a terminal, or one JSON object for each step. */
import { wrap } from "../../lib/cli/commands/_doctor_report.ts";

export interface RecordedRequest {
  method: string;
  url: string;
  status: number;
  grant_type?: string;
}

export interface StepReport {
  step: string;
  action: string;
  requests: readonly RecordedRequest[];
  result: string;
  details?: Record<string, string>;
  ms: number;
  ok: boolean;
  error?: Error;
}

export interface Output {
  /** A line that is not part of the JSON output. */
  text(line: string): void;
  step(report: StepReport): void;
  end(result: string, ok: boolean): void;
}

export function createJsonOutput(print: (line: string) => void): Output {
  const start = performance.now();
  const write = ({ ms, error, ...report }: Partial<StepReport>) =>
    print(JSON.stringify({
      ...report,
      ms: Math.round(ms! * 10) / 10,
      ...(error && { error: { ...error, message: error.message } }),
    }));
  return {
    text() {},
    step: write,
    end: (result, ok) =>
      write({ step: "end", result, ok, ms: performance.now() - start }),
  };
}

/** Creates an output that is at most 80 characters wide. */
export function createTextOutput(
  print: (line: string) => void,
  colour: boolean,
): Output {
  const start = performance.now();
  const paint = (code: number) => (text: string) =>
    colour ? `\x1b[${code}m${text}\x1b[0m` : text;
  const [faint, red, green] = [paint(2), paint(31), paint(32)] as const;
  const plain = (text: string) => text;
  const describeTime = (ms: number) =>
    ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`;
  const printAll = (text: string, style: typeof plain, indent = 4, more = 0) =>
    wrap(text, " ".repeat(indent + more), " ".repeat(indent))
      .forEach((line) => print(style(line)));
  let count = 0;
  return {
    text: print,
    step({ action, requests, result, ms, ok, details = {} }) {
      print([
        (ok ? green : red)(String(++count).padStart(2)),
        ` ${action.padEnd(67)}`,
        faint(describeTime(ms).padStart(8)),
      ].join(" "));
      for (const { method, url, status, grant_type = "" } of requests) {
        printAll(`${status} ${method} ${url} ${grant_type}`, faint);
      }
      printAll(result, ok ? plain : red);
      for (const [name, value] of Object.entries(details)) {
        printAll(`${name}: ${value}`, faint, 4, 2);
      }
    },
    end(result, ok) {
      const ms = describeTime(performance.now() - start);
      print("");
      printAll(`${result} (${ms} in all)`, ok ? green : red, 0);
    },
  };
}
