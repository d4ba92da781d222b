/**
 * What happens within an authorized fetch, for logs and traces.
 *
 * @module
 */

import { quote } from "../core/_quote.ts";
import type { OAuthClientErrorCode } from "../core/errors.ts";
import type { RequestPurpose } from "./request_options.ts";

/** Why a user is asked to sign in. */
export type SignInReason =
  | "no_session"
  | "refused"
  | "expired"
  | "step_up"
  | "fresh";

/**
 * An event of {@linkcode createAuthorizedFetch}: a plain object without tokens, codes,
 * secrets and queries. `type` is one of these:
 *
 * - `request`: a request has ended, also one to the resource. `status` is undefined if
 *   there was no response, and `code` then says why.
 * - `uncovered_request`: a request to the origin of the resource went out without a
 *   token, as its URL is neither the resource nor below it.
 * - `discovered`: the authorization server was found.
 * - `registered`: a client was registered.
 * - `sign_in_started`, `sign_in_finished`: a user was asked for, and has signed in.
 * - `refreshed`: a token was refreshed.
 * - `session_dropped`: the tokens of a session, or all of it, were deleted after an
 *   error; `code` is the error code of the server, or else that of the library, and
 *   `message` that of the error.
 * - `step_up`: the resource requires more scopes, or another authentication.
 * - `waiting`: another process or tab has held the lock of the store for a second;
 *   `pid` is its process, where the store knows it.
 */
export type AuthorizedFetchEvent =
  | {
    type: "request";
    purpose: RequestPurpose;
    method: string;
    url: string;
    status?: number;
    durationMs: number;
    code?: OAuthClientErrorCode | "error";
  }
  | { type: "uncovered_request"; method: string; url: string }
  | {
    type: "discovered";
    issuer: string;
    source: "resource_metadata" | "option" | "fallback";
  }
  | { type: "registered"; issuer: string; clientId: string }
  | { type: "sign_in_started"; issuer: string; reason: SignInReason }
  | {
    type: "sign_in_finished";
    issuer: string;
    scopes: string[];
    expires_at?: number;
    refresh_expires_at?: number;
  }
  | {
    type: "refreshed";
    issuer: string;
    expires_at?: number;
    refresh_expires_at?: number;
  }
  | { type: "session_dropped"; issuer: string; code: string; message: string }
  | { type: "step_up"; scopes?: string[]; acrValues?: string; maxAge?: number }
  | { type: "waiting"; pid?: number };

/** Receives events. What it throws, or rejects with, is ignored. */
export type OnEvent = (event: AuthorizedFetchEvent) => unknown;

/** Members with text of a server, which may repeat what it has received. */
const SERVER_TEXT = /^(issuer|url|clientId|scopes|acrValues|message)$/;

/**
 * Passes an event on, without what has been sent; a failure is that of the receiver.
 *
 * @param secrets The values that servers have received.
 */
export function emit(
  onEvent: OnEvent | undefined,
  event: AuthorizedFetchEvent,
  secrets: readonly string[] = [],
): void {
  if (!onEvent) return;
  const clean = (text: unknown) =>
    typeof text === "string" ? quote(text, secrets) : text;
  const members = Object.entries(event).map(([name, value]) => [
    name,
    SERVER_TEXT.test(name)
      ? Array.isArray(value) ? value.map(clean) : clean(value)
      : value,
  ]);
  try {
    Promise.resolve(onEvent(Object.fromEntries(members))).catch(() => {});
  } catch {
    // See above.
  }
}
