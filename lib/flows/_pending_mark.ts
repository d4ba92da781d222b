/** The mark of a client while an authorization is pending: its user is at the server. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";

/**
 * Marks a client while an authorization is pending: a server that has forgotten the client
 * may show the user the same error page each time. A client that is still marked is not
 * used for another sign-in.
 */
export interface PendingMark {
  write(): Promise<void> | void;
  remove(): Promise<void> | void;
}

export function isClientRefused(error: unknown): boolean {
  return adviceFor(error).action === "reregister";
}

/**
 * Checks whether an authorization whose page has failed was not requested, or is still
 * pending: a web server may throw an error of its own to redirect its user.
 */
function mayStillFinish(error: unknown): boolean {
  return isOAuthClientError(error)
    ? /^(popup_blocked|sign_in_required)$/.test(error.code)
    : !(error instanceof Error && error.name === "AbortError");
}

/**
 * Checks whether a sign-in that has failed after the authorization response shows that the
 * server knows the client. A response without the right `state` may be of another server.
 */
export function showsClient(error: unknown): boolean {
  const isOther = isOAuthClientError(error, "invalid_authorization_response");
  return !isOther && !isClientRefused(error);
}

export async function withPendingMark<C, T>(
  visit: () => Promise<C>,
  finish: (callback: C) => Promise<T>,
  { mark, signal }: {
    readonly mark: PendingMark | undefined;
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
    isUsable = isBack ? showsClient(error) : mayStillFinish(error);
    throw error;
  } finally {
    // After an abort, another session may be saved, or this session revoked, at any
    // time.
    if (isUsable && !signal?.aborted) await mark?.remove();
  }
}
