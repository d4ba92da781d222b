/** How a session is replaced: by that of another caller, a refresh, or the user. */

import { requireArgument } from "../core/_arguments.ts";
import { quoteUrl } from "../core/_url.ts";
import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError, OAuthClientError } from "../core/errors.ts";
import { mergeScopes, missingScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import {
  discoverAuthorization,
  type IAuthorizationContext,
  type IDiscoverAuthorizationOptions,
} from "../discovery/discover.ts";
import { type INeed, type SessionSource, tokenOf } from "./_need.ts";
import { share, underLock } from "./_shared_task.ts";
import { reaches } from "./_token_reach.ts";
import type { Authorize } from "./authorize_request.ts";
import {
  type ISession,
  type ISessionOptions,
  refreshSession,
} from "./session.ts";
import type { ISessionStore } from "./store.ts";

/** What a renewal needs to know of the fetch that it is for. */
export interface IRenewalOptions {
  readonly resource: URL;
  readonly store: ISessionStore;
  readonly authorize: Authorize;
  readonly discovery: IDiscoverAuthorizationOptions;
  /** The options of requests to the authorization server, without a signal. */
  readonly session: ISessionOptions;
}

/** A session that replaces another one. */
export interface IRenewed {
  readonly session: ISession;
  readonly source: SessionSource;
  readonly need: INeed;
}

/** Returns the stored session, if it is for this resource and this key. */
export async function loadSession(
  { store, resource, session: { dpop } }: IRenewalOptions,
): Promise<ISession | undefined> {
  const session = await store.load();
  return session && reaches(session.resource, resource) &&
      session.dpopThumbprint === dpop?.thumbprint
    ? session
    : undefined;
}

/** The error of a session that belongs elsewhere. */
function mismatch(
  member: "issuer" | "resource",
  session: ISession,
  expected: string,
): OAuthClientError {
  const code = member === "issuer" ? "issuer_mismatch" : "identifier_mismatch";
  const message = `The ${member} of the session is ` +
    `${quoteUrl(session[member])}, expected ${quoteUrl(expected)}`;
  return new OAuthClientError(code, message);
}

/** Fails unless a session may be used for the resource and with the key. */
export function requireUsable(
  session: ISession,
  { resource, session: { dpop } }: IRenewalOptions,
): void {
  const isSession = typeof session?.token?.access_token === "string";
  requireArgument(isSession, "session", "an ISession");
  if (!reaches(session.resource, resource)) {
    throw mismatch("resource", session, resource.href);
  }
  requireArgument(
    session.dpopThumbprint === dpop?.thumbprint,
    "session",
    dpop ? "bound to the key of dpop" : "without a DPoP key",
  );
}

/** Fails unless a session is for the server and the resource of a discovery. */
function requireRequested(
  session: ISession,
  { issuer, resource }: IAuthorizationContext,
): void {
  if (session.issuer !== issuer) throw mismatch("issuer", session, issuer);
  if (session.resource !== resource) {
    throw mismatch("resource", session, resource);
  }
}

/** What is left of a session after an attempt to refresh it. */
interface IRefreshResult {
  readonly renewed?: ISession;
  /** The session that the user's next sign-in starts from. */
  readonly rest?: ISession | undefined;
}

/** Refreshes a session and stores the result. */
async function refresh(
  session: ISession,
  { store, session: options }: IRenewalOptions,
): Promise<IRefreshResult> {
  try {
    const renewed = await refreshSession(session, options);
    await store.save(renewed);
    return { renewed };
  } catch (error) {
    const { action } = adviceFor(error);
    // Any other failure says nothing about the refresh token.
    const isRefused = action !== "retry" && isOAuthClientError(error) &&
      error.code === "oauth_error";
    if (!isRefused) throw error;
    let rest: ISession | undefined = session;
    if (action === "reregister") rest = undefined;
    if (action === "reauthorize") {
      const { token_type } = session.token;
      rest = { ...session, token: { access_token: "", token_type } };
    }
    if (rest !== session) await store.save(rest);
    return { rest };
  }
}

/** Discovers the authorization server, asks for a session, and stores it. */
async function authorizeAnew(
  need: INeed,
  session: ISession | undefined,
  earlier: ISession | undefined,
  options: IRenewalOptions,
  signal: AbortSignal,
): Promise<ISession> {
  const { resource, store, authorize, discovery } = options;
  const { challenge, requiredScopes, acrValues, maxAge } = need;
  const context = await discoverAuthorization(resource, {
    ...discovery,
    challenge,
    signal,
  });
  const isSameIssuer = earlier?.issuer === context.issuer;
  const earlierScopes = isSameIssuer ? earlier?.scopes : [];
  const client = isSameIssuer ? session : undefined;
  let next: ISession;
  try {
    next = await underSignal(signal, () =>
      authorize({
        ...options.session,
        signal,
        context,
        scopes: mergeScopes(earlierScopes, requiredScopes, context.scopes),
        ...(requiredScopes !== undefined && {
          requiredScopes: mergeScopes(earlierScopes, requiredScopes),
        }),
        session: client,
        acrValues,
        maxAge,
      }));
  } catch (error) {
    // The next call registers anew: this one must not ask the user twice.
    const isUnknown = adviceFor(error).action === "reregister";
    if (isUnknown && client) await store.save(undefined);
    throw error;
  }
  requireUsable(next, options);
  requireRequested(next, context);
  await store.save(next);
  return next;
}

/** Replaces a session, under the lock. */
async function renewUnderLock(
  need: INeed,
  options: IRenewalOptions,
  signal: AbortSignal,
): Promise<IRenewed> {
  signal.throwIfAborted();
  const stored = await loadSession(options);
  const token = tokenOf(stored);
  // Another caller, or another process, may have renewed it in the meantime.
  const isRenewed = token !== undefined && token !== need.refused &&
    missingScopes(need.requiredScopes, stored?.scopes).length === 0;
  if (stored && isRenewed) return { session: stored, source: "store", need };
  let session = stored;
  if (stored?.token.refresh_token && need.mayRefresh) {
    // Without the signal: the server may have rotated the refresh token already.
    const { renewed, rest } = await refresh(stored, options);
    if (renewed) return { session: renewed, source: "refresh", need };
    session = rest;
  }
  const next = await authorizeAnew(need, session, stored, options, signal);
  return { session: next, source: "authorize", need };
}

/** Replaces a session. Callers with the same need share the result or failure. */
export async function renew(
  need: INeed,
  options: IRenewalOptions,
  signal: AbortSignal | undefined,
): Promise<IRenewed> {
  const { resource, store } = options;
  const { challenge: _challenge, ...rest } = need;
  const key = JSON.stringify([resource.href, rest]);
  return await share(
    store,
    key,
    signal,
    (shared) => underLock(store, () => renewUnderLock(need, options, shared)),
  );
}
