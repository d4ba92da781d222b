import type { AuthorizationDetail } from "../core/types.ts";
import type { Dpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import type { RequestOptions } from "../http/request_options.ts";

/**
 * Options of every request to an endpoint that authenticates the client.
 *
 * @category Messages of the protocol
 */
export interface FormRequestOptions extends RequestOptions {
  /** The client and its credentials; when absent, no `client_id` is added. */
  client?: Client | undefined;
  /** Binds the token to a key. */
  dpop?: Dpop | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
}

/** Options that most token requests share. */
export interface TokenBodyOptions {
  /**
   * Resource indicator (RFC 8707, section 2), as in the authorization request. A string
   * is sent unchanged, a `URL` as its `href`. Omitted when false, undefined or empty.
   */
  resource?: string | URL | false | undefined;
  /**
   * Scope values (RFC 6749, section 3.3), one in each string. Omitted when undefined or
   * empty.
   */
  scopes?: readonly string[] | undefined;
  /**
   * Authorization details (RFC 9396, section 6), sent as JSON. With a code or a refresh
   * token, they can narrow the grant. Omitted when undefined or empty.
   */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined;
  /**
   * Other parameters by name; empty ones are omitted. A name that the request or the
   * client authentication sets is an error.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
}
