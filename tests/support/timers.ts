/** Timers for tests, which do not wait. */

import { replaceGlobals } from "./globals.ts";

/** Makes timers of a second and more, or those that are selected, fire at once. */
export function skipWaits(
  isSkipped: (ms: number) => boolean = (ms) => ms >= 1_000,
): Disposable {
  const { setTimeout, setInterval } = globalThis;
  type Timer = (handler: () => void, ms?: number) => unknown;
  const skip = (start: Timer): Timer => (handler, ms = 0) =>
    start(handler, isSkipped(ms) ? 0 : ms);
  return replaceGlobals({
    setTimeout: skip(setTimeout),
    setInterval: skip(setInterval),
  });
}

/** Makes the waits before a session is saved again end at once, and no other timer. */
export function skipSaveWaits(): Disposable {
  return skipWaits((ms) => [100, 300, 900, 2_700].includes(ms));
}

/** Counts the timers that have neither fired nor been cleared. */
export function countTimers(): Disposable & { readonly running: Set<unknown> } {
  const { setTimeout, clearTimeout } = globalThis;
  const running = new Set<unknown>();
  const replaced = replaceGlobals({
    setTimeout(handler: () => void, ms?: number) {
      const timer = setTimeout(() => {
        running.delete(timer);
        handler();
      }, ms);
      running.add(timer);
      return timer;
    },
    clearTimeout(timer: ReturnType<typeof setTimeout> | undefined) {
      running.delete(timer);
      clearTimeout(timer);
    },
  });
  return { ...replaced, running };
}
