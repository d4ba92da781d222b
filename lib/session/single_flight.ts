/**
 * Sharing of one running task between concurrent callers.
 *
 * @module
 */

/** Runs a task, or joins the task that is already running under the same key. */
export type SingleFlight<T> = (
  key: string,
  task: () => Promise<T>,
) => Promise<T>;

/**
 * Creates a function that runs one task at a time for each key. Calls with the
 * key of a running task share its result or its failure; once it has settled, the
 * next call runs a task of its own.
 *
 * Use it for refreshing tokens. A rotated refresh token is valid once: a second
 * use of it, even by the same client, makes many servers revoke all tokens of the
 * grant.
 *
 * A task must not call the function with its own key and await the result: it
 * would wait for itself and never settle. Other keys are allowed.
 *
 * This works within one process. Several processes need a lock, or a store that
 * replaces a token only if it is still the one that was refreshed.
 *
 * @see RFC 9700, section 4.14.2.
 *
 * @example Refresh once for all requests that find the token expired
 * ```ts
 * import { createSingleFlight } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const singleFlight = createSingleFlight<string>();
 * let refreshes = 0;
 *
 * function freshToken(user: string): Promise<string> {
 *   return singleFlight(user, () => {
 *     refreshes++;
 *     // Call refreshToken() here, and store what it returns.
 *     return Promise.resolve(`token ${refreshes}`);
 *   });
 * }
 * const tokens = await Promise.all([freshToken("ada"), freshToken("ada")]);
 * assertEquals(tokens, ["token 1", "token 1"]);
 * ```
 */
export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Promise<T>>();
  return (key, task) => {
    const current = running.get(key);
    if (current) return current;
    // The async function turns an exception of the task into a rejection.
    const started = (async () => await task())()
      .finally(() => running.delete(key));
    running.set(key, started);
    return started;
  };
}
