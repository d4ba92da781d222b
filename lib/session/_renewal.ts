/** How a session is replaced: by that of another caller, a refresh, or the user. */

import { requireArgument } from "../core/_arguments.ts";
import { quoteUrl } from "../core/_url.ts";
import { adviceFor } from "../core/advice.ts";
import {
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { mergeScopes, missingScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import {
  discoverAuthorization,
  type IAuthorizationContext,
  type IDiscoverAuthorizationOptions,
} from "../discovery/discover.ts";
import {
  loadKept,
  saveAgain,
  saveKept,
  saveRefreshed,
} from "./_kept_session.ts";
import { type INeed, type SessionSource, tokenOf } from "./_need.ts";
import { endTasks, share, underLock } from "./_shared_task.ts";
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

/** Why the renewals of a store end when a session is saved: they start over. */
export const REPLACED: DOMException = /* @__PURE__ */ new DOMException(
  "Another session was saved",
  "AbortError",
);

const countOf = new WeakMap<ISessionStore, number>();

/** Returns how often the sessions of a store have been revoked. */
export function revocationsOf(store: ISessionStore): number {
  return countOf.get(store) ?? 0;
}

/** Ends the renewals of a store, and counts the revocation. */
export function endForRevocation(store: ISessionStore): void {
  countOf.set(store, revocationsOf(store) + 1);
  endTasks(store, new DOMException("The session was revoked", "AbortError"));
}

/** Returns the stored session, if it is for this resource and this key. */
export async function loadSession(
  { store, resource, session: { dpop } }: IRenewalOptions,
): Promise<ISession | undefined> {
  const session = await loadKept(store);
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
  name = "session",
): void {
  const isSession = typeof session?.token?.access_token === "string";
  requireArgument(isSession, name, "an ISession");
  if (!reaches(session.resource, resource)) {
    throw mismatch("resource", session, resource.href);
  }
  requireArgument(
    session.dpopThumbprint === dpop?.thumbprint,
    name,
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

/**
 * Codes of failures of the token endpoint that come again with each refresh, unless
 * `adviceFor()` says otherwise. The endpoint may have moved, so a discovery follows.
 */
const FINAL_CODES: readonly OAuthClientErrorCode[] = [
  "oauth_error",
  "unexpected_status",
  "redirect_refused",
  "invalid_response",
];

/** Refreshes a session and stores the result. */
async function refresh(
  session: ISession,
  { store, session: options }: IRenewalOptions,
): Promise<IRefreshResult> {
  try {
    const renewed = await refreshSession(session, options);
    await saveRefreshed(store, renewed, tokenOf(session));
    return { renewed };
  } catch (error) {
    const { action } = adviceFor(error);
    const isFinal = action !== "retry" && isOAuthClientError(error) &&
      FINAL_CODES.includes(error.code);
    if (!isFinal) throw error;
    let rest: ISession | undefined = session;
    if (action === "reregister") rest = undefined;
    if (action === "reauthorize") {
      const { token_type } = session.token;
      rest = { ...session, token: { access_token: "", token_type } };
    }
    if (rest !== session) await saveKept(store, rest);
    return { rest };
  }
}

/** Returns a session whose client the server does not know any more. */
function withoutClient(session: ISession): ISession {
  return { ...session, client: { issuer: session.issuer, client_id: "" } };
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
  const client = isSameIssuer && session?.client.client_id
    ? session
    : undefined;
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
    signal.throwIfAborted();
    // The next call registers anew: this one must not ask the user twice.
    if (client && adviceFor(error).action === "reregister") {
      await saveKept(store, need.isStepUp ? withoutClient(client) : undefined);
    }
    throw error;
  }
  requireUsable(next, options, "The result of authorize");
  requireRequested(next, context);
  await saveKept(store, next);
  return next;
}

/** Replaces a session, under the lock. */
async function renewUnderLock(
  need: INeed,
  options: IRenewalOptions,
  signal: AbortSignal,
): Promise<IRenewed> {
  signal.throwIfAborted();
  await saveAgain(options.store);
  const stored = await loadSession(options);
  const token = tokenOf(stored);
  // Another caller, or another process, may have renewed it in the meantime.
  const isRenewed = token !== undefined && token !== need.refused &&
    missingScopes(need.requiredScopes, stored?.scopes).length === 0;
  if (stored && isRenewed) return { session: stored, source: "store", need };
  let session = stored;
  const hasClient = options.session.client ?? stored?.client.client_id;
  if (stored?.token.refresh_token && need.mayRefresh && hasClient) {
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
  for (;;) {
    try {
      return await share(
        store,
        key,
        signal,
        (shared) =>
          underLock(store, () => renewUnderLock(need, options, shared), shared),
      );
    } catch (error) {
      // The saved session is read under the lock, and used if it fits.
      if (error !== REPLACED) throw error;
    }
  }
}
