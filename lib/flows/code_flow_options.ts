import type { FlowOptions } from "./flow.ts";
import type { PendingAuthorization } from "./pending_authorization.ts";

/** Options of {@linkcode codeFlow}. */
export interface CodeFlowOptions extends FlowOptions {
  /** Redirect URI, or a function that prepares one. */
  redirectUri:
    | string
    | ((request: RedirectUriRequest) => string | Promise<string>);
  /**
   * Sends the user to the URL and returns the URL that the user was redirected to.
   * Calls throw its errors unchanged.
   *
   * A server may have deleted a registered client, and report that to the user only. A
   * closed error page looks like a closed consent page. So after an
   * {@linkcode OAuthClientError} such as `timeout` or `popup_closed`, or an
   * `AbortError`, the client is not used again. It is used again after `popup_blocked`,
   * because no page opened, and after any other error, because the sign-in may
   * continue, such as in another request of a web server.
   */
  visit: (
    url: URL,
    authorization: Visit,
  ) => Promise<string | URL | URLSearchParams | Request>;
  /**
   * Waits for this sign-in's turn, and returns a function that is called when the
   * sign-in is over. The authorization request is made after the wait, because a pushed
   * `request_uri` expires soon. {@linkcode createLoopbackReceiver} provides this
   * function, so that a program opens one tab at a time.
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
   * Rejects an authorization response without `iss` (RFC 9207), even if the server does
   * not announce it.
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
   * Sends the redirect URI in a refresh too, for a server that expects it, such as
   * GitLab.
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
   * redirect URI with the document as a string, including a loopback port.
   */
  isInDocument: boolean;
  /**
   * Whether you set the client, as `client` or in `knownClients`. The server may accept
   * only its registered redirect URIs.
   */
  isNamed: boolean;
  /**
   * The server's issuer. If you register a client at each server yourself, return a
   * different path for each issuer: this reveals a response that another server caused
   * (RFC 9700, section 4.4). Some servers do not return a query.
   */
  issuer: string;
  /**
   * The redirect URI that the function returned before, if the server rejected it, or
   * the session's client is registered with another one. Return another URI, or the
   * same one to keep it.
   */
  refused?: string | undefined;
  /**
   * Aborts when the sign-in is over, even if no page opened. The redirect URI is then
   * no longer used.
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
  /** Aborts when no caller waits, and when a session is saved or revoked. */
  signal?: AbortSignal | undefined;
}
