/**
 * Doing once what several callers ask for at the same time.
 *
 * @module
 */

/** Runs a task, or joins the one that runs already under the same key. */
export type SingleFlight<T> = (
  key: string,
  task: () => Promise<T>,
) => Promise<T>;

/**
 * Makes a guard against refresh races. A refresh token that rotates may be used
 * once; a second use, even by the same program, makes many servers revoke the
 * whole family. Calls under one key share one running task and its outcome; when
 * it has settled, the next call runs its own.
 *
 * This holds within one process. Several processes need a store that writes the
 * new token only where the old one still stands (compare and swap), and reads
 * again where it does not.
 *
 * @see RFC 9700, section 4.14.2.
 *
 * @example Refresh once, however many requests found the token expired
 * ```ts
 * import { createSingleFlight } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * let refreshes = 0;
 * const singleFlight = createSingleFlight<number>();
 * const refresh = () => singleFlight("user-1", async () => await ++refreshes);
 * assertEquals(await Promise.all([refresh(), refresh()]), [1, 1]);
 * ```
 */
export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Promise<T>>();
  return (key, task) => {
    const current = running.get(key);
    if (current) return current;
    const started = (async () => await task())()
      .finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}
