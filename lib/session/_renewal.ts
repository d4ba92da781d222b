/** How a session is replaced: by that of another caller, a refresh, or a sign-in. */

import { adviceFor } from "../core/advice.ts";
import { mergeScopes, missingScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import { emit } from "../http/events.ts";
import { bearerOf, expires } from "./_bearer.ts";
import { signInAnew } from "./_new_sign_in.ts";
import { refreshStored } from "./_refresh.ts";
import {
  areRequestable,
  type INeed,
  type IUsedSession,
} from "./_renewal_reason.ts";
import { REPLACED } from "./_shared_store.ts";
import { hasClient, type IRenewal, loadSession } from "./_usable_session.ts";
import type { ISession } from "./session.ts";

/** Checks whether a session is not the refused one, and has the scopes. */
function isRenewed(
  session: ISession | undefined,
  { refused, requiredScopes, isFresh }: INeed,
  { rules }: IRenewal,
): boolean {
  const token = bearerOf(session, rules);
  return session !== undefined && token !== undefined && token !== refused &&
    !isFresh && !expires(session, "now", rules) &&
    missingScopes(requiredScopes, session.scopes).length === 0;
}

/** Returns the stored session if another caller, or another process, has renewed it. */
async function findRenewed(
  need: INeed,
  renewal: IRenewal,
): Promise<IUsedSession | undefined> {
  const session = await loadSession(renewal);
  const token = bearerOf(session, renewal.rules);
  return isRenewed(session, need, renewal)
    ? { session, token, source: "store", need }
    : undefined;
}

/** Replaces a session, under the lock. */
async function renewUnderLock(
  need: INeed,
  renewal: IRenewal,
  signal: AbortSignal,
): Promise<IUsedSession> {
  const { rules, authorize } = renewal;
  const stored = await loadSession(renewal);
  const token = bearerOf(stored, rules);
  // With the scopes of another caller's step-up, there may be too many to add those of
  // this one: the next response is then returned.
  const isTooMuch = need.requiredScopes !== undefined &&
    !areRequestable(mergeScopes(stored?.scopes, need.requiredScopes));
  if (isRenewed(stored, need, renewal) || isTooMuch) {
    return { session: stored, token, source: "store", need };
  }
  // Another process may have stored a session that has expired since.
  const isOther = token !== need.refused && !need.isStepUp && !need.isFresh;
  const mayRefresh = (need.mayRefresh || isOther) &&
    stored?.token.refresh_token && hasClient(stored, renewal);
  let rest = stored;
  let signingIn = need;
  if (mayRefresh) {
    const outcome = await refreshStored(stored, need, renewal);
    if ("session" in outcome) {
      const { session } = outcome;
      const token = bearerOf(session, rules);
      return { session, token, source: "refresh", need };
    }
    rest = outcome.rest;
    signingIn = { ...need, hasFailedRefresh: true };
  }
  if (!authorize) {
    return { ...unexpired(rest, renewal), source: "store", need };
  }
  const signing = { ...renewal, authorize };
  const session = await signInAnew(signingIn, rest, stored, signing, signal);
  return {
    session,
    token: bearerOf(session, rules),
    source: "authorize",
    need,
  };
}

/** Returns a session with its token, unless the token has expired. */
function unexpired(
  session: ISession | undefined,
  { rules }: IRenewal,
): Pick<IUsedSession, "session" | "token"> {
  const isExpired = session !== undefined && expires(session, "now", rules);
  return { session, token: isExpired ? undefined : bearerOf(session, rules) };
}

/** Replaces a session. Callers with the same need share the result or the error. */
export async function renew(
  required: INeed,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  const { resource, store, onEvent } = renewal;
  let need = required;
  for (;;) {
    const { refused, mayRefresh, isStepUp, isFresh, ...further } = need;
    const { requiredScopes, acrValues, maxAge } = further;
    const { authorize, discovery, rules, options } = renewal;
    // Only fetches that would renew alike share the result.
    const key = JSON.stringify([
      resource,
      [authorize, options.dpop, options.client].map((one) => store.idOf(one)),
      [rules.bearer, discovery.serverMetadata?.issuer],
      [refused, mayRefresh, isStepUp, isFresh],
      [requiredScopes, acrValues, maxAge],
    ]);
    const find = () => findRenewed(need, renewal);
    const onWait = onEvent &&
      ((pid?: number) =>
        emit(onEvent, { type: "waiting", ...(pid !== undefined && { pid }) }));
    try {
      return await store.share(
        key,
        signal,
        (shared) =>
          store.locked(() => renewUnderLock(need, renewal, shared), shared, {
            find,
            onWait,
          }),
      );
    } catch (error) {
      if (error !== REPLACED) throw error;
      // The saved session is read under the lock, and used if it fits.
      need = { ...need, isFresh: undefined };
    }
  }
}

/** How a call begins. */
export interface IStart {
  /** Whether the call needs a session that is valid. */
  readonly isRequired: boolean;
  /** Checks whether the resource is known to refuse a token. */
  readonly isRefused: (token: string) => boolean;
}

/** Returns the session that a call starts with. */
export async function prepare(
  { isRequired, isRefused }: IStart,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  const { store, rules, authorize } = renewal;
  store.saveAgain();
  const session = await underSignal(signal, () => loadSession(renewal));
  const refused = bearerOf(session, rules);
  const mayRefresh = session?.token.refresh_token !== undefined;
  // Without a refresh token, a token is used until it expires.
  const when = mayRefresh || (isRequired && authorize) ? "soon" : "now";
  const isExpiring = session && refused && expires(session, when, rules);
  const isUseless = isRequired && (!refused || isRefused(refused));
  const mayRenew = mayRefresh || authorize !== undefined;
  if (mayRenew && (isExpiring || isUseless)) {
    try {
      return await renew({ refused, mayRefresh: true }, renewal, signal);
    } catch (error) {
      const isStillValid = isExpiring && !expires(session, "now", rules) &&
        adviceFor(error).action === "retry";
      if (!isStillValid) throw error;
    }
  }
  return { ...unexpired(session, renewal), source: "store" };
}
