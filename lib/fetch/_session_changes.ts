/** Sessions that the caller brings or ends: `finish()`, `save()` and `revoke()`. */

import { isOAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import { isLeft } from "./policy/_prompts.ts";
import { bearerOf } from "../session/_bearer.ts";
import { reasonFor, tokenOf } from "./policy/_need.ts";
import { reportSignIn } from "./_session_events.ts";
import { REPLACED, revoked } from "./keeper/_session_keeper.ts";
import type { IRenewal } from "./_fetch_context.ts";
import { hasClient, loadSession, requireUsable } from "./_usable_session.ts";
import { markAfterVisit } from "./_stored_client.ts";
import {
  type IPendingAuthorization,
  requirePending,
} from "../flows/pending_authorization.ts";
import {
  allTokensOf,
  type ISession,
  revokeSessionWith,
} from "../session/session.ts";
import { finishWith } from "../flows/sign_in.ts";

/** How a session is changed. */
interface IChange {
  readonly signal: AbortSignal | undefined;
  /** Checks whether the session was revoked since the change started. */
  readonly isRevoked: () => boolean;
  /** Set if several APIs share the sign-in, whose other tokens are kept. */
  readonly apis?: IRenewal["apis"];
}

/** Stores a session that was not obtained by a renewal, and returns what is stored. */
export async function saveSession(
  session: ISession,
  renewal: IRenewal,
  { signal, isRevoked, apis }: IChange,
): Promise<ISession> {
  const { store, rules, asking, context } = renewal;
  const kept = requireUsable(session, renewal);
  signal?.throwIfAborted();
  const requireKept = () => {
    if (isRevoked()) throw revoked();
  };
  requireKept();
  store.saved = kept;
  store.obsolete = undefined;
  store.lock.abortShared(REPLACED);
  const keep = async () => {
    const former = apis && await loadSession(renewal).catch(() => undefined);
    requireKept();
    const whole = apis?.end(kept, former) ?? kept;
    await store.save(whole);
    const token = bearerOf(session, rules);
    store.memory.signedIn(asking, token, { isWanted: true });
    const { obsolete } = store;
    // A refresh for another API, whose tokens were just kept, is not obsolete.
    const isKept = allTokensOf(whole)
      .some((token) => tokenOf(obsolete) === token.access_token);
    if (obsolete && !isKept) {
      await revokeSessionWith(context, obsolete).catch(() => {});
    }
    return whole;
  };
  return await store.soon(keep, signal);
}

/** Notes that a visit that went on elsewhere has failed. */
async function noteFailedVisit(
  renewal: IRenewal,
  pending: IPendingAuthorization,
  error: unknown,
  { signal, isRevoked }: IChange,
): Promise<void> {
  const { store, store: { memory }, rules, asking } = renewal;
  // It says nothing about the client, and the store may hang.
  signal?.throwIfAborted();
  memory.client = pending.client;
  memory.failed(error);
  // An error of the store does not replace the first error.
  await markAfterVisit(renewal, pending, error, signal).catch(() => {});
  const session = await underSignal(signal, () => loadSession(renewal))
    .catch(() => undefined);
  // Anybody can call a page with a response of no visit; and the next sign-in has another
  // client than the one that is marked now.
  const isShown =
    !isOAuthClientError(error, "invalid_authorization_response") &&
    !session?.isUserAway;
  if (!isRevoked() && isLeft(error, isShown)) {
    // The user was sent away although this token has not expired.
    const refused = bearerOf(session, rules);
    const need = { reason: reasonFor(refused), refused, mayRefresh: true };
    memory.left(error, store.last, need, renewal);
    // In another request, whose fetch is not known to lack anything yet.
    if (!memory.lackedBy(asking)) memory.lacks(asking, need);
  }
  signal?.throwIfAborted();
}

/** Finishes a sign-in that started elsewhere, and stores its session. */
export async function finishSignIn(
  renewal: IRenewal,
  callback: string | URL | URLSearchParams | Request,
  pending: IPendingAuthorization,
  signal: AbortSignal | undefined,
): Promise<ISession> {
  requirePending(pending);
  const { store, context, apis } = renewal;
  const isRevoked = store.memory.watchRevocation();
  const change = { signal, isRevoked };
  const own = { ...context, signal };
  await apis?.requireServer(own, pending, renewal);
  let session: ISession;
  try {
    session = await finishWith(own, callback, pending);
  } catch (error) {
    await noteFailedVisit(renewal, pending, error, change);
    throw error;
  }
  try {
    session = await saveSession(session, renewal, { ...change, apis });
  } catch (error) {
    // Otherwise, the tokens would stay valid although the user has signed out.
    if (isRevoked()) {
      await underSignal(signal, () => revokeSessionWith(context, session))
        .catch(() => {});
      signal?.throwIfAborted();
    }
    throw error;
  }
  reportSignIn(context, session);
  return session;
}

/** Deletes the stored session, and revokes its tokens. */
export async function revokeStored(
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { store, context } = renewal;
  signal?.throwIfAborted();
  store.memory.revoked();
  store.lock.abortShared(revoked());
  let revoking = Promise.resolve(false);
  await store.soon(async () => {
    const session = await store.remove();
    const hasToken = session && (tokenOf(session) ?? session.apis);
    if (!hasToken || !hasClient(session, renewal)) return;
    // No abort stops it: nothing else knows the tokens by now.
    revoking = revokeSessionWith(context, session).then(() => true);
    revoking.catch(() => {});
  }, signal);
  try {
    return await underSignal(signal, () => revoking);
  } catch (error) {
    signal?.throwIfAborted();
    // The session is deleted already; many servers cannot revoke tokens.
    if (isOAuthClientError(error)) return false;
    throw error;
  }
}
