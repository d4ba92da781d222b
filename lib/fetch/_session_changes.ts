import { isOAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import { isAbandoned } from "./policy/_decisions.ts";
import { bearerOf } from "../session/_bearer.ts";
import { reasonFor, tokenOf } from "./policy/_need.ts";
import { reportSignIn } from "./_session_events.ts";
import { loadSession, revoked, usableOf } from "./keeper/_session_keeper.ts";
import type { ApiContext } from "./_api_context.ts";
import { hasClient, requireUsable } from "./_usable_session.ts";
import { markAfterFailure } from "./_stored_client.ts";
import {
  type PendingAuthorization,
  requirePending,
} from "../flows/pending_authorization.ts";
import { internalOf } from "../session/_internal.ts";
import { clientIn, serverOf } from "../session/_parties.ts";
import { isOfOtherVersion } from "../session/_version.ts";
import {
  allTokensOf,
  revokeSessionWith,
  type Session,
  type StoredSession,
} from "../session/session.ts";
import { finishWith } from "../flows/sign_in.ts";

interface Change {
  readonly signal: AbortSignal | undefined;
  readonly revocations: number;
  /** Set if several APIs share the sign-in, whose other tokens are kept. */
  readonly apis?: ApiContext["apis"];
}

/** Stores a session that no renewal obtained, and returns the stored one. */
export async function saveSession(
  session: Session,
  api: ApiContext,
  { signal, revocations, apis }: Change,
): Promise<Session> {
  const { keeper, rules, promptPolicy, context } = api;
  const kept = requireUsable(session, api);
  signal?.throwIfAborted();
  const requireKept = () => {
    if (keeper.memory.revocations !== revocations) throw revoked();
  };
  requireKept();
  keeper.sessionReplaced(kept);
  const keep = async () => {
    let whole = kept;
    // Another process may store another API's tokens meanwhile.
    const replace = (used?: StoredSession) => {
      requireKept();
      return whole = apis?.end(kept, usableOf(api, used)) ?? kept;
    };
    // An unreadable store may still save, but not over another version.
    const isRead = await loadSession(api).then(() => true, (error) => {
      if (isOfOtherVersion(error)) throw error;
      return false;
    });
    await (apis && isRead ? keeper.change(replace) : keeper.save(replace()));
    const token = bearerOf(session, rules);
    keeper.memory.signedIn(promptPolicy, token, { isUserInitiated: true });
    const { superseded } = keeper;
    // Not another API's refresh, whose tokens were just kept.
    const isKept = allTokensOf(whole)
      .some((token) => tokenOf(superseded) === token.access_token);
    if (superseded && !isKept) {
      await revokeSessionWith(context, superseded).catch(() => {});
    }
    return whole;
  };
  return await keeper.lockedIfFree(keep, signal);
}

/** Notes that a sign-in failed that another request or process started. */
async function noteFailedSignIn(
  api: ApiContext,
  pending: PendingAuthorization,
  error: unknown,
  { signal, revocations }: Change,
): Promise<void> {
  const { keeper, keeper: { memory }, rules, promptPolicy } = api;
  // The failure does not concern the client, and the store may hang.
  signal?.throwIfAborted();
  memory.clientChosen(clientIn(pending)!);
  memory.signInFailed(error);
  // A store's error does not replace the first error.
  await markAfterFailure(api, pending, error, signal).catch(() => {});
  const session = await loadSession(api, signal).catch(() => undefined);
  // Anyone can call a page with a response to no request. And the next sign-in uses
  // another client than the one that is marked now.
  const isShown =
    !isOAuthClientError(error, "invalid_authorization_response") &&
    !internalOf(session).isUserAway;
  if (memory.revocations === revocations && isAbandoned(error, isShown)) {
    // The user was redirected although this token has not expired.
    const refused = bearerOf(session, rules);
    const need = { reason: reasonFor(refused), refused, mayRefresh: true };
    memory.signInAbandoned(error, keeper.lastRead, need, api);
    // In another request, whose fetch does not know its need yet.
    if (!memory.unmetNeeds?.has(promptPolicy)) {
      memory.needUnmet(promptPolicy, need);
    }
  }
  signal?.throwIfAborted();
}

export async function finishSignIn(
  api: ApiContext,
  callback: string | URL | URLSearchParams | Request,
  pending: PendingAuthorization,
  signal: AbortSignal | undefined,
): Promise<Session> {
  requirePending(pending);
  const { keeper, context, apis } = api;
  const { memory } = keeper;
  const { revocations } = memory;
  const change = { signal, revocations };
  const abortable = { ...context, signal };
  const { resource } = pending;
  const serverMetadata = serverOf(pending);
  await apis?.requireServer(abortable, { resource, serverMetadata }, api);
  let session: Session;
  try {
    session = await finishWith(abortable, callback, pending);
  } catch (error) {
    await noteFailedSignIn(api, pending, error, change);
    throw error;
  }
  try {
    session = await saveSession(session, api, { ...change, apis });
  } catch (error) {
    // Otherwise, the tokens would stay valid after a sign-out, or in addition to
    // another version's session.
    if (memory.revocations !== revocations || isOfOtherVersion(error)) {
      await underSignal(signal, () => revokeSessionWith(context, session))
        .catch(() => {});
      signal?.throwIfAborted();
    }
    throw error;
  }
  reportSignIn(context, session);
  return session;
}

export async function revokeStored(
  api: ApiContext,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { keeper, context } = api;
  signal?.throwIfAborted();
  keeper.sessionRevoked();
  let revoking = Promise.resolve(false);
  await keeper.lockedIfFree(async () => {
    const session = await keeper.remove();
    const hasToken = session && (tokenOf(session) ?? session.apis);
    if (!hasToken || !hasClient(session, api)) return;
    // No abort stops it, because nothing else knows the tokens.
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
