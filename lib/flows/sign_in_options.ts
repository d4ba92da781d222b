import type { Client } from "../client/known_client.ts";
import type { Dpop } from "../client/dpop.ts";
import type { AuthorizationDetail } from "../core/types.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { StoredSession } from "../session/session.ts";
import type { SharedSignIn } from "./shared_apis.ts";

/**
 * Options of {@linkcode startAuthorization}.
 *
 * @category Sessions
 */
export interface StartAuthorizationOptions
  extends Omit<RequestOptions, "headers"> {
  /**
   * The client, for example from {@linkcode ensureClient}. Pass a client with its own
   * authentication to {@linkcode finishAuthorization} again.
   */
  client: Client;
  /** Redirect URI, which receives the authorization response. */
  redirectUri: string | URL;
  /**
   * Scopes to request; when absent, the context's scopes. If they contain `openid`, the
   * ID token must be valid. If only the context contains `openid`, an invalid ID token
   * is omitted from the session.
   */
  scopes?: readonly string[] | undefined;
  /** Adds the scope `offline_access` if the server lists it. */
  offlineAccess?: boolean | undefined;
  /**
   * The user's previous session. If it should contain a refresh token but does not, the
   * request contains `prompt=consent`: some servers issue refresh tokens only then.
   */
  session?: Pick<StoredSession, "scopes" | "token"> | null | undefined;
  /**
   * From `sharedSignIn`: several APIs share the sign-in, and `session` is the previous
   * session of an API. Finish it with the `finish` of a fetch with this option.
   */
  apis?: SharedSignIn | undefined;
  /** Authorization details to request (RFC 9396). */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined;
  /** Other parameters, such as `prompt` or `login_hint`. */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * Pushes the request to the server (RFC 9126).
   *
   * @default {`require_pushed_authorization_requests` of the server metadata}
   */
  par?: boolean | undefined;
  /**
   * The resource indicator to send, if the server knows the resource by another name;
   * `false` for a server that rejects `resource`. Only the discovered resource receives
   * the token.
   *
   * @default {the resource of the discovery}
   */
  resourceIndicator?: string | URL | false | undefined;
  /** Sends the session's scopes in a refresh too, for a server that requires them. */
  sendScopeOnRefresh?: boolean | undefined;
  /**
   * Other parameters of token requests and refreshes, which the session keeps. They
   * never replace a parameter that such a request sets.
   */
  tokenParameters?: Readonly<Record<string, string>> | undefined;
  /** Sends the redirect URI in a refresh too, for a server that requires it. */
  sendRedirectUriOnRefresh?: boolean | undefined;
  /** Binds the authorization code to a key (RFC 9449, section 10). */
  dpop?: Dpop | undefined;
  /** Accepts a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Rejects an authorization response without `iss`, even if the server does not
   * announce it. If other servers know the client's identifier, as with a client
   * metadata document, only `iss` shows which server issued a code.
   *
   * @default {`authorization_response_iss_parameter_supported` of the server metadata}
   */
  requireIss?: boolean | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}
