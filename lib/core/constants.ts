/**
 * The fixed words of the protocols: well-known paths, grant types, token types,
 * error codes, and the defaults of a registration.
 *
 * @module
 */

/**
 * Well-known path of protected resource metadata (RFC 9728, section 3).
 *
 * @category Literal layer
 */
export const AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH =
  "/.well-known/oauth-protected-resource";

/**
 * Well-known path of authorization server metadata (RFC 8414, section 3).
 *
 * @category Literal layer
 */
export const AUTH_SERVER_METADATA_DISCOVERY_PATH =
  "/.well-known/oauth-authorization-server";

/**
 * Well-known path of OpenID provider metadata (OpenID Connect Discovery 1.0, section 4).
 *
 * @category Literal layer
 */
export const OPENID_CONNECT_DISCOVERY_PATH =
  "/.well-known/openid-configuration";

/**
 * Separator between the values of a `scope` parameter (RFC 6749, section 3.3).
 *
 * @category Literal layer
 */
export const AUTH_SCOPE_SEPARATOR = " ";

/**
 * Grant type of a token exchange (RFC 8693, section 2.1).
 *
 * @category Literal layer
 */
export const GRANT_TYPE_TOKEN_EXCHANGE =
  "urn:ietf:params:oauth:grant-type:token-exchange";

/**
 * Grant type that redeems a JWT assertion (RFC 7523, section 2.1).
 *
 * @category Literal layer
 */
export const GRANT_TYPE_JWT_BEARER =
  "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Grant type of a device that polls for its token (RFC 8628, section 3.4). */
export const GRANT_TYPE_DEVICE_CODE =
  "urn:ietf:params:oauth:grant-type:device_code";

/** Grant type of backchannel authentication (CIBA Core 1.0, section 10.1). */
export const GRANT_TYPE_CIBA = "urn:openid:params:grant-type:ciba";

/**
 * Token type identifier of an access token (RFC 8693, section 3).
 *
 * @category Literal layer
 */
export const TOKEN_TYPE_ACCESS_TOKEN =
  "urn:ietf:params:oauth:token-type:access_token";

/**
 * Token type identifier of an ID token (RFC 8693, section 3).
 *
 * @category Literal layer
 */
export const TOKEN_TYPE_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

/**
 * Token type identifier of a refresh token (RFC 8693, section 3).
 *
 * @category Literal layer
 */
export const TOKEN_TYPE_REFRESH_TOKEN =
  "urn:ietf:params:oauth:token-type:refresh_token";

/**
 * Token type identifier of a SAML 2.0 assertion (RFC 8693, section 3).
 *
 * @category Literal layer
 */
export const TOKEN_TYPE_SAML2 = "urn:ietf:params:oauth:token-type:saml2";

/**
 * Token type identifier of an Identity Assertion Authorization Grant (ID-JAG;
 * draft-ietf-oauth-identity-assertion-authz-grant, section 4.3).
 *
 * @category Literal layer
 */
export const TOKEN_TYPE_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/**
 * Grant profile of a server that accepts ID-JAGs
 * (draft-ietf-oauth-identity-assertion-authz-grant, section 5).
 */
export const GRANT_PROFILE_ID_JAG =
  "urn:ietf:params:oauth:grant-profile:id-jag";

/**
 * Preferred loopback port of the redirect URI. Some servers compare redirect URIs
 * by exact string match, so a client has to listen on the port that it registered.
 *
 * @category Literal layer
 */
export const DEFAULT_AUTH_FLOW_PORT = 33418;

/**
 * Grant types that {@linkcode fetchDynamicRegistration} registers for, in this
 * order: authorization code, refresh token and device code (RFC 8628, section 3.4).
 */
export const REGISTRATION_GRANT_TYPES: readonly string[] = [
  "authorization_code",
  "refresh_token",
  GRANT_TYPE_DEVICE_CODE,
];

/**
 * Default `client_uri` of {@linkcode fetchDynamicRegistration}. The host name is
 * reserved (RFC 2606, section 2), so it can never belong to a third party.
 *
 * @category Literal layer
 */
export const DEFAULT_CLIENT_URI = "https://client.example/";

/**
 * Default `redirect_uris` of {@linkcode fetchDynamicRegistration}. The hosts of the
 * https URLs are reserved (RFC 2606, section 2), so an authorization code that is sent
 * there cannot reach a third party.
 *
 * @category Literal layer
 */
export const DEFAULT_REDIRECT_URIS: readonly string[] = [
  "https://client.example/redirect",
  "https://insiders.client.example/redirect",
  "http://127.0.0.1/",
  // The default port, as a literal: bundlers keep computed values.
  "http://127.0.0.1:33418/",
];

/**
 * Error codes of a token endpoint (RFC 6749, section 5.2).
 *
 * @category Literal layer
 */
export const AuthorizationErrorType = {
  /** A parameter is missing, repeated or malformed. */
  InvalidRequest: "invalid_request",
  /** The client is unknown, or its authentication failed. */
  InvalidClient: "invalid_client",
  /** The code, token or assertion is invalid, expired, revoked or issued to another client. */
  InvalidGrant: "invalid_grant",
  /** The client is not allowed to use this grant type. */
  UnauthorizedClient: "unauthorized_client",
  /** The server does not support this grant type. */
  UnsupportedGrantType: "unsupported_grant_type",
  /** The scope is unknown, malformed or exceeds the scope that was granted. */
  InvalidScope: "invalid_scope",
} as const;

/** One of the error codes of RFC 6749, section 5.2. */
export type AuthorizationErrorType =
  typeof AuthorizationErrorType[keyof typeof AuthorizationErrorType];

/**
 * Other error codes of a token request with a device code (RFC 8628, section 3.5).
 *
 * @category Literal layer
 */
export const AuthorizationDeviceCodeErrorType = {
  /** The user has not finished; continue polling. */
  AuthorizationPending: "authorization_pending",
  /** Continue polling; from now on, the interval is 5 seconds longer. */
  SlowDown: "slow_down",
  /** The user denied the request. */
  AccessDenied: "access_denied",
  /** The device code has expired; a new device authorization is needed. */
  ExpiredToken: "expired_token",
} as const;

/** One of the error codes of RFC 8628, section 3.5. */
export type AuthorizationDeviceCodeErrorType =
  typeof AuthorizationDeviceCodeErrorType[
    keyof typeof AuthorizationDeviceCodeErrorType
  ];

/**
 * Error codes of a client registration endpoint (RFC 7591, section 3.2.2).
 *
 * @category Literal layer
 */
export const AuthorizationRegistrationErrorType = {
  /** The server rejected a redirect URI. */
  InvalidRedirectUri: "invalid_redirect_uri",
  /** The server rejected a member of the client metadata. */
  InvalidClientMetadata: "invalid_client_metadata",
  /** The software statement is invalid. */
  InvalidSoftwareStatement: "invalid_software_statement",
  /** The server does not accept this software statement. */
  UnapprovedSoftwareStatement: "unapproved_software_statement",
} as const;

/** One of the error codes of RFC 7591, section 3.2.2. */
export type AuthorizationRegistrationErrorType =
  typeof AuthorizationRegistrationErrorType[
    keyof typeof AuthorizationRegistrationErrorType
  ];
