/** How long a store keeps a session that is not saved again. */

import { requireArgument } from "../core/_arguments.ts";

/** Options of {@linkcode redisStore} and {@linkcode denoKvStore}. */
export interface IStoreOptions {
  /**
   * Seconds after which a session expires, from the last time that it was saved. A
   * session is saved when the user signs in, and at each refresh; loading does not
   * extend its lifetime. So it should be longer than the access tokens live, and as
   * long as a user may stay away without having to sign in again.
   *
   * @default {undefined} Sessions do not expire.
   */
  lifetimeSeconds?: number | undefined;
}

/** Returns a lifetime in milliseconds, a whole number; undefined if there is none. */
export function lifetimeMsOf(
  { lifetimeSeconds }: IStoreOptions = {},
): number | undefined {
  if (lifetimeSeconds === undefined) return undefined;
  requireArgument(
    Number.isFinite(lifetimeSeconds) && lifetimeSeconds > 0,
    "lifetimeSeconds",
    "a positive number",
  );
  return Math.ceil(lifetimeSeconds * 1000);
}
