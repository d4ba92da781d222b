import { LONGEST_SECONDS, putOffSeconds } from "../../core/_retry_after.ts";
import { isOAuthClientError, OAuthClientError } from "../../core/errors.ts";

/** The pause after a failed refresh while the token is valid. */
const PAUSE_SECONDS = 10;

export interface PutOff {
  readonly error: OAuthClientError;
  /** In milliseconds since the Unix epoch. */
  readonly until: number;
}

/** Returns until when an error puts its request off. */
export function putOffBy(
  error: unknown,
  now: number,
  isNeeded: boolean,
): PutOff | undefined {
  if (!isOAuthClientError(error)) return undefined;
  // `sign_in_required`: no request was made.
  const pause = isNeeded || error.code === "sign_in_required"
    ? 0
    : PAUSE_SECONDS;
  const until = now + (putOffSeconds(error) || pause) * 1000;
  return until > now ? { error, until } : undefined;
}

/** Returns the error of a request that must wait, with the remaining time. */
export function putOffError(
  { putOff }: { readonly putOff: ReadonlyMap<string, PutOff> | undefined },
  key: string,
  now: number,
): OAuthClientError | undefined {
  const { error, until = now } = putOff?.get(key) ?? {};
  const retryAfterSeconds = Math.ceil((until - now) / 1000);
  // The clock may have been set back.
  if (!error || retryAfterSeconds <= 0 || retryAfterSeconds > LONGEST_SECONDS) {
    return undefined;
  }
  const { code, message, cause } = error;
  return new OAuthClientError(code, message, {
    ...error,
    cause,
    retryAfterSeconds,
  });
}
