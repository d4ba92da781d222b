/**
 * Events of an authorized fetch, for logs and traces.
 *
 * @module
 */

import type { OAuthClientErrorCode, SignInReason } from "../core/errors.ts";
import type { RequestPurpose } from "./request_options.ts";

/**
 * An event of {@linkcode createAuthorizedFetch}: a plain object without tokens, codes,
 * secrets or queries. `type` is one of these:
 *
 * - `request`: a request to a server or to the resource finished. `status` is
 * undefined if there was no response; `code` then explains why. `durationMs` is
 * rounded.
 * - `uncovered_request`: a request to the origin of the resource was sent without a
 *   token, because its URL is neither the resource nor below it, or belongs to another
 *   API of `apis`. `url` has no path if the store could not be read, because the path could
 *   contain the token.
 * - `discovered`: the authorization server was found.
 * - `registered`: a client was registered.
 * - `sign_in_started`, `sign_in_finished`: a user was prompted to sign in; a user has
 *   signed in.
 * - `refresh_token_missing`: the server issued no refresh token, although the scope
 *   `offline_access` was requested: the user will have to sign in again when the token
 *   expires. `message` says what may help.
 * - `refreshed`: a token was refreshed.
 * - `save_failed`: the store could not save a session, or delete it. `code` is the code
 *   of the store's error, or else its name; not its message, which may contain the
 *   session. The session is used from memory. The library tries to save it four more
 *   times in four seconds, then with each call. Until that succeeds, the session is
 *   lost if the process ends.
 * - `session_dropped`: the tokens of a session, or the whole session, were deleted
 *   after an error; `code` is the error code of the server, or else of the library, and
 *   `message` the message of the error.
 * - `token_refused`: the resource rejected a token that was just obtained or refreshed;
 *   `error` and `error_description` come from its challenge.
 * - `step_up`: the resource requires more scopes, or another authentication.
 * - `sharing_refused`: the server rejects one sign-in for several APIs: `resource` signs
 *   in by itself. `code` is the error code of the server.
 *
 * With several APIs that share a sign-in, each event has the `resource` of its API.
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
    /** Set if several APIs share the sign-in: which of them. */
    resource?: string;
  };

/**
 * Receives events. Errors that it throws or rejects with are ignored.
 *
 * @category Sessions
 */
export type OnEvent = (event: AuthorizedFetchEvent) => unknown;

type WithAbsent<Event> = Event extends unknown
  ? { readonly [Name in keyof Event]: Event[Name] | undefined }
  : never;

/** An event before it is passed on: members that are undefined are left out. */
export type EventToEmit = WithAbsent<AuthorizedFetchEvent>;
