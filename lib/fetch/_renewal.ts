/** Replaces a session: by another caller's session, a refresh, or a sign-in. */

import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { fork } from "../http/_context.ts";
import { bearerOf, expires } from "../session/_bearer.ts";
import {
  fits,
  isTolerable,
  needAtStart,
  remainsAfter,
  type Start,
  stepOf,
  unexpired,
} from "./policy/_decisions.ts";
import { requirePrompt, signInAnew } from "./_new_sign_in.ts";
import { putOffError } from "./policy/_put_off.ts";
import {
  type Attempt,
  type Need,
  type SessionSource,
  tokensOf,
} from "./policy/_need.ts";
import { refreshed, reportAbout, sessionDropped } from "./_session_events.ts";
import { loadSession, REPLACED, revoked } from "./keeper/_session_keeper.ts";
import { LOCK_TIMEOUT, withLockTimeout } from "./keeper/_task_lock.ts";
import type { ApiContext } from "./_api_context.ts";
import { mayRefresh, replaceSession } from "./_usable_session.ts";
import {
  refreshSessionWith,
  revokeSessionWith,
  type Session,
  type StoredSession,
} from "../session/session.ts";

/** Refreshes a session. Tries again if a rotation's response may have been lost. */
async function refreshTwice(
  session: Session,
  { rules, context }: ApiContext,
): Promise<Session> {
  // Without a signal, because the server may have rotated the refresh token already. It
  // also knows the access token.
  const refresh = () =>
    refreshSessionWith(fork(context, tokensOf(session)), session);
  try {
    return await refresh();
  } catch (error) {
    // Many servers accept the previous refresh token for a while. Others may revoke the
    // session, so it is only sent if the session is otherwise useless.
    const isLost = isOAuthClientError(error, "network_error") &&
      expires(session, "now", rules);
    if (!isLost) throw error;
    return await refresh();
  }
}

type RefreshOutcome =
  | { readonly session: Session }
  | { readonly remains: StoredSession | undefined };

/** Several APIs share a refresh token. */
const earlyKey = ({ token }: StoredSession) =>
  `renew ${token?.refresh_token ?? token?.access_token}`;

async function refreshStored(
  api: ApiContext,
  stored: Session,
  need: Need,
  signal: AbortSignal,
): Promise<RefreshOutcome> {
  const { keeper, rules, flow, context, apis } = api;
  const { deletions, memory } = keeper;
  const replace = async (session: StoredSession | undefined) => {
    // revoke() waits only one second for a refresh.
    if (keeper.deletions !== deletions) throw revoked();
    await replaceSession(stored, session, api);
  };
  const { token } = stored;
  const key = `refresh ${token.refresh_token}`;
  const isExpired = () => expires(stored, "now", rules);
  const isEarly = need.reason === "expired" && !need.isUserInitiated &&
    !isExpired();
  // Another call's refresh may have failed while this one waited for the lock.
  const putOff = putOffError(memory, key, rules.now()) ??
    (isEarly ? putOffError(memory, earlyKey(stored), rules.now()) : undefined);
  if (putOff && need.isUserInitiated && flow) return { remains: stored };
  if (putOff) throw putOff;
  let session: Session;
  try {
    session = await refreshTwice(stored, api);
  } catch (error) {
    memory.requestEnded(key, error, rules.now());
    // Noted here too, because the call that started it may be aborted.
    if (isTolerable(error) && !isExpired()) {
      memory.requestEnded(earlyKey(stored), error, rules.now(), false);
    }
    const alone = apis?.separatedAfter(error, stored);
    const remains = alone ? "client" : remainsAfter(error, need, isExpired());
    // Only a sign-in could find out more. The signing-in process may use the right
    // secret.
    const isNamed = remains === "nothing" && context.client !== undefined;
    const isUseless = !flow && (remains === "all" || isNamed);
    if (remains === "error" || isUseless) throw error;
    if (remains === "all") return { remains: stored };
    const { token: _, ...rest } = stored;
    const kept = remains === "client"
      ? alone ?? apis?.withoutTokens(stored) ?? (rest.client && rest)
      : undefined;
    await replace(kept);
    const event = sessionDropped(stored.issuer, error as OAuthClientError);
    reportAbout(context, stored, event);
    return { remains: kept };
  }
  // A session that save() or another process stored may belong to the same sign-in.
  // Revoking these tokens would then revoke it too.
  const isSuperseded = () => {
    const saved = keeper.saved?.token?.refresh_token;
    return signal.reason === REPLACED && saved !== token.refresh_token &&
      saved !== session.token.refresh_token;
  };
  try {
    await replace(session);
    if (isSuperseded()) keeper.refreshSuperseded(session);
  } catch (error) {
    // revoke() only knew the refresh token that this refresh used.
    if (error !== REPLACED || isSuperseded()) {
      await revokeSessionWith(context, session).catch(() => {});
    }
    throw error;
  }
  reportAbout(context, session, refreshed(session));
  // A server may return no ID token in a refresh.
  const isOld = rules.bearer === "id_token" && expires(session, "now", rules);
  return isOld ? { remains: session } : { session };
}

