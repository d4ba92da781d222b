/**
 * The one error class of this library and the codes it carries.
 *
 * @module
 */

/**
 * Stable codes of {@linkcode OAuthClientError}. A message may be reworded
 * between versions where no contract fixes it; a code is not.
 *
 * - `invalid_argument`: an argument has the wrong type, is empty, or is no URL.
 * - `invalid_challenge`: a `WWW-Authenticate` header cannot be read.
 * - `invalid_jwt`: a JWT cannot be decoded.
 * - `invalid_metadata`: a metadata document has a member of the wrong kind.
 * - `identifier_mismatch`: a document speaks of somebody else.
 * - `unexpected_status`: the reply's status is not the one that brings an answer.
 * - `invalid_response`: the status is right and the content is not.
 * - `server_error`: the server named an OAuth error; it stands in `error`.
 * - `unsupported`: the server lacks an endpoint or a capability.
 * - `network_error`: no reply came, or it broke off.
 * - `timeout`: the reply, body included, took longer than `timeoutMs`.
 * - `response_too_large`: the body is larger than `maxBytes`.
 * - `redirect_refused`: the reply is a redirect that is not followed.
 * - `url_refused`: an address is not one that a request, or a user, may be sent to.
 * - `discovery_failed`: no address led to usable metadata; see `attempts`.
 * - `invalid_authorization_response`: the redirect back is not an answer to the
 *   request: another `state`, no `code`, or a parameter twice.
 * - `issuer_mismatch`: a message comes from, or was meant for, another issuer.
 * - `expired`: the user took longer than the device code lives.
 * - `invalid_id_jag`: an ID-JAG is not what was asked for.
 */
export type OAuthClientErrorCode =
  | "invalid_argument"
  | "invalid_challenge"
  | "invalid_jwt"
  | "invalid_metadata"
  | "identifier_mismatch"
  | "unexpected_status"
  | "invalid_response"
  | "server_error"
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
  | "invalid_id_jag";

/** What an {@linkcode OAuthClientError} tells beside its message. */
export interface IOAuthClientErrorDetails {
  /** The address that was asked. */
  readonly url?: string | undefined;
  /** HTTP status of the reply. */
  readonly status?: number | undefined;
  /** The server's own error code (RFC 6749, section 5.2). */
  readonly error?: string | undefined;
  /** The server's explanation of its error code. */
  readonly error_description?: string | undefined;
  /** Address of a page about the server's error code. */
  readonly error_uri?: string | undefined;
  /** Whole seconds until a retry is welcome, from `Retry-After`. */
  readonly retryAfter?: number | undefined;
  /** The whole body of the server's refusal, as an object. */
  readonly errorResponse?: Readonly<Record<string, unknown>> | undefined;
  /** Every address that a discovery tried, in order. */
  readonly attempts?: readonly IDiscoveryAttempt[] | undefined;
  /** What led to this error. */
  readonly cause?: unknown;
}

/** One address that a discovery tried. */
export interface IDiscoveryAttempt {
  /** The address, as it was requested. */
  readonly url: string;
  /** Why nothing came of it; undefined for the address that answered. */
  readonly error?: Error | undefined;
}

/**
 * Every failure that this library finds: an `Error` with a stable
 * {@linkcode OAuthClientError.code | code} and what is known of the exchange.
 * Neither the message nor a member ever holds a token, secret, code, assertion
 * or verifier of at least four characters that the caller passed in, nor what a
 * header field such as `Authorization`, `Cookie` or `X-Api-Key` carried, however
 * the server spelt it. `cause` is what your own fetch threw, as it threw it.
 *
 * Two failures are not of this class: an aborted operation ends with the reason
 * of the caller's signal, and several failed attempts come as one
 * `AggregateError` that holds them.
 *
 * @example Tell a server's refusal from a broken network
 * ```ts
 * import { OAuthClientError } from "@oauth-helper/client";
 *
 * function explain(failure: unknown): string {
 *   if (!(failure instanceof OAuthClientError)) throw failure;
 *   return failure.code === "server_error"
 *     ? `${failure.url} refused: ${failure.error}`
 *     : `${failure.code}: ${failure.message}`;
 * }
 * console.log(explain(new OAuthClientError("network_error", "Cable cut")));
 * ```
 */
export class OAuthClientError extends Error {
  /** `"OAuthClientError"`. */
  override readonly name = "OAuthClientError";
  /** What kind of failure this is. */
  readonly code: OAuthClientErrorCode;
  /** The address that was asked, without credentials. */
  declare readonly url?: string;
  /** HTTP status of the reply. */
  declare readonly status?: number;
  /** The server's own error code (RFC 6749, section 5.2). */
  declare readonly error?: string;
  /** The server's explanation of its error code. */
  declare readonly error_description?: string;
  /** Address of a page about the server's error code. */
  declare readonly error_uri?: string;
  /** Whole seconds until a retry is welcome, from `Retry-After`. */
  declare readonly retryAfter?: number;
  /** The whole body of the server's refusal, as an object. */
  declare readonly errorResponse?: Readonly<Record<string, unknown>>;
  /** Every address that a discovery tried, in order. */
  declare readonly attempts?: readonly IDiscoveryAttempt[];

  /**
   * Makes an error; members that are undefined are left out.
   *
   * @param code What kind of failure this is.
   * @param message What failed, where, and what was expected.
   * @param details What is known of the exchange.
   */
  constructor(
    code: OAuthClientErrorCode,
    message: string,
    details: IOAuthClientErrorDetails = {},
  ) {
    const { cause, ...rest } = details;
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    for (const [name, value] of Object.entries(rest)) {
      if (value !== undefined) Object.assign(this, { [name]: value });
    }
  }
}
