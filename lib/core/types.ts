/**
 * The requests and responses of the endpoints, JWT claims, challenges and keys.
 * Every time is in seconds, as in the protocols.
 *
 * @module
 */

import type {
  AuthorizationDeviceCodeErrorType,
  AuthorizationErrorType,
  AuthorizationRegistrationErrorType,
} from "./constants.ts";

// `string & Record<never, never>` is any string. With plain `string`, editors would not
// suggest the literals.

/**
 * Client metadata sent to a registration endpoint (RFC 7591, section 2).
 *
 * @category Literal layer
 */
export interface IAuthorizationDynamicClientRegistrationRequest {
  /** URLs that an authorization response may be sent to. */
  redirect_uris?: string[] | undefined;
  /** Authentication method of the client; `client_secret_basic` when absent. */
  token_endpoint_auth_method?:
    | "none"
    | "client_secret_post"
    | "client_secret_basic"
    | (string & Record<never, never>)
    | undefined;
  /** Grant types of the client; `["authorization_code"]` when absent. */
  grant_types?: string[] | undefined;
  /** Response types of the client; `["code"]` when absent. */
  response_types?: string[] | undefined;
  /** Display name. */
  client_name?: string | undefined;
  /** URL of the home page. */
  client_uri?: string | undefined;
  /** URL of a logo. */
  logo_uri?: string | undefined;
  /** Scope values that the client may request, separated by spaces. */
  scope?: string | undefined;
  /** Contact addresses of the people who are responsible for the client. */
  contacts?: string[] | undefined;
  /** URL of the terms of service. */
  tos_uri?: string | undefined;
  /** URL of the privacy policy. */
  policy_uri?: string | undefined;
  /** URL of the client's JWK Set; excludes `jwks`. */
  jwks_uri?: string | undefined;
  /** The client's JWK Set; excludes `jwks_uri`. */
  jwks?: Record<string, unknown> | undefined;
  /** Identifier of the software, the same for every installation. */
  software_id?: string | undefined;
  /** Version of the software. */
  software_version?: string | undefined;
  /** Signed statement about the software (a JWT; RFC 7591, section 2.3). */
  software_statement?: string | undefined;
  /** `native` or `web` (OpenID Connect Dynamic Client Registration 1.0, section 2). */
  application_type?:
    | "native"
    | "web"
    | (string & Record<never, never>)
    | undefined;
  /** Extension members. */
  [member: string]: unknown;
}

/**
 * Response of a registration endpoint (RFC 7591, section 3.2.1).
 *
 * @category Literal layer
 */
export interface IAuthorizationDynamicClientRegistrationResponse {
  /** Identifier of the client at this server. */
  client_id: string;
  /** Secret of a confidential client; absent for public clients. */
  client_secret?: string | undefined;
  /** Expiry of the secret, in seconds since the Unix epoch; 0 means never. */
  client_secret_expires_at?: number | undefined;
  /** Display name. */
  client_name?: string | undefined;
  /** URL of the home page. */
  client_uri?: string | undefined;
  /** URLs that an authorization response may be sent to. */
  redirect_uris?: string[] | undefined;
  /** Grant types that the client may use. */
  grant_types?: string[] | undefined;
  /** Response types that the client may use. */
  response_types?: string[] | undefined;
  /** Authentication method that the client has to use. */
  token_endpoint_auth_method?: string | undefined;
}

/**
 * One member of `authorization_details` (RFC 9396, section 2). The type defines its
 * other members; the members listed here are common (section 2.2).
 *
 * @category Literal layer
 */
export interface AuthorizationDetail {
  /** Identifier of the type; it is not empty. */
  type: string;
  /** URLs of the resources. */
  locations?: string[] | undefined;
  /** Kinds of actions at the resource. */
  actions?: string[] | undefined;
  /** Kinds of data of the resource. */
  datatypes?: string[] | undefined;
  /** Identifier of a specific resource. */
  identifier?: string | undefined;
  /** Types or levels of privilege at the resource. */
  privileges?: string[] | undefined;
  /** Any other member. */
  [member: string]: unknown;
}

/**
 * Query parameters of a successful authorization response (RFC 6749, section 4.1.2).
 *
 * @category Literal layer
 */
export interface IAuthorizationAuthorizeResponse {
  /** The authorization code. */
  code: string;
  /** The `state` of the request. */
  state: string;
}

/**
 * Query parameters of an authorization error response (RFC 6749, section 4.1.2.1).
 *
 * @category Literal layer
 */
export interface IAuthorizationAuthorizeErrorResponse {
  /** Error code. */
  error: string;
  /** Description for developers. */
  error_description?: string | undefined;
  /** URL of a page about the error. */
  error_uri?: string | undefined;
  /** The `state` of the request. */
  state: string;
}

/**
 * Successful response of a token endpoint (RFC 6749, section 5.1).
 *
 * @category Literal layer
 */
export interface IAuthorizationTokenResponse {
  /** The access token. */
  access_token: string;
  /** Type of the access token, usually `Bearer`. */
  token_type: string;
  /** Lifetime in seconds, counted from the response. */
  expires_in?: number | undefined;
  /** Refresh token. */
  refresh_token?: string | undefined;
  /** Granted scope, separated by spaces; the requested scope when absent. */
  scope?: string | undefined;
  /** ID token (OpenID Connect Core 1.0, section 3.1.3.3). */
  id_token?: string | undefined;
  /** Granted authorization details (RFC 9396, section 7). */
  authorization_details?: AuthorizationDetail[] | undefined;
}

