/** How a session is replaced: by that of another caller, a refresh, or the user. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { mergeScopes, missingScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import {
  areRequestable,
  type INeed,
  type IUsedSession,
  tokenOf,
} from "./_renewal_reason.ts";
import { signInAnew } from "./_new_sign_in.ts";
import { hasClient, type IRenewal, loadSession } from "./_usable_session.ts";
import { type ISession, refreshSession, sessionOptionsOf } from "./session.ts";

const MAX_SKEW_SECONDS = 30;

/** Why renewals end when a session is saved: they start over. */
export const REPLACED: DOMException = /* @__PURE__ */ new DOMException(
  "Another session was saved",
  "AbortError",
);

/** Checks whether a server has failed, other than for a while. */
function isServerError(error: unknown): boolean {
  return isOAuthClientError(error) && error.status === 500 &&
    error.error === "server_error";
}

/** Codes of failed refreshes that have no status, and that a sign-in may mend. */
const MENDED_CODES: readonly string[] = [
  "redirect_refused",
  "invalid_id_token",
  // The client is registered with another server than the one of the session.
  "issuer_mismatch",
];

/**
 * Returns what is left of a session that could not be refreshed: the start of the
 * next sign-in. A failure that may be gone later, or that a sign-in does not mend, is
 * thrown. After any other one, the endpoint may have moved.
 */
function restOf(
  session: ISession,
  error: unknown,
  isNeeded: boolean,
): ISession | undefined {
  const { action } = adviceFor(error);
  // Servers that fail on a dead refresh token respond like this for ever.
  if (isNeeded && isServerError(error)) return session;
  const isMended = isOAuthClientError(error) &&
    (error.status !== undefined || MENDED_CODES.includes(error.code));
  if (action === "retry" || !isMended) throw error;
  if (action === "reregister") return undefined;
  if (action !== "reauthorize") return session;
  const { token_type } = session.token;
  return { ...session, token: { access_token: "", token_type } };
}

/** Checks whether a token expires soon, or within a quarter of its lifetime. */
function expires(
  { token }: ISession,
  maxSkewSeconds: number,
  { options: { now = Date.now } }: IRenewal,
): boolean {
  const { expires_at, expires_in } = token;
  const skewSeconds = Math.min(maxSkewSeconds, (expires_in ?? Infinity) / 4);
  // A token of unknown lifetime is used until the resource refuses it.
  return now() / 1000 >= (expires_at ?? Infinity) - skewSeconds;
}

/** Checks whether a session is another one than was refused, and has the scopes. */
function isRenewed(session: ISession | undefined, need: INeed): boolean {
  const token = tokenOf(session);
  return token !== undefined && token !== need.refused &&
    missingScopes(need.requiredScopes, session?.scopes).length === 0;
}

/** Returns the stored session if another caller, or another process, has renewed it. */
async function findRenewed(
  need: INeed,
  renewal: IRenewal,
): Promise<IUsedSession | undefined> {
  const session = await loadSession(renewal);
  return isRenewed(session, need)
    ? { session, source: "store", need }
    : undefined;
}

/** Replaces a session, under the lock. */
async function renewUnderLock(
  need: INeed,
  renewal: IRenewal,
  signal: AbortSignal,
): Promise<IUsedSession> {
  const { store, options } = renewal;
  const stored = await loadSession(renewal);
  // A step-up of another caller may have left no room for the scopes of this one: the
  // next response is then returned.
  const isTooMuch = need.requiredScopes !== undefined &&
    !areRequestable(mergeScopes(stored?.scopes, need.requiredScopes));
  if (isRenewed(stored, need) || isTooMuch) {
    return { session: stored, source: "store", need };
  }
  const isNeeded = need.challenge !== undefined ||
    (stored !== undefined && expires(stored, 0, renewal));
  let rest = stored;
  if (
    need.mayRefresh && stored?.token.refresh_token && hasClient(stored, renewal)
  ) {
    try {
      // Without the signal: the server may have rotated the refresh token already.
      const session = await refreshSession(stored, sessionOptionsOf(options));
      await store.keep(session);
      return { session, source: "refresh", need };
    } catch (error) {
      rest = restOf(stored, error, isNeeded);
      if (rest !== stored) await store.keep(rest);
    }
  }
  const session = await signInAnew(need, rest, stored, renewal, signal);
  return { session, source: "authorize", need };
}

/** Replaces a session. Callers with the same need share the result or failure. */
export async function renew(
  need: INeed,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  const { resource, store } = renewal;
  const { challenge: _challenge, secrets: _secrets, ...kind } = need;
  const key = JSON.stringify([resource, kind]);
  for (;;) {
    try {
      return await store.share(
        key,
        signal,
        (shared) =>
          store.locked(
            () => renewUnderLock(need, renewal, shared),
            shared,
            () => findRenewed(need, renewal),
          ),
      );
    } catch (error) {
      // The saved session is read under the lock, and used if it fits.
      if (error !== REPLACED) throw error;
    }
  }
}

/** How a call begins. */
export interface IStart {
  /** Whether the call needs a session that is valid. */
  readonly isRequired: boolean;
  /** A token that the resource has refused. */
  readonly refusedToken: string | undefined;
}

/** Returns the session that a call starts with. */
export async function prepare(
  { isRequired, refusedToken }: IStart,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  renewal.store.saveAgain();
  const session = await underSignal(signal, () => loadSession(renewal));
  const refused = tokenOf(session);
  const mayWait = !isRequired && !session?.token.refresh_token;
  // Without a refresh token, a token is used to the end of its lifetime.
  const isExpiring = session && refused &&
    expires(session, mayWait ? 0 : MAX_SKEW_SECONDS, renewal);
  const isUseless = isRequired && (!refused || refused === refusedToken);
  if (isExpiring || isUseless) {
    try {
      return await renew({ refused, mayRefresh: true }, renewal, signal);
    } catch (error) {
      const isStillValid = isExpiring && !expires(session, 0, renewal) &&
        adviceFor(error).action === "retry";
      if (!isStillValid) throw error;
    }
  }
  return { session, source: "store" };
}
