import type { Context } from "./_context.ts";
import { errorOf, words } from "./_error.ts";

/** The longest delay of a timer; a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

type Listener = (reason: unknown) => void;

const listeners = /* @__PURE__ */ new WeakMap<AbortSignal, Set<Listener>>();

/** Each signal carries only this one handler of the library. */
function onAbort({ target }: Event): void {
  // Node sets `currentTarget` to null after a `Request` was made with the signal.
  const signal = target as AbortSignal;
  for (const listener of listeners.get(signal) ?? []) listener(signal.reason);
}

/**
 * Calls a function when the caller's signal aborts. Many operations may share one
 * signal: Node warns of more than ten handlers, and each derived signal keeps some
 * memory.
 */
function listen(signal: AbortSignal, listener: Listener): void {
  const set = listeners.get(signal) ?? new Set();
  if (set.size === 0) signal.addEventListener("abort", onAbort);
  listeners.set(signal, set.add(listener));
}

/** Also removes the signal's handler with its last listener. */
function unlisten(signal: AbortSignal, listener: Listener): void {
  const set = listeners.get(signal);
  set?.delete(listener);
  if (set?.size === 0) {
    listeners.delete(signal);
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Runs a task until it finishes or the caller's signal aborts, which rejects at once
 * with the signal's reason. After an abort, no task starts.
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
 * Runs a task until it finishes, times out or the caller's signal aborts. The task's
 * own signal aborts too, but nothing waits for the task: a caller's `fetch` may ignore
 * its signal.
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
