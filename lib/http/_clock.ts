/** The time limit of a request. */

import { quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { ITransport } from "./_transport.ts";

/** The longest delay of a timer; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/**
 * Calls a function when the caller's signal aborts. Returns a function that removes
 * the listener.
 */
function onAbort(
  signal: AbortSignal,
  listener: (reason: unknown) => void,
): () => void {
  // Many operations may share one signal. Node warns of more than ten listeners
  // on a signal, but not of signals that are derived from it.
  const source = AbortSignal.any ? AbortSignal.any([signal]) : signal;
  const handle = () => listener(signal.reason);
  source.addEventListener("abort", handle);
  return () => source.removeEventListener("abort", handle);
}

/**
 * Runs a task until it has finished or the caller's signal aborts, which rejects at
 * once with the signal's own reason. A task is not started after an abort.
 */
export async function underSignal<T>(
  signal: AbortSignal | undefined,
  task: () => Promise<T>,
): Promise<T> {
  if (!signal) return await task();
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      stop = onAbort(signal, reject);
      task().then(resolve, reject);
    });
  } finally {
    stop?.();
  }
}

/**
 * Runs a task until it has finished, it times out or the caller's signal aborts.
 * The signal of the task then aborts as well, but the task is not waited for: a
 * caller's `fetch` may ignore its signal.
 */
export async function underClock<T>(
  url: string,
  { signal, timeoutMs }: ITransport,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let stop: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const end = (reason: unknown) => {
        reject(reason);
        controller.abort(reason);
      };
      stop = signal && onAbort(signal, end);
      if (timeoutMs <= LONGEST_TIMER_MS) {
        timer = setTimeout(() => {
          const message = `Request to ${quoteUrl(url)} got no complete ` +
            `response within ${timeoutMs} ms`;
          end(new OAuthClientError("timeout", message, { url }));
        }, timeoutMs);
      }
      task(controller.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    stop?.();
  }
}
