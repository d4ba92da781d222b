/**
 * The words that servers' errors use.
 *
 * @module
 */

/** Error codes of RFC 6749, section 5.2. */
export const AuthorizationErrorType = {
  /** A parameter is missing, repeated or malformed. */
  InvalidRequest: "invalid_request",
  /** The client is unknown or failed to authenticate. */
  InvalidClient: "invalid_client",
  /** The code, token or assertion is invalid, expired, revoked or not yours. */
  InvalidGrant: "invalid_grant",
  /** This client may not use this grant type. */
  UnauthorizedClient: "unauthorized_client",
  /** The server does not offer this grant type. */
  UnsupportedGrantType: "unsupported_grant_type",
  /** The scope is unknown, malformed or more than was granted. */
  InvalidScope: "invalid_scope",
} as const;

/** One of the error codes of RFC 6749, section 5.2. */
export type AuthorizationErrorType =
  typeof AuthorizationErrorType[keyof typeof AuthorizationErrorType];

/** Error codes that a poll for a device token adds (RFC 8628, section 3.5). */
export const AuthorizationDeviceCodeErrorType = {
  /** The user has not finished; keep polling. */
  AuthorizationPending: "authorization_pending",
  /** Keep polling, five seconds slower from now on. */
  SlowDown: "slow_down",
  /** The user said no. */
  AccessDenied: "access_denied",
  /** The device code is too old; start again. */
  ExpiredToken: "expired_token",
} as const;

/** One of the error codes of RFC 8628, section 3.5. */
export type AuthorizationDeviceCodeErrorType =
  typeof AuthorizationDeviceCodeErrorType[
    keyof typeof AuthorizationDeviceCodeErrorType
  ];

/** Error codes of a client registration (RFC 7591, section 3.2.2). */
export const AuthorizationRegistrationErrorType = {
  /** A redirect URI is not acceptable. */
  InvalidRedirectUri: "invalid_redirect_uri",
  /** A member of the client metadata is not acceptable. */
  InvalidClientMetadata: "invalid_client_metadata",
  /** The software statement does not hold. */
  InvalidSoftwareStatement: "invalid_software_statement",
  /** The software statement is not approved here. */
  UnapprovedSoftwareStatement: "unapproved_software_statement",
} as const;

/** One of the error codes of RFC 7591, section 3.2.2. */
export type AuthorizationRegistrationErrorType =
  typeof AuthorizationRegistrationErrorType[
    keyof typeof AuthorizationRegistrationErrorType
  ];