function attemptOf(
  { rules }: ApiContext,
  session: StoredSession | undefined,
  source: SessionSource,
  need: Need,
): Attempt {
  return { session, token: bearerOf(session, rules), source, need };
}

async function renewUnderLock(
  need: Need,
  api: ApiContext,
  signal: AbortSignal,
): Promise<Attempt> {
  const { rules, flow, apis } = api;
  const stored = await loadSession(api);
  const isKnown = stored !== undefined && mayRefresh(stored, api);
  const step = stepOf(stored, need, { rules, hasClient: isKnown });
  if (step === "use") return attemptOf(api, stored, "store", need);
  const refresh = step === "refresh" && stored
    ? await refreshStored(
      api,
      // It contains a refresh token.
      (await apis?.check(stored, need, api) ?? stored) as Session,
      need,
      signal,
    )
    : { remains: stored };
  if ("session" in refresh) {
    return attemptOf(api, refresh.session, "refresh", need);
  }
  const { remains } = refresh;
  if (!flow) return { ...unexpired(remains, rules), need };
  const asked: Need = step === "refresh"
    ? { ...need, reason: "refresh_failed" }
    : need;
  requirePrompt(asked, stored, api);
  const session = await signInAnew(asked, {
    ...api,
    ...{ flow, stored, remains, signal },
  });
  return attemptOf(api, session, "sign_in", need);
}

/** Replaces a session. Callers with the same need share the result or the error. */
export async function renew(
  api: ApiContext,
  required: Need,
  signal: AbortSignal | undefined,
  started?: () => void,
): Promise<Attempt> {
  const { resource, keeper } = api;
  let need = required;
  for (;;) {
    const { reason, refused, mayRefresh, isUserInitiated } = need;
    const { requiredScopes, acrValues, maxAge } = need;
    const { flow, discovery, rules, context, promptPolicy } = api;
    const mayPrompt = promptPolicy.signInOn === "call" || isUserInitiated;
    // Only equal renewals share the result. An early renewal may be put off, a rejected
    // token's may not.
    const key = JSON.stringify([
      resource,
      ...[flow, context.dpop, context.client].map((one) => keeper.idOf(one)),
      ...[rules.bearer, discovery.serverMetadata?.issuer],
      ...[reason, refused, mayRefresh, mayPrompt],
      ...[requiredScopes, acrValues, maxAge],
    ]);
    const find = async () => {
      const session = await loadSession(api);
      return fits(session, need, rules)
        ? attemptOf(api, session, "store", need)
        : undefined;
    };
    try {
      return await keeper.share(
        key,
        (shared, isUrgent) =>
          keeper.locked<Attempt>(
            () => {
              started?.();
              const ofAll = { ...need, isUserInitiated: isUrgent() };
              return renewUnderLock(ofAll, api, shared);
            },
            shared,
            find,
          ),
        { signal, isUrgent: isUserInitiated },
      );
    } catch (error) {
      if (error !== REPLACED) throw error;
      // The saved session is read under the lock, and used if it fits.
      need = reason === "fresh" ? { ...need, reason: "expired" } : need;
    }
  }
}

/** Returns a call's session, after a renewal if the call needs one. */
export async function prepare(
  start: Start,
  api: ApiContext,
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  const { keeper, rules } = api;
  const { memory } = keeper;
  if (memory.unsaved) keeper.saveAgain();
  const session = await loadSession(api, signal);
  const stored = unexpired(session, rules);
  const { need, isEarly } = needAtStart(session, start, api);
  if (!need) return stored;
  if (!session || !isEarly) return await renew(api, need, signal);
  const key = earlyKey(session);
  if (putOffError(memory, key, rules.now())) return stored;
  try {
    // The lock may be held for minutes, while another call's user signs in.
    return await withLockTimeout(
      signal,
      (waiting, started) => renew(api, need, waiting, started),
    );
  } catch (error) {
    // Noted first: other calls would try again while the store is slow.
    const isTolerated = isTolerable(error);
    if (isTolerated) memory.requestEnded(key, error, rules.now(), false);
    // The session may have been revoked or replaced meanwhile.
    const latest = await loadSession(api, signal).catch(() => session);
    const attempt = unexpired(latest, rules);
    const isOver = attempt.token === undefined;
    signal?.throwIfAborted();
    // Also if that is another call's error, whose renewal was put off since.
    const isLate = (error as Error | undefined)?.cause === LOCK_TIMEOUT.cause;
    if (isOver && isLate) return await renew(api, need, signal);
    if (isOver || !isTolerated) throw error;
    return attempt;
  }
}
