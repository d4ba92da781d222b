/** How a session is replaced: by another caller's session, a refresh, or a sign-in. */

import { isOutage } from "../core/advice.ts";
import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { areRequestable } from "../core/_scope_values.ts";
import { mergeScopes, missingScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import { fork, report } from "../http/_context.ts";
import { requireAsking } from "./_asking.ts";
import { bearerOf, expires } from "./_bearer.ts";
import { restOf } from "./_failed_refresh.ts";
import { signInAnew } from "./_new_sign_in.ts";
import {
  type INeed,
  type IUsedSession,
  reasonFor,
  type SessionSource,
  tokensOf,
} from "./_renewal_reason.ts";
import { refreshed, sessionDropped } from "./_session_events.ts";
import { LATE, patiently, REPLACED, revoked } from "./_shared_store.ts";
import {
  hasClient,
  type IRenewal,
  loadSession,
  replaceSession,
} from "./_usable_session.ts";
import {
  type ISession,
  refreshSessionWith,
  revokeSessionWith,
} from "./session.ts";

/** Checks whether a session, which another caller may have renewed, is what is needed. */
function fits(
  session: ISession | undefined,
  { reason, refused, requiredScopes }: INeed,
  { rules }: IRenewal,
): boolean {
  const token = bearerOf(session, rules);
  return session !== undefined && token !== undefined &&
    token !== refused && reason !== "fresh" &&
    !expires(session, "now", rules) &&
    missingScopes(requiredScopes, session.scopes).length === 0;
}

/**
 * Refreshes a session; tries once more if the response of a rotation may have been
 * lost.
 */
async function refreshTwice(
  session: ISession,
  { rules, context }: IRenewal,
): Promise<ISession> {
  // Without a signal: the server may have rotated the refresh token already. It knows
  // the access token too.
  const refresh = () =>
    refreshSessionWith(fork(context, tokensOf(session)), session);
  try {
    return await refresh();
  } catch (error) {
    // Many servers accept the former refresh token for a while. Other servers may
    // revoke the session, so it is only sent if the session cannot be used without a
    // refresh.
    const isLost = isOAuthClientError(error, "network_error") &&
      expires(session, "now", rules);
    if (!isLost) throw error;
    return await refresh();
  }
}

/** The refreshed session, or what is left of the former one. */
type RefreshOutcome =
  | { readonly session: ISession }
  | { readonly rest: ISession | undefined };

/** Refreshes a session and stores the result. */
async function refreshStored(
  stored: ISession,
  { reason, isWanted }: INeed,
  renewal: IRenewal,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const { store, rules, authorize, context } = renewal;
  const { deletions } = store;
  const replace = async (session: ISession | undefined) => {
    // revoke() waits for a refresh for a second only.
    if (store.deletions !== deletions) throw revoked();
    await replaceSession(stored, session, renewal);
  };
  const { issuer, token } = stored;
  const key = `refresh ${token.refresh_token}`;
  const putOff = store.later.errorFor(key, rules.now());
  if (putOff && isWanted && authorize) return { rest: stored };
  if (putOff) throw putOff;
  let session: ISession;
  try {
    session = await refreshTwice(stored, renewal);
  } catch (error) {
    store.later.note(key, error, rules.now());
    const isNeeded = reason !== "expired" || expires(stored, "now", rules);
    const rest = restOf(stored, error, { isNeeded, isWanted });
    // Only a sign-in could find out more. The process that signs in may have the right
    // secret.
    const isNamed = rest === undefined && context.client !== undefined;
    if (!authorize && (rest === stored || isNamed)) throw error;
    if (rest !== stored) {
      await replace(rest);
      const event = sessionDropped(issuer, error as OAuthClientError);
      report(fork(context, tokensOf(stored)), event);
    }
    return { rest };
  }
  /**
   * What another process has stored may be of the same sign-in, and so may what save() of
   * this process stores with one of these refresh tokens: it would be revoked as well.
   */
  const isObsolete = () => {
    const saved = store.saved?.token.refresh_token;
    return signal.reason === REPLACED && (!saved ||
      (saved !== token.refresh_token && saved !== session.token.refresh_token));
  };
  try {
    await replace(session);
    // In the store until save() is done, which may fail.
    if (isObsolete()) store.obsolete = session;
  } catch (error) {
    // revoke() had only the refresh token that this refresh has used up.
    if (error !== REPLACED || isObsolete()) {
      await revokeSessionWith(context, session).catch(() => {});
    }
    throw error;
  }
  report(fork(context, tokensOf(session)), refreshed(session));
  // A server may return no ID token in a refresh.
  const isOld = rules.bearer === "id_token" && expires(session, "now", rules);
  return isOld ? { rest: session } : { session };
}

/** Returns a session with its token. */
function usedOf(
  session: ISession | undefined,
  source: SessionSource,
  need: INeed,
  { rules }: IRenewal,
): IUsedSession {
  return { session, token: bearerOf(session, rules), source, need };
}

/** Checks whether a session is needed although the token is valid. */
function isMore({ reason }: INeed): boolean {
  return reason === "fresh" || reason === "step_up";
}

/** Replaces a session, under the lock. */
async function renewUnderLock(
  need: INeed,
  renewal: IRenewal,
  signal: AbortSignal,
): Promise<IUsedSession> {
  const { rules, authorize } = renewal;
  const stored = await loadSession(renewal);
  // Another call may have added scopes in the meantime.
  const scopes = mergeScopes(stored?.scopes, need.requiredScopes);
  const isTooMuch = need.requiredScopes !== undefined &&
    !areRequestable(scopes);
  if (fits(stored, need, renewal) || isTooMuch) {
    return usedOf(stored, "store", need, renewal);
  }
  // Another process may have stored a session that has expired since.
  const isOther = bearerOf(stored, rules) !== need.refused && !isMore(need);
  const mayRefresh = (need.mayRefresh || isOther) &&
    stored?.token.refresh_token && hasClient(stored, renewal);
  const refresh = mayRefresh
    ? await refreshStored(stored, need, renewal, signal)
    : { rest: stored };
  if ("session" in refresh) {
    return usedOf(refresh.session, "refresh", need, renewal);
  }
  const { rest } = refresh;
  if (!authorize) return { ...unexpired(rest, renewal), source: "store", need };
  const asked: INeed = mayRefresh
    ? { ...need, reason: "refresh_failed" }
    : need;
  requireAsking(asked, stored, renewal, authorize);
  const own = { ...renewal, authorize };
  const session = await signInAnew(asked, rest, stored, own, signal);
  return usedOf(session, "authorize", need, renewal);
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
  begun?: () => void,
): Promise<IUsedSession> {
  const { resource, store } = renewal;
  let need = required;
  for (;;) {
    const { reason, refused, mayRefresh, isWanted } = need;
    const { requiredScopes, acrValues, maxAge } = need;
    const { authorize, discovery, rules, context, asking } = renewal;
    const mayAsk = asking.signInOn === "call" || isWanted;
    // Only fetches that would renew alike share the result.
    const key = JSON.stringify([
      resource,
      [authorize, context.dpop, context.client].map((one) => store.idOf(one)),
      [rules.bearer, discovery.serverMetadata?.issuer],
      [isMore(need) && reason, refused, mayRefresh, mayAsk],
      [requiredScopes, acrValues, maxAge],
    ]);
    const find = async () => {
      const session = await loadSession(renewal);
      return fits(session, need, renewal)
        ? usedOf(session, "store", need, renewal)
        : undefined;
    };
    try {
      return await store.share(
        key,
        signal,
        isWanted === true,
        (shared, hasWish) =>
          store.locked<IUsedSession>(
            () => {
              begun?.();
              const own = { ...need, isWanted: hasWish() };
              return renewUnderLock(own, renewal, shared);
            },
            shared,
            find,
          ),
      );
    } catch (error) {
      if (error !== REPLACED) throw error;
      // The saved session is read under the lock, and used if it fits.
      need = reason === "fresh" ? { ...need, reason: "expired" } : need;
    }
  }
}

/** How a call begins. */
export interface IStart {
  /** Whether the call needs a session that is valid. */
  readonly isRequired: boolean;
  /** Checks whether the resource is known to refuse a token. */
  readonly isRefused: (token: string) => boolean;
  /** Whether the caller has asked for a sign-in. */
  readonly isWanted?: boolean | undefined;
}

/** Codes of errors about the user that a call with a valid token does not fail with. */
const TOLERATED_CODES: readonly string[] = ["sign_in_required", "timeout"];

/** Checks whether a token that is still valid is used after a renewal has failed. */
function isTolerable(error: unknown): boolean {
  return isOutage(error) ||
    (isOAuthClientError(error) && TOLERATED_CODES.includes(error.code));
}

/** Returns the session that a call starts with. */
export async function prepare(
  { isRequired, isRefused, isWanted }: IStart,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  const { store, rules, authorize } = renewal;
  store.saveAgain();
  const session = await underSignal(signal, () => loadSession(renewal));
  const refused = bearerOf(session, rules);
  const stored: IUsedSession = {
    ...unexpired(session, renewal),
    source: "store",
  };
  const mayRefresh = session?.token.refresh_token !== undefined;
  if (!mayRefresh && !authorize) return stored;
  const need: INeed = {
    reason: refused ? "expired" : "no_session",
    refused,
    mayRefresh: true,
    isWanted,
  };
  const renewed = () => renew(need, renewal, signal);
  if (isRequired && !refused) return await renewed();
  if (isRequired && refused && isRefused(refused)) {
    const isHopeless = isWanted && store.responses.isHopeless(refused);
    const known = { reason: reasonFor(refused), mayRefresh: !isHopeless };
    return await renew({ ...need, ...known }, renewal, signal);
  }
  if (!session || !refused) return stored;
  if (expires(session, "now", rules)) return await renewed();
  // Without a refresh token, a token is used until it expires: no call with a valid token
  // waits for the user.
  const isEarly = (mayRefresh || (isRequired &&
    (isWanted || authorize?.needsUser === false))) &&
    expires(session, "soon", rules);
  const key = `renew ${refused}`;
  if (!isEarly || store.later.errorFor(key, rules.now())) return stored;
  try {
    // The lock may be held for minutes, while the user of another call signs in.
    return await patiently(
      signal,
      (waiting, begun) => renew(need, renewal, waiting, begun),
    );
  } catch (error) {
    // The session may have been revoked meanwhile.
    const isOver = expires(session, "now", rules) ||
      !await underSignal(signal, () => loadSession(renewal))
        .catch(() => session);
    if (isOver && error === LATE) return await renewed();
    if (isOver || !isTolerable(error)) throw error;
    store.later.pause(key, error, rules.now());
    return stored;
  }
}
