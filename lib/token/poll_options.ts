import type { OAuthClientError } from "../core/errors.ts";

/**
 * The argument of {@linkcode PollOptions.onPending}.
 *
 * @category Messages of the protocol
 */
export interface DevicePollProgress {
  /** Polls made so far. */
  polls: number;
  /** Seconds until the next poll. */
  intervalSeconds: number;
  /** Seconds until the codes, or the authentication request, expire. */
  remainingSeconds: number;
  /** The error of the last poll, if the network or the server failed. */
  error?: OAuthClientError;
}

/**
 * Options that {@linkcode pollDeviceToken} and {@linkcode pollBackchannelToken} share.
 *
 * @category Messages of the protocol
 */
export interface PollOptions {
  /** Called after every poll while the user has not finished. */
  onPending?: ((progress: DevicePollProgress) => void) | undefined;
  /** Waits for some milliseconds, or until the signal aborts. */
  delay?:
    | ((milliseconds: number, signal: AbortSignal | undefined) => Promise<void>)
    | undefined;
}
