/** The mark of a client while its user is at a page of the server. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";

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
 * Checks whether a visit that has failed has not started, or goes on elsewhere: a web
 * server may throw an error of its own to redirect its user.
 */
function goesOn(error: unknown): boolean {
  return isOAuthClientError(error)
    ? /^(popup_blocked|sign_in_required)$/.test(error.code)
    : !(error instanceof Error && error.name === "AbortError");
}

/**
 * Checks whether a sign-in that has failed after the visit shows that the server knows
 * the client. A response without the right `state` may be of another server.
 */
export function showsClient(error: unknown): boolean {
  const isOther = isOAuthClientError(error, "invalid_authorization_response");
  return !isOther && !isClientRefused(error);
}

/** Sends the user to the server and finishes the sign-in, with a mark meanwhile. */
export async function visitMarked<C, T>(
  visit: () => Promise<C>,
  finish: (callback: C) => Promise<T>,
  { mark, signal }: {
    readonly mark: IVisitMark | undefined;
    readonly signal: AbortSignal | undefined;
  },
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
