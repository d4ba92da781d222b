/** The mark of a client in the store while its user is at a page of the server. */

import { isSameIssuer } from "../core/_issuer.ts";
import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { underSignal } from "../http/_clock.ts";
import { type IRenewal, replaceSession } from "./_usable_session.ts";
import type { IAuthorizeRequest } from "./flow.ts";
import type { IPendingAuthorization } from "./pending_authorization.ts";
import type { ISession } from "./session.ts";

/**
 * The mark of a client during a visit: a server that has forgotten the client may send
 * the user to the same error page each time. A client that is still marked is not used
 * for another sign-in.
 */
export interface IVisitMark {
  write(): Promise<void> | void;
  remove(): Promise<void> | void;
}

/** Checks whether an error says that the server does not know the client. */
export function isClientRefused(error: unknown): boolean {
  return adviceFor(error).action === "reregister";
}

/**
 * Checks whether a visit that has failed has not begun, or goes on elsewhere: a web
 * server may throw an error of its own to redirect its user.
 */
function goesOn(error: unknown): boolean {
  return isOAuthClientError(error)
    ? error.code === "popup_blocked"
    : !(error instanceof Error && error.name === "AbortError");
}

/**
 * Checks whether a sign-in that has failed after the visit shows that the server knows
 * the client. A response without the right `state` may be of another server.
 */
function showsClient(error: unknown): boolean {
  const isOther = isOAuthClientError(error, "invalid_authorization_response");
  return !isOther && !isClientRefused(error);
}

/** Sends the user to the server and finishes the sign-in, with a mark meanwhile. */
export async function visitMarked<C, T>(
  mark: IVisitMark | undefined,
  signal: AbortSignal | undefined,
  visit: () => Promise<C>,
  finish: (callback: C) => Promise<T>,
): Promise<T> {
  await mark?.write();
  let isBack = false;
  let isUsable = true;
  try {
    const callback = await visit();
    isBack = true;
    return await finish(callback);
  } catch (error) {
    isUsable = isBack ? showsClient(error) : goesOn(error);
    throw error;
  } finally {
    // After an abort, another session may be saved, or this session revoked, at any
    // time.
    if (isUsable && !signal?.aborted) await mark?.remove();
  }
}

/** A mark in the store. */
export interface IStoredMark extends IVisitMark {
  /** Waits for the last write: the lock must be held until then. */
  written(): Promise<void> | undefined;
}

/** Returns the mark of the client of a session that is stored, and not marked. */
export function storedMark(session: ISession, renewal: IRenewal): IStoredMark {
  let lastWrite: Promise<void> | undefined;
  const put = (next: ISession) =>
    lastWrite = replaceSession(session, next, renewal).catch(() => {});
  return {
    write: () => put({ ...session, isUserAway: true }),
    remove: () => put(session),
    written: () => lastWrite,
  };
}

/**
 * Writes or removes the mark after a visit that went on elsewhere, after a page was
 * left or in a web server, and ended with an error.
 */
export async function markAfterVisit(
  { client }: IPendingAuthorization,
  error: unknown,
  renewal: IRenewal,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isRefused = isClientRefused(error);
  if (!isRefused && !showsClient(error)) return;
  const { store } = renewal;
  const stored = await underSignal(signal, () => store.load());
  if (stored?.client.client_id !== client.client_id) return;
  const { isUserAway = false, ...session } = stored;
  const isSettled = isUserAway === isRefused;
  if (isSettled || (isRefused && isNamed(stored, renewal))) return;
  const next: ISession = isRefused ? { ...session, isUserAway: true } : session;
  await store.soon(() => replaceSession(stored, next, renewal), signal);
}

/** Checks whether the caller has set the client of a session. */
export function isNamed(
  { issuer, client: { client_id } }: ISession,
  renewal: IRenewal,
): boolean {
  const { context, authorize } = renewal;
  const { knownClients = [] } = authorize ?? {};
  return context.client !== undefined ||
    knownClients.some((known) =>
      known.client_id === client_id && isSameIssuer(known.issuer, issuer)
    );
}

/** What a flow learns from the fetch about the stored registration. */
interface IRegistration {
  /** The mark of the client of the session of the request. */
  readonly mark?: IVisitMark | undefined;
  /** Called before the user sees something. */
  readonly shown?: (() => void) | undefined;
}

/**
 * The member of a context with its registration. A function that wraps a flow passes the
 * context on, or a copy, which has it as well.
 */
const REGISTRATION = /* @__PURE__ */ Symbol("registration");

/** Returns a context with what a flow learns from the fetch. */
export function withRegistration(
  context: IAuthorizationContext,
  registration: IRegistration,
): IAuthorizationContext {
  return Object.assign({ ...context }, { [REGISTRATION]: registration });
}

/** Returns what a flow learns from the fetch. Other callers of a flow pass nothing. */
export function knownRegistrationOf(
  { context }: IAuthorizeRequest,
): IRegistration {
  const { [REGISTRATION]: registration = {} } = context as
    & IAuthorizationContext
    & { [REGISTRATION]?: IRegistration };
  return registration;
}
