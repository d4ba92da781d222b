/** Runs and records the steps of the demo. */
import type { IOutput, IRecordedRequest } from "./output.ts";

/** What a step found: the value for the next steps, and what is printed. */
export interface IFound<T> {
  value: T;
  result: string;
  details?: Record<string, string>;
}

/** The servers, and what runs and records the steps. */
export interface IDemo {
  /** The URL of the protected resource. */
  target: string;
  /** A client with a secret, for a token without a user. */
  machine: { id: string; secret: string };
  /** Makes a request and records it. */
  fetch: typeof fetch;
  /** The requests of the current step. Those of the user's browser are not recorded. */
  requests: IRecordedRequest[];
  /** Runs and prints a step; throws `StepError` if it fails. */
  step<T>(
    name: string,
    action: string,
    expected: string,
    run: () => IFound<T> | Promise<IFound<T>>,
  ): Promise<T>;
}

/** A step has failed, and was printed. */
export class StepError extends Error {}

export function createDemo(
  servers: Pick<IDemo, "target" | "machine">,
  output: IOutput,
): IDemo {
  const requests: IRecordedRequest[] = [];
  return {
    ...servers,
    requests,
    async fetch(input, init) {
      const { method, url } = new Request(input, init);
      const response = await fetch(input, init);
      const form = new URLSearchParams(String(init?.body ?? ""));
      const grant_type = form.get("grant_type")?.replace(/.*:/, "");
      const { status } = response;
      requests.push({ method, url, status, ...(grant_type && { grant_type }) });
      return response;
    },
    async step(step, action, expected, run) {
      const start = performance.now();
      requests.length = 0;
      const report = { step, action, requests, expected };
      const ms = () => performance.now() - start;
      try {
        const { value, ...found } = await run();
        output.step({ ...report, ...found, ms: ms(), ok: true });
        return value;
      } catch (thrown) {
        const error = thrown as Error;
        const result = error.message;
        output.step({ ...report, result, error, ms: ms(), ok: false });
        throw new StepError(result);
      }
    },
  };
}
