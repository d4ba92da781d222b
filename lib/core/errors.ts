import type { DiscoveryAttempt, Hint } from "./error_parts.ts";

export type { DiscoveryAttempt, Hint, HintOption } from "./error_parts.ts";

/**
 * Codes of {@linkcode OAuthClientError}. Messages may change between versions; codes do
 * not.
 *
 * - `invalid_argument`: an argument is empty, or is not the string, URL, scope value,
 *   header field or limit that is expected. TypeScript alone checks some types; a wrong
 *   value then causes an error of JavaScript.
 * - `invalid_jwt`: a JWT cannot be decoded.
 * - `invalid_metadata`: a metadata document is malformed.
 * - `identifier_mismatch`: a document's `resource` or `issuer` is not the expected one.
 * - `unexpected_status`: the response status is not the expected one.
 * - `invalid_response`: a response with the expected status is unusable.
 * - `oauth_error`: the server returned an OAuth error code; see `error`.
 * - `unsupported`: the server lacks an endpoint or a capability, or requires one that
 *   this library lacks.
 * - `network_error`: there was no response, or it was incomplete.
 * - `timeout`: the exchange or the user's sign-in took longer than `timeoutMs`.
 * - `response_too_large`: the response body is larger than `maxBytes`.
 * - `redirect_refused`: the response is a redirect that must not be followed.
 * - `url_refused`: a URL must not be used for a request or for the user's browser.
 * - `discovery_failed`: no URL returned usable metadata; see `attempts`.
 * - `invalid_authorization_response`: the authorization response does not match the
 *   request: another `state`, no `code`, or a repeated parameter.
 * - `issuer_mismatch`: a response or credentials belong to another issuer.
 * - `expired`: the device code, or the caller's token for {@linkcode exchangeFlow},
 *   expired. On a web server, the callback does not match a sign-in that this browser
 *   started.
 * - `invalid_id_jag`, `invalid_id_token`: the token is malformed, expired, or does not
 *   match the request.
 * - `invalid_session`: a stored value is not a session, or has another version; see
 *   `sessionVersion`.
 * - `popup_blocked`: the browser opened no popup, because there was no click.
 * - `popup_closed`: the user closed the popup, or left the page that opened it.
 * - `redirected`: the user left the page for the server; the sign-in continues when the
 *   user comes back.
 * - `sign_in_required`: the user must sign in, but no sign-in starts, because of
 *   `signInOn: "signIn"` or an unfinished sign-in. See `signInReason`, `scopes`,
 *   `resource` and `issuer`.
 *
 * @category Errors
 */
export type OAuthClientErrorCode =
  | "invalid_argument"
  | "invalid_jwt"
  | "invalid_metadata"
  | "identifier_mismatch"
  | "unexpected_status"
  | "invalid_response"
  | "oauth_error"
  | "unsupported"
  | "network_error"
  | "timeout"
  | "response_too_large"
  | "redirect_refused"
  | "url_refused"
  | "discovery_failed"
  | "invalid_authorization_response"
  | "issuer_mismatch"
  | "expired"
  | "invalid_id_jag"
  | "invalid_id_token"
  | "invalid_session"
  | "popup_blocked"
  | "popup_closed"
  | "redirected"
  | "sign_in_required";

/**
 * Why there was no response, if the runtime reports it. Browsers do not.
 *
 * - `connection_refused`: nothing listens at the port.
 * - `host_not_found`: the host name has no address.
 * - `certificate_expired`: the server's certificate has expired.
 * - `certificate`: the certificate is invalid for another reason, such as an unknown
 *   authority or another host name.
 *
 * @category Errors
 */
export type NetworkReason =
  | "connection_refused"
  | "host_not_found"
  | "certificate"
  | "certificate_expired";

/**
 * Why a user must sign in.
 *
 * - `no_session`: there is no session.
 * - `refused`: the resource rejected the token.
 * - `expired`: the token has expired, and there is no refresh token.
 * - `refresh_failed`: the server rejected the refresh token.
 * - `step_up`: the resource requires more scopes or another authentication.
 * - `fresh`: the caller requires a new sign-in.
 *
 * @category Errors
 */
export type SignInReason =
  | "no_session"
  | "refused"
  | "expired"
  | "refresh_failed"
  | "step_up"
  | "fresh";

/**
 * The rejected request, if the advice of {@linkcode adviceFor} depends on it.
 *
 * - `refresh`: a token request with a refresh token.
 * - `registration`: the registration of a client.
 * - `silent_authorization`: an authorization request with `prompt=none`.
 * - `assertion`: a token request with a JWT assertion, or a token exchange.
 * - `authorization`: a request before the user is prompted, such as a pushed
 *   authorization request.
 *
 * @category Errors
 */
export type OAuthClientErrorRequest =
  | "refresh"
  | "registration"
  | "silent_authorization"
  | "assertion"
  | "authorization";

/**
 * The details of an {@linkcode OAuthClientError}.
 *
 * @category Errors
 */