/**
 * Error response of a token endpoint (RFC 6749, section 5.2).
 *
 * @category Literal layer
 */
export interface IAuthorizationTokenErrorResponse {
  /** Error code. */
  error: string;
  /** Description for developers. */
  error_description?: string | undefined;
  /** URL of a page about the error. */
  error_uri?: string | undefined;
}

/**
 * Error response with one of the codes of RFC 6749, section 5.2, or any other.
 *
 * @category Literal layer
 */
export interface IAuthorizationErrorResponse {
  /** Error code. */
  error: AuthorizationErrorType | (string & Record<never, never>);
  /** Description for developers. */
  error_description?: string | undefined;
  /** URL of a page about the error. */
  error_uri?: string | undefined;
}

/**
 * Error response to a token request with a device code (RFC 8628, section 3.5).
 *
 * @category Literal layer
 */
export interface IAuthorizationDeviceTokenErrorResponse {
  /** Error code. */
  error:
    | AuthorizationErrorType
    | AuthorizationDeviceCodeErrorType
    | (string & Record<never, never>);
  /** Description for developers. */
  error_description?: string | undefined;
  /** URL of a page about the error. */
  error_uri?: string | undefined;
}

/**
 * Error response of a registration endpoint (RFC 7591, section 3.2.2).
 *
 * @category Literal layer
 */
export interface IAuthorizationRegistrationErrorResponse {
  /** Error code. */
  error: AuthorizationRegistrationErrorType | (string & Record<never, never>);
  /** Description for developers. */
  error_description?: string | undefined;
}

/**
 * Response of a device authorization endpoint (RFC 8628, section 3.2).
 *
 * @category Literal layer
 */
export interface IAuthorizationDeviceResponse {
  /** Code that the client polls with. */
  device_code: string;
  /** Code that the user enters. */
  user_code: string;
  /** URL at which the user enters the code. */
  verification_uri: string;
  /** The same URL with the user code included. */
  verification_uri_complete?: string | undefined;
  /** Lifetime of both codes in seconds. */
  expires_in: number;
  /** Minimum number of seconds between two polls; 5 when absent. */
  interval?: number | undefined;
}

/**
 * Claims of a JWT (RFC 7519, section 4.1; OpenID Connect Core 1.0, sections 2 and 5.1).
 *
 * @category Literal layer
 */
export interface IAuthorizationJWTClaims {
  /** Identifier of the JWT. */
  jti: string;
  /** Subject: the identifier of the user at this issuer. */
  sub: string;
  /** Issuer. */
  iss: string;
  /** Audience: the recipients of the JWT. */
  aud?: string | string[] | undefined;
  /** Expiry, in seconds since the Unix epoch. */
  exp?: number | undefined;
  /** Start of validity, in seconds since the Unix epoch. */
  nbf?: number | undefined;
  /** Time of issue, in seconds since the Unix epoch. */
  iat?: number | undefined;
  /** Time of the user's authentication, in seconds since the Unix epoch. */
  auth_time?: number | undefined;
  /** Client that the token was issued to. */
  azp?: string | undefined;
  /** Granted scope values, separated by spaces. */
  scope?: string | undefined;
  /** Full name. */
  name?: string | undefined;
  /** Given name. */
  given_name?: string | undefined;
  /** Family name. */
  family_name?: string | undefined;
  /** Middle name. */
  middle_name?: string | undefined;
  /** User name for display; not an identifier. */
  preferred_username?: string | undefined;
  /** E-mail address. */
  email?: string | undefined;
  /** Whether the issuer has verified the e-mail address. */
  email_verified?: boolean | undefined;
  /** URL of a picture. */
  picture?: string | undefined;
  /** Authentication context class. */
  acr?: string | undefined;
  /** Authentication methods. */
  amr?: string[] | undefined;
  /** Identifier of the session at the issuer. */
  sid?: string | undefined;
  /** Postal address (OpenID Connect Core 1.0, section 5.1.1). */
  address?: {
    /** Full address, formatted for display. */
    formatted?: string | undefined;
    /** Street and number. */
    street_address?: string | undefined;
    /** City or locality. */
    locality?: string | undefined;
    /** State, province, prefecture or region. */
    region?: string | undefined;
    /** Postal code. */
    postal_code?: string | undefined;
    /** Country. */
    country?: string | undefined;
  } | undefined;
  /** Groups of the user. */
  groups?: string[] | undefined;
  /** Roles of the user. */
  roles?: string[] | undefined;
  /** Any other claim. */
  [claim: string]: unknown;
}

/**
 * A `CryptoKey` of the Web Crypto API, typed for all runtimes.
 *
 * @category Literal layer
 */
export type WebCryptoKey = Parameters<typeof crypto.subtle.sign>[1];

/**
 * One challenge of a `WWW-Authenticate` header (RFC 9110, section 11.6.1).
 *
 * @category Literal layer
 */
export interface IAuthenticationChallenge {
  /** Authentication scheme, in the letter case of the header. */
  scheme: string;
  /** Parameters by name, in the order of the header. */
  params: Record<string, string>;
  /** Value instead of parameters, as in `Negotiate YII=` (RFC 9110, section 11.2). */
  token68?: string | undefined;
}

/**
 * Result of a metadata discovery.
 *
 * @category Literal layer
 */
export interface DiscoveryResult<Metadata> {
  /** The first document that passed every check. */
  metadata: Metadata;
  /** URL of the document, exactly as it was requested. */
  discoveryUrl: string;
  /** Failures of the attempts before it, in order. */
  errors: Error[];
}
