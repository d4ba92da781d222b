/** Which step-ups of an API lead to a visit: otherwise it could redirect without end. */

import { hashBase64Url } from "../core/_base64.ts";
import type { INeed } from "../session/_renewal_reason.ts";

/** How many different step-ups may follow a sign-in. */
const MAX_STEP_UPS = 8;

/** Before that, an authentication is not too old, whatever the API requires. */
const MIN_AGE_SECONDS = 60;

/**
 * Returns the step-ups of a session with another one; undefined if that must not lead to
 * a visit, as the last visits were for the same: the server does not give what the API
 * requires. The same is due again once the user has signed in `max_age` seconds ago.
 */
export async function withStepUp(
  { requiredScopes, acrValues, maxAge }: INeed,
  former: readonly string[] = [],
  ageSeconds: number,
): Promise<string[] | undefined> {
  const required = JSON.stringify([requiredScopes, acrValues, maxAge]);
  // Short, for the cookie.
  const stepUp = (await hashBase64Url(required)).slice(0, 8);
  const others = former.filter((one) => one !== stepUp);
  const isRepeated = others.length < former.length &&
    !(ageSeconds > Math.max(maxAge ?? Infinity, MIN_AGE_SECONDS));
  return isRepeated || others.length >= MAX_STEP_UPS
    ? undefined
    : [...others, stepUp];
}
