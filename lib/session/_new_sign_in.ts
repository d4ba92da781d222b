/** How a new session is obtained: a challenge, the discovery, and `authorize`. */

import { scopesFrom, scopesWithout } from "../core/_scope_values.ts";
import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { mergeScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import { mergeHeaders, requestHead } from "../http/_request.ts";
import type { IResponse } from "../http/_response.ts";
import { fork, type IContext, report, secretsIn } from "../http/_context.ts";
import { discover, type IAuthorizationContext } from "../discovery/discover.ts";
import type { SignInReason } from "../http/events.ts";
import { isKnownWith } from "../token/client_check.ts";
import { requireDpop } from "./_dpop_need.ts";
import { areRequestable, type INeed, tokensOf } from "./_renewal_reason.ts";
import {
  type IRenewal,
  replaceSession,
  requireUsable,
} from "./_usable_session.ts";
import { sessionDropped, signInFinished } from "./_session_events.ts";
import type { Authorize } from "./flow.ts";
import { type ISession, sessionOptionsOf } from "./session.ts";
import type { IPendingAuthorization } from "./sign_in.ts";

/**
 * Requests the resource without a token, for its challenge: many servers name their
 * metadata and scopes only there. If there is no response, the discovery reports that.
 */
async function obtainChallenge(
  { resource, discovery }: IRenewal,
  context: IContext,
): Promise<IResponse["headers"] | undefined> {
  // The caller has named the server.
  const { authorizationServer, serverMetadata } = discovery;
  if (authorizationServer ?? serverMetadata) return undefined;
  const headers = mergeHeaders({ Accept: "*/*" }, discovery.sameOriginHeaders);
  const purpose = "resource";
  try {
    const request = { url: resource.href, purpose, headers } as const;
    return (await requestHead(request, context)).headers;
  } catch (error) {
    if (isOAuthClientError(error) && error.code === "network_error") {
      return undefined;
    }
    throw error;
  }
}

/** Discovers the authorization server. */
async function discoverFor(
  need: INeed,
  renewal: IRenewal,
): Promise<IAuthorizationContext> {
  const { resource, discovery, context } = renewal;
  const challenge = need.challenge ?? await obtainChallenge(renewal, context);
  // The flow decides whether to request a refresh token.
  const found = await discover(context, resource, {
    ...discovery,
    challenge,
    offlineAccess: undefined,
  });
  requireDpop(context, found, challenge);
  return found;
}

/** Checks whether the visit of a user continues elsewhere, or has not begun. */
function isOpen(error: unknown): boolean {
  return !isOAuthClientError(error) || error.code === "popup_blocked";
}

/**
 * Returns a function that runs the visit of a user with a mark in the store: a server
 * that has forgotten the registration may send the user to the same error page each
 * time. If the next sign-in, even in another process, finds the mark, it registers a
 * new client. The lock must be held until the mark is `written`.
 */
function markingVisits(
  session: ISession,
  renewal: IRenewal,
  signal: AbortSignal,
) {
  let lastWrite: Promise<void> | undefined;
  const write = async (marked: ISession) => {
    // After an abort, another session may be saved, or this session revoked, at any
    // time.
    if (signal.aborted) return;
    lastWrite = replaceSession(session, marked, renewal).catch(() => {});
    await lastWrite;
  };
  const whileAway = async <T>(visit: () => Promise<T>): Promise<T> => {
    await write({ ...session, isUserAway: true });
    let result: T;
    try {
      result = await visit();
    } catch (error) {
      // A web server may throw an error of its own to redirect its user: the visit
      // continues.
      if (isOpen(error)) await write(session);
      throw error;
    }
    await write(session);
    return result;
  };
  return { whileAway, written: () => lastWrite };
}

/**
 * Removes the mark of a visit that ended elsewhere, after a page was left, and with an
 * error: the server knows the client, unless the error says otherwise.
 */
export async function unmarkVisit(
  { client }: IPendingAuthorization,
  error: unknown,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { store } = renewal;
  const isResponse = isOAuthClientError(error) &&
    error.code !== "invalid_authorization_response" &&
    adviceFor(error).action !== "reregister";
  const stored = isResponse ? await store.load() : undefined;
  if (!stored?.isUserAway || stored.client.client_id !== client.client_id) {
    return;
  }
  const { isUserAway: _, ...session } = stored;
  await store.soon(() => replaceSession(stored, session, renewal), signal);
}

/**
 * Checks whether the client of a session may be used for a sign-in. A server that has
 * forgotten the client may show that to the user only, unless its token endpoint says
 * so.
 */
async function mayReuseClient(
  { isStepUp }: INeed,
  { client, serverMetadata, isUserAway }: ISession,
  { context }: IRenewal,
): Promise<boolean> {
  if (client.client_id === "" || isUserAway) return false;
  // Its token has just been accepted, or the caller has named the client.
  if (isStepUp || context.client) return true;
  try {
    // The probe leads to no token that could be bound to a key.
    const probe = { ...fork(context), dpop: undefined };
    return await isKnownWith(probe, serverMetadata, client) !== false;
  } catch {
    context.signal?.throwIfAborted();
    // The client needs credentials that the flow may have.
    return true;
  }
}

/** Returns why a user is asked to sign in. */
function reasonOf(
  { isFresh, isStepUp, hasFailedRefresh, isChallenged, refused }: INeed,
): SignInReason {
  if (isFresh) return "fresh";
  if (isStepUp) return "step_up";
  if (hasFailedRefresh) return "refresh_failed";
  if (refused === undefined) return "no_session";
  return isChallenged ? "refused" : "expired";
}

/** A renewal that may lead to a sign-in. */
export interface ISignInRenewal extends IRenewal {
  readonly authorize: Authorize;
}

/** Discovers the authorization server, asks for a session, and stores it. */
export async function signInAnew(
  need: INeed,
  session: ISession | undefined,
  earlier: ISession | undefined,
  further: ISignInRenewal,
  signal: AbortSignal,
): Promise<ISession> {
  const { store, authorize, rules } = further;
  // What the servers may repeat.
  const received = tokensOf(earlier, need.refused);
  const tokens = secretsIn({ sent: received });
  const own = { ...further.context, signal };
  const context = fork(own, [...need.sent ?? [], ...received]);
  const renewal = { ...further, context };
  const { requiredScopes, acrValues, maxAge } = need;
  if (need.isStepUp) {
    report(context, {
      type: "step_up",
      ...(requiredScopes !== undefined &&
        { scopes: mergeScopes(requiredScopes) }),
      ...(acrValues !== undefined && { acr_values: acrValues }),
      ...(maxAge !== undefined && { max_age: maxAge }),
    });
  }
  const found = await discoverFor(need, renewal);
  const { issuer } = found;
  const earlierScopes = earlier?.issuer === issuer ? earlier.scopes : [];
  const fromChallenge = scopesFrom(found.challenge?.params.scope);
  const challenged = mergeScopes(
    requiredScopes,
    need.challengedScope,
    scopesWithout(tokens, fromChallenge),
  );
  const all = mergeScopes(earlierScopes, challenged);
  const needed = areRequestable(all)
    ? all
    : mergeScopes(earlierScopes, requiredScopes);
  const isReusable = session?.issuer === issuer &&
    await mayReuseClient(need, session, renewal);
  const known = isReusable ? session : undefined;
  const marking = known && markingVisits(known, renewal, signal);
  const reason = reasonOf(need);
  report(context, { type: "sign_in_started", issuer, reason });
  let next: ISession;
  try {
    next = await underSignal(signal, () =>
      authorize({
        ...sessionOptionsOf(context),
        context: found,
        // Not more scopes than before: the user has agreed to these.
        scopes: needed.length > 0
          ? needed
          : scopesWithout(tokens, found.scopes ?? []),
        requiredScopes: challenged.length > 0 ? needed : undefined,
        requiresIdToken: rules.bearer === "id_token",
        isFresh: need.isFresh,
        session: known,
        whileAway: marking?.whileAway,
        acrValues,
        maxAge,
      }));
  } catch (error) {
    // The next call registers a new client: this one must not ask the user twice.
    if (known && adviceFor(error).action === "reregister") {
      // After a step-up, the token is still valid for other requests.
      const client = { issuer, client_id: "" };
      const rest = need.isStepUp ? { ...known, client } : undefined;
      await replaceSession(known, rest, renewal);
      report(context, sessionDropped(issuer, error as OAuthClientError));
    }
    throw error;
  } finally {
    await marking?.written();
  }
  requireUsable(next, renewal, found);
  await store.keep(next);
  report(fork(context, tokensOf(next)), signInFinished(next));
  return next;
}
