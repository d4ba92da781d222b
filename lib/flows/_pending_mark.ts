import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";

/**
 * Marks a client while its authorization is pending. A server that deleted the client
 * may show the user the same error page each time. So the next sign-in does not use a
 * marked client.
 */
export interface PendingMark {
  write(): Promise<void> | void;
  remove(): Promise<void> | void;
}

export function isClientRefused(error: unknown): boolean {
  return adviceFor(error).action === "reregister";
}

/**
 * Checks whether an authorization was not requested or is still pending. For example, a
 * web server may throw its own error to redirect its user.
 */
function mayStillFinish(error: unknown): boolean {
  return isOAuthClientError(error)
    ? /^(popup_blocked|sign_in_required)$/.test(error.code)
    : !(error instanceof Error && error.name === "AbortError");
}

/**
 * Checks whether a failed sign-in shows that the server knows the client. A response
 * without the right `state` may come from another server.
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
