import { requireArgument, requireNames } from "../core/_arguments.ts";

/** Options that the stores with a lock share. */
export interface WaitOptions {
  /**
   * Called once when another process or tab has held the lock for a second, for example
   * while its user signs in. Its own errors are ignored.
   */
  onWait?: (() => unknown) | undefined;
}

/** Options of {@linkcode redisStore} and {@linkcode denoKvStore}. */
export interface StoreOptions extends WaitOptions {
  /**
   * Lifetime of a session in seconds, counted from the last save. Each sign-in and
   * refresh saves it; loading does not. Set a time that exceeds the lifetime of access
   * tokens, and the longest absence without a new sign-in.
   *
   * @default {undefined} Sessions do not expire.
   */
  lifetimeSeconds?: number | undefined;
}

/** Fails for any other option: a misspelled one would keep sessions forever. */
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
