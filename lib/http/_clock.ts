/** The time limit of a request. */

import type { Context } from "./_context.ts";
import { errorOf, words } from "./_error.ts";

/** The longest delay of a timer; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

type Listener = (reason: unknown) => void;

/** The functions to call when each signal aborts. */
const listeners = /* @__PURE__ */ new WeakMap<AbortSignal, Set<Listener>>();

/** Calls the listeners of a signal. Each signal has only this one handler of ours. */
function onAbort({ target }: Event): void {
  // Not `currentTarget`: Node sets it to null once a `Request` was made with the signal.
  const signal = target as AbortSignal;
  for (const listener of listeners.get(signal) ?? []) listener(signal.reason);
}

/**
 * Calls a function when the caller's signal aborts, until `unlisten()`. Many
 * operations may share one signal: Node warns of more than ten handlers on a signal,
 * and keeps some memory for each signal that is derived from it.
 */
function listen(signal: AbortSignal, listener: Listener): void {
  const set = listeners.get(signal) ?? new Set();
  if (set.size === 0) signal.addEventListener("abort", onAbort);
  listeners.set(signal, set.add(listener));
}

/** Removes a listener, and with the last one the handler of its signal. */
function unlisten(signal: AbortSignal, listener: Listener): void {
  const set = listeners.get(signal);
  set?.delete(listener);
  if (set?.size === 0) {
    listeners.delete(signal);
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Runs a task until it has finished or the caller's signal aborts, which rejects at
 * once with the signal's own reason. A task is not started after an abort.
 */
export function underSignal<T>(
  signal: AbortSignal | undefined,
  task: () => Promise<T>,
): Promise<T> {
  return signal ? orAbort(signal, task) : task();
}

async function orAbort<T>(
  signal: AbortSignal,
  task: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let listener: Listener | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      listener = reject;
      listen(signal, listener);
      task().then(resolve, reject);
    });
  } finally {
    if (listener) unlisten(signal, listener);
  }
}

/** Waits with a timer, which is cleared when the signal aborts. */
export async function pause(
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await underSignal(signal, () =>
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.min(milliseconds, LONGEST_TIMER_MS));
      }));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs a task until it has finished, it times out or the caller's signal aborts.
 * The signal of the task then aborts as well, but the task is not waited for: a
 * caller's `fetch` may ignore its signal.
 */
export async function underClock<T>(
  url: string,
  context: Context,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, timeoutMs } = context;
  signal?.throwIfAborted();
  const controller = new AbortController();
  let listener: Listener | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const end = (reason: unknown) => {
        reject(reason);
        controller.abort(reason);
      };
      listener = end;
      if (signal) listen(signal, listener);
      if (timeoutMs <= LONGEST_TIMER_MS) {
        timer = setTimeout(() => {
          const message = words`Request to ${{ url }} got no complete \
response within ${timeoutMs} ms`;
          end(errorOf(context, "timeout", message, { url }));
        }, timeoutMs);
      }
      task(controller.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    if (signal && listener) unlisten(signal, listener);
  }
}
