/**
 * Limits the sign-ins that API responses cause: otherwise an API could redirect
 * endlessly.
 */

import { hashBase64Url } from "../core/_base64.ts";
import type { Need } from "../fetch/policy/_need.ts";

/** The most different step-ups after a sign-in. */
const MAX_STEP_UPS = 8;

/** Earlier, no sign-in is too old, whatever the API requires. */
const MIN_AGE_SECONDS = 60;

/** Precedes a sign-in for a rejected or missing token; no hash contains it. */
const REJECTED = ".";

/**
 * Adds a step-up to those since the last plain sign-in. Returns undefined if the last
 * sign-in was for the same, and the server did not grant it: another one must not
 * start. It may start if the API rejects a token older than a minute, or after
 * `max_age` seconds.
 */
export async function withStepUp(
  { reason, requiredScopes, acrValues, maxAge, api }: Need & {
    readonly api?: number | undefined;
  },
  former: readonly string[] = [],
  ageSeconds: number,
): Promise<string[] | undefined> {
  const isStepUp = reason === "step_up";
  const required = [isStepUp, requiredScopes, acrValues, maxAge, api || 0];
  // Short, for the cookie.
  const hash = (await hashBase64Url(JSON.stringify(required))).slice(0, 8);
  const one = isStepUp ? hash : REJECTED + hash;
  const isOld = ageSeconds > MIN_AGE_SECONDS;
  // A token that was rejected before the last sign-in does not affect the next one.
  const others = former.filter((other) =>
    other !== one && !(isOld && other.startsWith(REJECTED))
  );
  const limit = isStepUp ? maxAge ?? Infinity : 0;
  const isRepeated = former.includes(one) &&
    ageSeconds <= Math.max(limit, MIN_AGE_SECONDS);
  if (isRepeated || others.length >= MAX_STEP_UPS) return undefined;
  // Otherwise two APIs could replace each other's sign-ins endlessly.
  const isNext = isStepUp || !isOld;
  return isNext ? [...others, one] : [one];
}
