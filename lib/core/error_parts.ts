/**
 * An option of this library, or a function that makes one.
 *
 * @category Errors
 */
export type HintOption =
  | "allowHttp"
  | "assumePkce"
  | "assumeProfile"
  | "authorizationServer"
  | "client"
  | "clientMetadata"
  | "clientMetadataUrl"
  | "clientSecretBasic"
  | "clientSecretPost"
  | "codeFlow"
  | "dpop"
  | "flow"
  | "formEncode"
  | "initialAccessToken"
  | "key"
  | "now"
  | "par"
  | "port"
  | "privateKeyJwt"
  | "registrationEndpoint"
  | "resourceIndicator"
  | "scopes"
  | "serverMetadata"
  | "trustedIssuers";

/**
 * An option that may fix an error. Programs can show their own words for it.
 *
 * @category Errors
 */
export interface Hint {
  /** The option to set, or the function that makes one. */
  readonly option: HintOption;
  /** The value to set it to; absent if only the caller knows it. */
  readonly value?: boolean;
  /** The words for it at the end of the message. */
  readonly text: string;
}

/**
 * A URL that a discovery requested.
 *
 * @category Errors
 */
export interface DiscoveryAttempt {
  /** The URL, because it was requested. */
  readonly url: string;
  /** Why the URL returned no usable metadata; undefined for the URL that did. */
  readonly error?: Error | undefined;
}
