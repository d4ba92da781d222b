import type { AuthorizationDetail } from "../core/types.ts";

/**
 * The parameters that {@linkcode buildAuthorizationUrl} and
 * {@linkcode pushAuthorizationRequest} send in addition to the `client_id`.
 *
 * @category Messages of the protocol
 */
export interface AuthorizationParameters {
  /** Redirect URI, which receives the authorization response. */
  redirectUri: string | URL;
  /** From {@linkcode createState}. */
  state: string;
  /** From {@linkcode createPkcePair}. */
  codeChallenge: string;
  /** Scopes to request; if undefined or empty, the server chooses. */
  scopes?: readonly string[] | undefined;
  /**
   * Resource indicator (RFC 8707), byte for byte as in the resource's metadata, or a
   * `URL`; `false` for a server that rejects the parameter. A list for several
   * resources, of which each token request names one.
   */
  resource?: string | URL | readonly (string | URL)[] | false | undefined;
  /** Authorization details (RFC 9396), sent as JSON; omitted if empty. */
  authorizationDetails?: readonly AuthorizationDetail[] | undefined;
  /** Other parameters, such as `prompt`; none may be one of the above. */
  parameters?: Readonly<Record<string, string>> | undefined;
}
