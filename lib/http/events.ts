/**
 * Events of an authorized fetch, for logs and traces.
 *
 * @module
 */

import type { OAuthClientErrorCode, SignInReason } from "../core/errors.ts";
import type { RequestPurpose } from "./request_options.ts";

/**
 * An event of {@linkcode createAuthorizedFetch}: a plain object without tokens, codes,
 * secrets or queries. Its `type` is one of these:
 *
 * - `request`: a request to a server or the resource finished. Without a response,
 *   `status` is undefined and `code` explains why. `durationMs` is rounded.
 * - `uncovered_request`: a request to the resource's origin was sent without a token,
 *   because the token does not cover its URL. `url` omits the path if the store could
 *   not be read, because the path could contain the token.
 * - `discovered`: the authorization server was found.
 * - `registered`: a client was registered.
 * - `sign_in_started`, `sign_in_finished`: the user was prompted; the user signed in.
 * - `refresh_token_missing`: the server issued no refresh token despite
 *   `offline_access`. The user must sign in again when the token expires. `message`
 *   names the fix.
 * - `refreshed`: a token was refreshed.
 * - `save_failed`: the store could not save or delete a session. `code` is the error's
 *   code or name; its message may contain the session. Calls use the session from
 *   memory. The library retries four times in four seconds, then with each call. Until
 *   that succeeds, the session is lost if the process ends.
 * - `session_dropped`: an error deleted tokens or the whole session. `code` is the
 *   server's or the library's error code, `message` the error's message.
 * - `token_refused`: the resource rejected a new token; `error` and `error_description`
 *   come from its challenge.
 * - `step_up`: the resource requires more scopes, or another authentication.
 * - `sharing_refused`: the server rejects one sign-in for several APIs: `resource`
 *   needs a separate sign-in. `code` is the server's error code.
 *
 * If several APIs share a sign-in, each event carries its API's `resource`.
 *
 * @category Sessions
 */
export type AuthorizedFetchEvent =
  & (
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
    | { type: "registered"; issuer: string; client_id: string }
    | { type: "sign_in_started"; issuer: string; reason: SignInReason }
    | {
      type: "sign_in_finished";
      issuer: string;
      scopes: string[];
      expires_at?: number;
      refresh_expires_at?: number;
    }
    | { type: "refresh_token_missing"; issuer: string; message: string }
    | { type: "save_failed"; issuer: string; code: string }
    | {
      type: "refreshed";
      issuer: string;
      expires_at?: number;
      refresh_expires_at?: number;
    }
    | { type: "session_dropped"; issuer: string; code: string; message: string }
    | {
      type: "token_refused";
      method: string;
      url: string;
      status: number;
      error?: string;
      error_description?: string;
    }
    | {
      type: "step_up";
      scopes?: string[];
      acr_values?: string;
      max_age?: number;
    }
    | { type: "sharing_refused"; issuer: string; code: string }
  )
  & {
    /** The API of the event, if several share a sign-in. */
    resource?: string;
  };

/**
 * Receives events. Its own errors are ignored.
 *
 * @category Sessions
 */
export type OnEvent = (event: AuthorizedFetchEvent) => unknown;

type WithAbsent<Event> = Event extends unknown
  ? { readonly [Name in keyof Event]: Event[Name] | undefined }
  : never;

/** An event that may contain undefined members. */
export type EventToEmit = WithAbsent<AuthorizedFetchEvent>;
