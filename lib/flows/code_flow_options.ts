/**
 * Options of {@linkcode codeFlow}, and the arguments of its functions.
 *
 * @module
 */

import type { FlowOptions } from "./flow.ts";
import type { PendingAuthorization } from "./pending_authorization.ts";

/** Options of {@linkcode codeFlow}. */
export interface CodeFlowOptions extends FlowOptions {
  /** Redirect URI, or a function that prepares one. */
  redirectUri:
    | string
    | ((request: RedirectUriRequest) => string | Promise<string>);
  /**
   * Sends the user to the URL and returns the URL that the user was redirected to. The
   * caller of the fetch receives its errors unchanged.
   *
   * A server may have deleted a client that was registered for an earlier sign-in, and
   * show that only to the user. A closed error page looks like a closed consent page.
   * So after an {@linkcode OAuthClientError} such as `timeout` or `popup_closed`, or an
   * `AbortError`, that client is not used again. After `popup_blocked` the visit has
   * not started, and after any other error it continues in another place, such as in
   * another request of a web server: the client is used again.
   */
  visit: (
    url: URL,
    authorization: Visit,
  ) => Promise<string | URL | URLSearchParams | Request>;
  /**
   * Waits until it is the turn of this sign-in to be shown, and returns a function that
   * is called when the sign-in is over. The authorization request is made after the
   * wait, because the `request_uri` of a pushed request expires soon.
   * {@linkcode createLoopbackReceiver} provides this function, so that several sign-ins
   * at the start of a program open one tab at a time.
   *
   * @default {No wait}
   */
  turn?:
    | ((
      request: Pick<Visit, "signal">,
    ) => Promise<() => void | Promise<void>>)
    | undefined;
  /** Accepts a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Rejects an authorization response without `iss` (RFC 9207), also from a server that
   * does not announce it.
   *
   * @default {`authorization_response_iss_parameter_supported` of the server metadata}
   */
  requireIss?: boolean | undefined;
  /**
   * Pushes the authorization request to the server (RFC 9126).
   *
   * @default {`require_pushed_authorization_requests` of the server metadata}
   */
  par?: boolean | undefined;
  /**
   * Sends the redirect URI of the sign-in in a refresh too, for a server that expects
   * it, such as GitLab.
   */
  sendRedirectUriOnRefresh?: boolean | undefined;
}

/**
 * The argument of {@linkcode CodeFlowOptions.redirectUri}.
 *
 * @category Flows
 */
export interface RedirectUriRequest {
  /**
   * Whether the client is your client metadata document. Many servers compare the
   * redirect URI with the document as a string, including the port of a loopback URI.
   */
  isInDocument: boolean;
  /**
   * Whether you have set the client, as `client` or in `knownClients`. The server may
   * accept only the redirect URIs that the client is registered with.
   */
  isNamed: boolean;
  /**
   * The issuer that the user is sent to. If you register a client at each server
   * yourself, return a redirect URI with another path for each issuer: this reveals a
   * response that another server caused (RFC 9700, section 4.4). A query reveals it only
   * while the server returns the query.
   */
  issuer: string;
  /**
   * The redirect URI that the function returned before for this sign-in, if the server
   * rejected to register it, or the client of the session is registered with another
   * one. Return another URI, or the same one to keep it.
   */
  refused?: string | undefined;
  /**
   * Aborts when the sign-in is over, also if it failed before the visit. The redirect
   * URI is then no longer used.
   */
  signal: AbortSignal;
}

/**
 * The second argument of {@linkcode CodeFlowOptions.visit}.
 *
 * @category Flows
 */
export interface Visit {
  /**
   * The argument of {@linkcode finishAuthorization}, in case another process calls it.
   */
  pending: PendingAuthorization;
  /** Aborts when no caller waits any more, and when a session is saved or revoked. */
  signal?: AbortSignal | undefined;
}
