/** A fetch function for tests: responds from a table and records the requests. */

import type { FetchInit, FetchLike, FetchResponse } from "../../mod.ts";
import { LIMIT_MS, within } from "./within.ts";

export interface StubRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  init: FetchInit;
}

export type Answer = (
  request: StubRequest,
) => FetchResponse | Promise<FetchResponse>;

/** A stubbed fetch. Disposing it fails the test if another URL was requested. */
export interface StubFetch extends Disposable {
  /** For the `fetch` option. */
  fetch: FetchLike;
  globalFetch: typeof fetch;
  requests: StubRequest[];
  readonly urls: string[];
  /** The forms that were sent, one for each request. */
  readonly forms: Record<string, string>[];
}

/** Responds at the URLs of the table; any other URL fails the test. */
export function stubFetch(routes: Record<string, Answer>): StubFetch {
  const requests: StubRequest[] = [];
  const unexpected: string[] = [];
  const fetch: FetchLike = async (url, init) => {
    const { method, headers, body } = init;
    const request = { url, method, headers: { ...headers }, body, init };
    requests.push(request);
    const answer = routes[url];
    if (!answer) {
      unexpected.push(url);
      throw new Error(`Unexpected request to ${url}`);
    }
    return await answer(request);
  };
  return {
    fetch,
    globalFetch: fetch as unknown as typeof globalThis.fetch,
    requests,
    get urls() {
      return requests.map(({ url }) => url);
    },
    get forms() {
      return requests.map(({ body }) =>
        Object.fromEntries(new URLSearchParams(body))
      );
    },
    // A throwing fetch alone would pass for one more failed attempt.
    [Symbol.dispose]() {
      if (unexpected.length > 0) {
        throw new Error(`Unexpected requests to ${unexpected.join(", ")}`);
      }
    },
  };
}

export function json(value: unknown, init?: ResponseInit): Answer {
  return () => Response.json(value, init);
}

export function text(value: string, status: number): Answer {
  return () => new Response(value, { status });
}

export const FORM = "application/x-www-form-urlencoded";

export function typed(body: string, type: string, status = 200): Answer {
  return () =>
    new Response(body, { status, headers: { "Content-Type": type } });
}

/** A response with nothing but what a caller's fetch must give. */
export function minimal(members: Partial<FetchResponse>): FetchResponse {
  return {
    status: 200,
    statusText: "Status text",
    json: () => Promise.reject(new Error("No JSON")),
    text: () => Promise.reject(new Error("No text")),
    ...members,
  };
}

export function redirect(location: string, status = 302): Answer {
  return () =>
    new Response("Moved", { status, headers: { Location: location } });
}

/** Rejects without a response. */
export function failing(failure: unknown): Answer {
  return () => Promise.reject(failure);
}

/** A promise that is never settled. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

/** A response that never comes: its signal aborts for this reason instead. */
export function aborted(): {
  answer: () => Promise<never>;
  signal: AbortSignal;
  reason: unknown;
} {
  const reason = { why: "enough" };
  const controller = new AbortController();
  const answer = () => {
    queueMicrotask(() => controller.abort(reason));
    return never<never>();
  };
  return { answer, signal: controller.signal, reason };
}

/** A promise and what settles it: `Promise.withResolvers`, which Node 20 lacks. */
export function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((...settlers) => {
    [resolve, reject] = settlers;
  });
  return { promise, resolve, reject };
}

export async function statusOf(
  response: Response | Promise<Response>,
): Promise<number> {
  const { body, status } = await within(LIMIT_MS, Promise.resolve(response));
  await body?.cancel();
  return status;
}

/** A value of the wrong type, as callers without a type checker pass it. */
// deno-lint-ignore no-explicit-any
export function untyped(value: unknown): any {
  return value;
}
