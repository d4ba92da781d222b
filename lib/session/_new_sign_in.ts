/** How a new session is obtained: a challenge, the discovery, and `authorize`. */

import { scopesFrom, scopesWithout } from "../core/_scope_values.ts";
import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { mergeScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import { mergeHeaders, requestHead } from "../http/_request.ts";
import type { IResponse } from "../http/_response.ts";
import { fetchWith, type ITransport, transportOf } from "../http/_transport.ts";
import { discover, type IAuthorizationContext } from "../discovery/discover.ts";
import { emit, type SignInReason } from "../http/events.ts";
import { isClientKnown } from "../token/client_check.ts";
import { requireDpop } from "./_dpop_need.ts";
import { areRequestable, type INeed, secretTokens } from "./_renewal_reason.ts";
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
  transport: ITransport,
): Promise<IResponse["headers"] | undefined> {
  // The caller has named the server.
  const { authorizationServer, serverMetadata } = discovery;
  if (authorizationServer ?? serverMetadata) return undefined;
  const headers = mergeHeaders({ Accept: "*/*" }, discovery.sameOriginHeaders);
  const purpose = "resource";
  try {
    const request = { url: resource.href, purpose, headers } as const;
    return (await requestHead(request, transport)).headers;
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
  signal: AbortSignal,
): Promise<IAuthorizationContext> {
  const { resource, discovery, options } = renewal;
  const transport = { ...transportOf(options), signal };
  const challenge = need.challenge ??
    await obtainChallenge(renewal, transport);
  // The flow decides whether to request a refresh token.
  const context = await discover(transport, resource, {
    ...discovery,
    challenge,
    offlineAccess: undefined,
  });
  requireDpop(context, options.dpop, challenge);
  return context;
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
  { options }: IRenewal,
  signal: AbortSignal,
): Promise<boolean> {
  if (client.client_id === "" || isUserAway) return false;
  // Its token has just been accepted, or the caller has named the client.
  if (isStepUp || options.client) return true;
  try {
    return await isClientKnown(serverMetadata, client, {
      ...transportOf(options),
      signal,
      allowHttp: options.allowHttp,
    }) !== false;
  } catch {
    signal.throwIfAborted();
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
  const { store, authorize, rules, onEvent } = further;
  // What the servers may repeat.
  const tokens = secretTokens(earlier, need.refused);
  const secrets = [...need.secrets ?? [], ...tokens];
  const fetch = fetchWith(further.options.fetch, { sent: secrets });
  const options = { ...further.options, fetch };
  const renewal = { ...further, options };
  const { requiredScopes, acrValues, maxAge } = need;
  if (need.isStepUp) {
    emit(onEvent, {
      type: "step_up",
      ...(requiredScopes !== undefined &&
        { scopes: mergeScopes(requiredScopes) }),
      ...(acrValues !== undefined && { acr_values: acrValues }),
      ...(maxAge !== undefined && { max_age: maxAge }),
    }, secrets);
  }
  const context = await discoverFor(need, renewal, signal);
  const { issuer } = context;
  const earlierScopes = earlier?.issuer === issuer ? earlier.scopes : [];
  const fromChallenge = scopesFrom(context.challenge?.params.scope);
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
    await mayReuseClient(need, session, renewal, signal);
  const known = isReusable ? session : undefined;
  const marking = known && markingVisits(known, renewal, signal);
  const reason = reasonOf(need);
  emit(onEvent, { type: "sign_in_started", issuer, reason }, secrets);
  let next: ISession;
  try {
    next = await underSignal(signal, () =>
      authorize({
        ...sessionOptionsOf(options),
        signal,
        context,
        // Not more scopes than before: the user has agreed to these.
        scopes: needed.length > 0
          ? needed
          : scopesWithout(tokens, context.scopes ?? []),
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
      emit(onEvent, sessionDropped(issuer, error as OAuthClientError), secrets);
    }
    throw error;
  } finally {
    await marking?.written();
  }
  requireUsable(next, renewal, context, secrets);
  await store.keep(next);
  emit(onEvent, signInFinished(next), [...secrets, ...secretTokens(next)]);
  return next;
}
