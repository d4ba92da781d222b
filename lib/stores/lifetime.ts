/** How long a store keeps a session that is not saved again. */

import { requireArgument, requireNames } from "../core/_arguments.ts";

/** What the stores with a lock have in common. */
export interface WaitOptions {
  /**
   * Called once when another process, or tab, has held the lock for a second, for
   * example while its user signs in. Errors that it throws or rejects with are ignored.
   */
  onWait?: (() => unknown) | undefined;
}

/** Options of {@linkcode redisStore} and {@linkcode denoKvStore}. */
export interface StoreOptions extends WaitOptions {
  /**
   * Seconds from the last save after which a session expires. A session is saved when
   * the user signs in, and at each refresh; loading does not extend its lifetime. Set a
   * time that is longer than the lifetime of access tokens, and as long as users may
   * stay away without having to sign in again.
   *
   * @default {undefined} Sessions do not expire.
   */
  lifetimeSeconds?: number | undefined;
}

/**
 * Returns the lifetime of a store in milliseconds, a whole number; undefined without a
 * lifetime. Fails if another option is set: a misspelled one would keep sessions forever.
 */
export function lifetimeMsOf(
  options: StoreOptions = {},
  store: string,
): number | undefined {
  const { lifetimeSeconds } = options;
  requireNames(options, ["lifetimeSeconds", "onWait"], store);
  if (lifetimeSeconds === undefined) return undefined;
  requireArgument(
    Number.isFinite(lifetimeSeconds) && lifetimeSeconds > 0,
    "lifetimeSeconds",
    "a positive number",
  );
  return Math.ceil(lifetimeSeconds * 1000);
}
