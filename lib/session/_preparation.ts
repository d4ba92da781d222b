/** The session that a call starts with. */

import { adviceFor } from "../core/advice.ts";
import { underSignal } from "../http/_clock.ts";
import { isTokenExpired } from "../token/token_request.ts";
import { hasUnsaved, saveAgain } from "./_kept_session.ts";
import { type IUsedSession, tokenOf } from "./_need.ts";
import { type IRenewalOptions, loadSession, renew } from "./_renewal.ts";
import { underLock } from "./_shared_task.ts";
import type { ISession } from "./session.ts";

const MAX_SKEW_SECONDS = 30;

function expires(
  { token }: ISession,
  maxSkewSeconds: number,
  { session: { now } }: IRenewalOptions,
): boolean {
  const { expires_in = Infinity } = token;
  const skewSeconds = Math.min(maxSkewSeconds, expires_in / 4);
  return isTokenExpired(token, { skewSeconds, now });
}

/** Replaces a session that expires; keeps it if that fails and it is still valid. */
async function renewExpiring(
  session: ISession,
  options: IRenewalOptions,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  const need = { refused: tokenOf(session), mayRefresh: true };
  try {
    return await renew(need, options, signal);
  } catch (error) {
    const isLost = adviceFor(error).action === "retry";
    if (!isLost || expires(session, 0, options)) throw error;
    return { session, source: "store" };
  }
}

/** How a call begins. */
export interface IStart {
  /** Whether the call needs a session that is valid. */
  readonly isRequired: boolean;
  /** A token that the resource has refused. */
  readonly refusedToken: string | undefined;
}

/** Returns the session to start with. */
export async function prepare(
  { isRequired, refusedToken }: IStart,
  options: IRenewalOptions,
  signal: AbortSignal | undefined,
): Promise<IUsedSession> {
  const { store } = options;
  if (hasUnsaved(store)) await underLock(store, () => saveAgain(store), signal);
  const session = await underSignal(signal, () => loadSession(options));
  const token = tokenOf(session);
  const isExpiring = session && token &&
    expires(session, MAX_SKEW_SECONDS, options);
  if (isExpiring && (isRequired || session.token.refresh_token)) {
    return await renewExpiring(session, options, signal);
  }
  if (isRequired && (!token || token === refusedToken)) {
    return await renew({ refused: token, mayRefresh: true }, options, signal);
  }
  return { session, source: "store" };
}