export interface OAuthClientErrorDetails {
  /** URL of the request, without credentials. */
  readonly url?: string | undefined;
  /** HTTP status of the response. */
  readonly status?: number | undefined;
  /** Why there was no response, in a `network_error`, if the runtime reports it. */
  readonly networkReason?: NetworkReason | undefined;
  /** Why the user has to sign in, in a `sign_in_required`. */
  readonly signInReason?: SignInReason | undefined;
  /** Version of the stored session, in an `invalid_session`, if it is not 1. */
  readonly sessionVersion?: number | undefined;
  /** Scopes that a `sign_in_required` is for, where known. */
  readonly scopes?: readonly string[] | undefined;
  /** URL of the resource that a `sign_in_required` is for. */
  readonly resource?: string | undefined;
  /** Issuer of the server that a `sign_in_required` is for, where known. */
  readonly issuer?: string | undefined;
  /** The rejected request, if the advice depends on it. */
  readonly request?: OAuthClientErrorRequest | undefined;
  /**
   * Error code of the server (RFC 6749, section 5.2); `invalid_client` also for a 401
   * with a Basic challenge and without a code.
   */
  readonly error?: string | undefined;
  /** Description of the error code by the server. */
  readonly error_description?: string | undefined;
  /** URL of a page about the error code. */
  readonly error_uri?: string | undefined;
  /** Seconds to wait before a retry, from `Retry-After`; a day at most. */
  readonly retryAfterSeconds?: number | undefined;
  /**
   * Members of the error response, without tokens; `{}` if a token request was rejected
   * with an empty body or `{}`.
   */
  readonly errorResponse?: Readonly<Record<string, unknown>> | undefined;
  /** Every URL that a discovery requested, in order. */
  readonly attempts?: readonly DiscoveryAttempt[] | undefined;
  /** Options that may fix it: the message ends with ` (text)` for each. */
  readonly hints?: readonly Hint[] | undefined;
  /** The cause of this error. */
  readonly cause?: unknown;
}

/**
 * The error that this library throws, with a stable
 * {@linkcode OAuthClientError.code | code}.
 *
 * Neither the message nor a member contains a sent secret of at least 8 characters,
 * such as a token, code or cookie. `cause` is the error that your own `fetch` threw.
 *
 * @example Distinguish an error response from a network failure
 * ```ts
 * import { OAuthClientError } from "@oauth-helper/client";
 *
 * function explain(error: unknown): string {
 *   if (!(error instanceof OAuthClientError)) throw error;
 *   return error.code === "oauth_error" ? `${error.error}` : error.message;
 * }
 * ```
 * @category Errors
 */
export class OAuthClientError extends Error {
  /** `"OAuthClientError"`. */
  override readonly name = "OAuthClientError";
  /** The kind of failure. */
  readonly code: OAuthClientErrorCode;
  /** URL of the request, without credentials. */
  declare readonly url?: string;
  /** HTTP status of the response. */
  declare readonly status?: number;
  /** Why there was no response, in a `network_error`, if the runtime reports it. */
  declare readonly networkReason?: NetworkReason;
  /** Why the user has to sign in, in a `sign_in_required`. */
  declare readonly signInReason?: SignInReason;
  /** Version of the stored session, in an `invalid_session`, if it is not 1. */
  declare readonly sessionVersion?: number;
  /** Scopes that a `sign_in_required` is for, where known. */
  declare readonly scopes?: readonly string[];
  /** URL of the resource that a `sign_in_required` is for. */
  declare readonly resource?: string;
  /** Issuer of the server that a `sign_in_required` is for, where known. */
  declare readonly issuer?: string;
  /** The rejected request, if the advice depends on it. */
  declare readonly request?: OAuthClientErrorRequest;
  /**
   * Error code of the server (RFC 6749, section 5.2); `invalid_client` also for a 401
   * with a Basic challenge and without a code.
   */
  declare readonly error?: string;
  /** Description of the error code by the server. */
  declare readonly error_description?: string;
  /** URL of a page about the error code. */
  declare readonly error_uri?: string;
  /** Seconds to wait before a retry, from `Retry-After`; a day at most. */
  declare readonly retryAfterSeconds?: number;
  /**
   * Members of the error response, without tokens; `{}` if a token request was rejected
   * with an empty body or `{}`.
   */
  declare readonly errorResponse?: Readonly<Record<string, unknown>>;
  /** Every URL that a discovery requested, in order. */
  declare readonly attempts?: readonly DiscoveryAttempt[];
  /** Options that may fix it: the message ends with ` (text)` for each. */
  declare readonly hints?: readonly Hint[];

  /**
   * Creates an error. Details that are undefined are omitted.
   *
   * @param code The kind of failure.
   * @param message The failed action, the URL, the actual and the expected response.
   * @param details The details of the exchange.
   */
  constructor(
    code: OAuthClientErrorCode,
    message: string,
    details?: OAuthClientErrorDetails,
  ) {
    const { cause, ...rest } = details ?? {};
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    for (const [name, value] of Object.entries(rest)) {
      if (value !== undefined) (this as Record<string, unknown>)[name] = value;
    }
  }

  /** Returns the members and the message, without the `cause` and the stack. */
  toJSON(): Record<string, unknown> {
    return { ...(this as object), message: this.message };
  }
}

/**
 * Checks whether a value is an {@linkcode OAuthClientError} with a code.
 *
 * @category Errors
 */
export function isOAuthClientError<Code extends OAuthClientErrorCode>(
  value: unknown,
  code: Code,
): value is OAuthClientError & { readonly code: Code };
/**
 * Checks whether a value is an {@linkcode OAuthClientError}, even from another copy of
 * this library.
 *
 * @example Label a button
 * ```ts
 * import { isOAuthClientError } from "@oauth-helper/client";
 *
 * function labelFor(error: unknown): string | undefined {
 *   if (!isOAuthClientError(error, "sign_in_required")) return undefined;
 *   return error.signInReason === "step_up" ? "Allow more" : "Sign in";
 * }
 * ```
 * @category Errors
 */
export function isOAuthClientError(value: unknown): value is OAuthClientError;
export function isOAuthClientError(value: unknown, code?: unknown): boolean {
  return value instanceof Error && value.name === "OAuthClientError" &&
    // As a callback, it receives an index.
    (typeof code !== "string" || (value as OAuthClientError).code === code);
}
