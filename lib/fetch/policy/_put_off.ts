/** When a request that a server has put off may be made again. */

import { LONGEST_SECONDS, putOffSeconds } from "../../core/_retry_after.ts";
import { isOAuthClientError, OAuthClientError } from "../../core/errors.ts";

/** How long a refresh waits that has failed while the token is valid. */
const PAUSE_SECONDS = 10;

interface IPutOff {
  readonly error: OAuthClientError;
  /** In milliseconds since the Unix epoch. */
  readonly until: number;
}

/** The requests that are not made again for a while, by a key for each. */
export class RetryLater {
  readonly #putOff = new Map<string, IPutOff>();

  /** Notes how a request ended; `pause` is for an error that contains no time. */
  note(key: string, error: unknown, now: number, pause = 0): void {
    this.#putOff.delete(key);
    for (const [other, { until }] of this.#putOff) {
      if (until <= now) this.#putOff.delete(other);
    }
    if (!isOAuthClientError(error)) return;
    const until = now + (putOffSeconds(error) || pause) * 1000;
    if (until > now) this.#putOff.set(key, { error, until });
  }

  /** Notes the error of a request that is not needed yet. */
  pause(key: string, error: unknown, now: number): void {
    // No request was made.
    const isUnasked = isOAuthClientError(error, "sign_in_required");
    this.note(key, error, now, isUnasked ? 0 : PAUSE_SECONDS);
  }

  /** Returns the error of a request that must not be made yet, with what is left. */
  errorFor(key: string, now: number): OAuthClientError | undefined {
    const { error, until = now } = this.#putOff.get(key) ?? {};
    const retryAfter = Math.ceil((until - now) / 1000);
    // The clock may have been set back.
    if (!error || retryAfter <= 0 || retryAfter > LONGEST_SECONDS) {
      return undefined;
    }
    const { code, message, cause } = error;
    return new OAuthClientError(code, message, { ...error, cause, retryAfter });
  }
}
