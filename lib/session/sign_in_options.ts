/**
 * Options of {@linkcode startAuthorization}.
 *
 * @module
 */

import type { Client } from "../client/known_client.ts";
import type { IDpop } from "../client/dpop.ts";
import type { IAuthorizationDetail } from "../core/types.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import type { ISession } from "./session.ts";

/**
 * Options of {@linkcode startAuthorization}.
 *
 * @category Sessions
 */
export interface IStartAuthorizationOptions
  extends Omit<IRequestOptions, "headers"> {
  /**
   * The client, for example from {@linkcode ensureClient}. A client with its own
   * authentication is passed to {@linkcode finishAuthorization} again.
   */
  client: Client;
  /** Redirect URI, which receives the authorization response. */
  redirectUri: string | URL;
  /**
   * Scopes to request; those of the context when absent. If this option contains
   * `openid`, the ID token has to be valid; if only the context requests it, an ID
   * token that is not valid is left out of the session.
   */
  scopes?: readonly string[] | undefined;
  /** Adds the scope `offline_access` if the server lists it. */
  offlineAccess?: boolean | undefined;
  /**
   * The former session of the user, if there is one. If it should have a refresh token
   * but has none, the request has `prompt=consent`: some servers issue refresh tokens
   * only then.
   */
  session?: Pick<ISession, "scopes" | "token"> | null | undefined;
  /** Authorization details to request (RFC 9396). */
  authorizationDetails?: readonly IAuthorizationDetail[] | undefined;
  /** Further parameters, such as `prompt` or `login_hint`. */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * Pushes the request to the server (RFC 9126).
   *
   * @default {`require_pushed_authorization_requests` of the server metadata}
   */
  par?: boolean | undefined;
  /**
   * The resource indicator to send, where the server knows the resource by another
   * name; `false` for a server that rejects the `resource` parameter. The token is
   * sent to the resource of the discovery only, whatever is named here.
   *
   * @default {the resource of the discovery}
   */
  resource?: string | URL | false | undefined;
  /**
   * Sends the scopes of the session in a refresh too, for a server that requires them.
   */
  refreshScope?: boolean | undefined;
  /**
   * Further parameters of the token request and of refreshes, which are kept in the
   * session. A parameter that such a request sets itself is not replaced.
   */
  tokenParameters?: Readonly<Record<string, string>> | undefined;
  /** Sends the redirect URI in a refresh too, for a server that requires it. */
  refreshRedirectUri?: boolean | undefined;
  /** Binds the authorization code to a key (RFC 9449, section 10). */
  dpop?: IDpop | undefined;
  /** Accepts a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Refuses an authorization response without `iss`, also from a server that does not
   * announce it. For a client whose identifier other servers can know, such as one with
   * a client metadata document, only `iss` shows which server has issued a code.
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
