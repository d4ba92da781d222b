/** Limits for what tests wait for: a test that waits in vain fails, and does not hang. */

import { setImmediate } from "node:timers";

/** Milliseconds that are enough on a busy machine, where a wait takes a few of them. */
export const LIMIT_MS = 20_000;

/** Waits for a promise; rejects if it has not settled within `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  // Made here, as its stack then names the line that waits.
  const error = new Error(`Not settled within ${ms} ms`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ms, error);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until a condition holds; rejects if that takes more than `ms` milliseconds. It is
 * called every `pauseMs` milliseconds.
 */
export async function until(
  ms: number,
  condition: () => boolean | Promise<boolean>,
  pauseMs = 5,
): Promise<void> {
  const end = performance.now() + ms;
  while (!await within(ms, Promise.resolve(condition()))) {
    if (performance.now() > end) {
      throw new Error(`Not true within ${ms} ms: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Lets everything run that is due, one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
