/**
 * The shapes of the documents and messages that servers send. Every time is in
 * seconds, as on the wire.
 *
 * @module
 */

import type {
  AuthorizationDeviceCodeErrorType,
  AuthorizationErrorType,
  AuthorizationRegistrationErrorType,
} from "./constants.ts";

/** Any string, without hiding the literals beside it from an editor. */
export type AnyString = string & Record<never, never>;

/** Metadata of a protected resource (RFC 9728, section 2). */
export interface IAuthorizationProtectedResourceMetadata {
  /** Resource identifier: an https URL without a fragment. */
  resource: string;
  /** Name to show to people. */
  resource_name?: string;
  /** Issuer identifiers of the authorization servers that may be used. */
  authorization_servers?: string[];
  /** Address of the resource's JWK Set. */
  jwks_uri?: string;
  /** Scope values for authorization requests. */
  scopes_supported?: string[];
  /** Ways of presenting a bearer token: `header`, `body`, `query`. */
  bearer_methods_supported?: string[];
  /** JWS algorithms of signed resource responses. */
  resource_signing_alg_values_supported?: string[];
  /** JWE algorithms of encrypted resource responses. */
  resource_encryption_alg_values_supported?: string[];
  /** JWE content encryption algorithms of encrypted resource responses. */
  resource_encryption_enc_values_supported?: string[];
  /** Address of documentation for developers. */
  resource_documentation?: string;
  /** Address of the rules on how data may be used. */
  resource_policy_uri?: string;
  /** Address of the terms of service. */
  resource_tos_uri?: string;
  /** Whether only DPoP-bound tokens are taken (RFC 9728, section 2). */
  dpop_bound_access_tokens_required?: boolean;
  /** JWS algorithms of DPoP proofs that the resource takes. */
  dpop_signing_alg_values_supported?: string[];
}

/** Metadata of an authorization server (RFC 8414, section 2). */
export interface IAuthorizationServerMetadata {
  /** Issuer identifier: an https URL without query or fragment. */
  issuer: string;
  /** Where the user is sent; absent when no grant needs it. */
  authorization_endpoint?: string;
  /** Where tokens are issued; absent when only the implicit grant is. */
  token_endpoint?: string;
  /** Where the device flow starts (RFC 8628, section 4). */
  device_authorization_endpoint?: string;
  /** Address of the server's JWK Set. */
  jwks_uri?: string;
  /** Where a client registers itself (RFC 7591). */
  registration_endpoint?: string;
  /** Scope values that the server knows. */
  scopes_supported?: string[];
  /** Values of `response_type` that the server takes. */
  response_types_supported: string[];
  /** Values of `response_mode`; `["query", "fragment"]` when absent. */
  response_modes_supported?: string[];
  /** Grant types; `["authorization_code", "implicit"]` when absent. */
  grant_types_supported?: string[];
  /** Client authentication at the token endpoint; `client_secret_basic` when absent. */
  token_endpoint_auth_methods_supported?: string[];
  /** JWS algorithms of client assertions at the token endpoint. */
  token_endpoint_auth_signing_alg_values_supported?: string[];
  /** Address of documentation for developers. */
  service_documentation?: string;
  /** Languages of the user interface (BCP 47 tags). */
  ui_locales_supported?: string[];
  /** Address of the rules on how data may be used. */
  op_policy_uri?: string;
  /** Address of the terms of service. */
  op_tos_uri?: string;
  /** Where tokens are revoked (RFC 7009). */
  revocation_endpoint?: string;
  /** Client authentication at the revocation endpoint. */
  revocation_endpoint_auth_methods_supported?: string[];
  /** JWS algorithms of client assertions at the revocation endpoint. */
  revocation_endpoint_auth_signing_alg_values_supported?: string[];
  /** Where tokens are introspected (RFC 7662). */
  introspection_endpoint?: string;
  /** Client authentication at the introspection endpoint. */
  introspection_endpoint_auth_methods_supported?: string[];
  /** JWS algorithms of client assertions at the introspection endpoint. */
  introspection_endpoint_auth_signing_alg_values_supported?: string[];
  /** PKCE methods (RFC 7636, section 4.2). */
  code_challenge_methods_supported?: string[];
  /** Whether a `client_id` may be the URL of a client metadata document. */
  client_id_metadata_document_supported?: boolean;
  /** JWS algorithms of DPoP proofs that the server takes (RFC 9449, section 5.1). */
  dpop_signing_alg_values_supported?: string[];
  /** Token types that an identity provider exchanges for (ID-JAG, section 5). */
  identity_chaining_requested_token_types_supported?: string[];
  /** Profiles of grants that the server redeems (ID-JAG, section 5). */
  authorization_grant_profiles_supported?: string[];
  /** Whether authorization responses carry `iss` (RFC 9207, section 3). */
  authorization_response_iss_parameter_supported?: boolean;
}

/** Client metadata sent to a registration endpoint (RFC 7591, section 2). */
export interface IAuthorizationDynamicClientRegistrationRequest {
  /** Addresses that the user may be sent back to. */
  redirect_uris?: string[];
  /** How the client will authenticate; `client_secret_basic` when absent. */
  token_endpoint_auth_method?:
    | "none"
    | "client_secret_post"
    | "client_secret_basic"
    | AnyString;
  /** Grant types it will use; `["authorization_code"]` when absent. */
  grant_types?: string[];
  /** Response types it will use; `["code"]` when absent. */
  response_types?: string[];
  /** Name to show to people. */
  client_name?: string;
  /** Home page. */
  client_uri?: string;
  /** Address of a logo. */
  logo_uri?: string;
  /** Scope values it may ask for, separated by spaces. */
  scope?: string;
  /** Ways to reach the people responsible. */
  contacts?: string[];
  /** Address of the terms of service. */
  tos_uri?: string;
  /** Address of the privacy policy. */
  policy_uri?: string;
  /** Address of the client's JWK Set; not together with `jwks`. */
  jwks_uri?: string;
  /** The client's JWK Set. */
  jwks?: Record<string, unknown>;
  /** Identifier of the software, the same for every installation. */
  software_id?: string;
  /** Version of the software. */
  software_version?: string;
  /** Signed statement about the software (a JWT). */
  software_statement?: string;
  /** `native` for programs, `web` for sites (OpenID Connect Registration 1.0). */
  application_type?: "native" | "web" | AnyString;
  /** Extension members. */
  [member: string]: unknown;
}

/** What a registration endpoint answers (RFC 7591, section 3.2.1). */
export interface IAuthorizationDynamicClientRegistrationResponse {
  /** Identifier of the client at this server. */
  client_id: string;
  /** Secret of a confidential client; absent for public clients. */
  client_secret?: string;
  /** When the secret ends, in seconds since the Unix epoch; 0 means never. */
  client_secret_expires_at?: number;
  /** Name to show to people. */
  client_name?: string;
  /** Home page. */
  client_uri?: string;
  /** Addresses that the user may be sent back to. */
  redirect_uris?: string[];
  /** Grant types that the client may use. */
  grant_types?: string[];
  /** Response types that the client may use. */
  response_types?: string[];
  /** How the client has to authenticate. */
  token_endpoint_auth_method?: string;
}

/** Query of the redirect that brings a code (RFC 6749, section 4.1.2). */
export interface IAuthorizationAuthorizeResponse {
  /** The authorization code. */
  code: string;
  /** The request's `state`, echoed. */
  state: string;
}

/** Query of the redirect that brings a refusal (RFC 6749, section 4.1.2.1). */
export interface IAuthorizationAuthorizeErrorResponse {
  /** Error code. */
  error: string;
  /** Explanation for a developer. */
  error_description?: string;
  /** Address of a page about the error. */
  error_uri?: string;
  /** The request's `state`, echoed. */
  state: string;
}

/** A token endpoint's answer (RFC 6749, section 5.1). */
export interface IAuthorizationTokenResponse {
  /** The access token. */
  access_token: string;
  /** How to present it, usually `Bearer`. */
  token_type: string;
  /** Lifetime in seconds, counted from the answer. */
  expires_in?: number;
  /** Token for the refresh grant. */
  refresh_token?: string;
  /** What was granted, separated by spaces; as requested when absent. */
  scope?: string;
  /** ID token (OpenID Connect Core 1.0, section 3.1.3.3). */
  id_token?: string;
}

/** A token endpoint's refusal (RFC 6749, section 5.2). */
export interface IAuthorizationTokenErrorResponse {
  /** Error code. */
  error: string;
  /** Explanation for a developer. */
  error_description?: string;
  /** Address of a page about the error. */
  error_uri?: string;
}

/** An OAuth refusal with one of the codes of RFC 6749 or any other. */
export interface IAuthorizationErrorResponse {
  /** Error code. */
  error: AuthorizationErrorType | AnyString;
  /** Explanation for a developer. */
  error_description?: string;
  /** Address of a page about the error. */
  error_uri?: string;
}

/** A refusal of a poll for a device token (RFC 8628, section 3.5). */
export interface IAuthorizationDeviceTokenErrorResponse {
  /** Error code. */
  error: AuthorizationErrorType | AuthorizationDeviceCodeErrorType | AnyString;
  /** Explanation for a developer. */
  error_description?: string;
  /** Address of a page about the error. */
  error_uri?: string;
}

/** A refusal of a registration (RFC 7591, section 3.2.2). */
export interface IAuthorizationRegistrationErrorResponse {
  /** Error code. */
  error: AuthorizationRegistrationErrorType | AnyString;
  /** Explanation for a developer. */
  error_description?: string;
}

/** A device authorization endpoint's answer (RFC 8628, section 3.2). */
export interface IAuthorizationDeviceResponse {
  /** What the client polls with. */
  device_code: string;
  /** What the user types in. */
  user_code: string;
  /** Where the user types it in. */
  verification_uri: string;
  /** The same address with the user code in it. */
  verification_uri_complete?: string;
  /** Lifetime of both codes in seconds. */
  expires_in: number;
  /** Least seconds between two polls; 5 when absent. */
  interval?: number;
}

/** Claims of a JWT (RFC 7519, section 4; OpenID Connect Core 1.0, section 5.1). */
export interface IAuthorizationJWTClaims {
  /** Identifier of the token. */
  jti: string;
  /** Subject: the user, at this issuer. */
  sub: string;
  /** Issuer. */
  iss: string;
  /** Whom the token is for. */
  aud?: string | string[];
  /** Expiry, in seconds since the Unix epoch. */
  exp?: number;
  /** Not valid before, in seconds since the Unix epoch. */
  nbf?: number;
  /** Issued at, in seconds since the Unix epoch. */
  iat?: number;
  /** When the user last signed in, in seconds since the Unix epoch. */
  auth_time?: number;
  /** The client that the token was issued to. */
  azp?: string;
  /** Granted scope values, separated by spaces. */
  scope?: string;
  /** Full name. */
  name?: string;
  /** Given name. */
  given_name?: string;
  /** Family name. */
  family_name?: string;
  /** Middle name. */
  middle_name?: string;
  /** Name the user likes to be called by; not an identifier. */
  preferred_username?: string;
  /** E-mail address. */
  email?: string;
  /** Whether the issuer checked the e-mail address. */
  email_verified?: boolean;
  /** Address of a picture. */
  picture?: string;
  /** Class of the sign-in. */
  acr?: string;
  /** Methods of the sign-in. */
  amr?: string[];
  /** Session at the issuer. */
  sid?: string;
  /** Postal address. */
  address?: {
    /** Whole address, ready to print. */
    formatted?: string;
    /** Street and number. */
    street_address?: string;
    /** Town. */
    locality?: string;
    /** State, province or prefecture. */
    region?: string;
    /** Postal code. */
    postal_code?: string;
    /** Country. */
    country?: string;
  };
  /** Groups of the user. */
  groups?: string[];
  /** Roles of the user. */
  roles?: string[];
  /** Any other claim. */
  [claim: string]: unknown;
}

/** A key of the Web Crypto API, under whichever name the runtime's types have it. */
export type WebCryptoKey = Parameters<typeof crypto.subtle.sign>[1];

/** A pair of such keys. */
export interface IWebCryptoKeyPair {
  /** Verifies. */
  readonly publicKey: WebCryptoKey;
  /** Signs. */
  readonly privateKey: WebCryptoKey;
}

/** One challenge of a `WWW-Authenticate` header (RFC 9110, section 11.6.1). */
export interface IAuthenticationChallenge {
  /** Authentication scheme, as the server spelt it. */
  scheme: string;
  /** Parameters by name, in the order they came. */
  params: Record<string, string>;
  /** What stands in place of parameters, as in `Negotiate YII...`. */
  token68?: string;
}

/** What a metadata discovery found. */
export interface IDiscoveryResult<Metadata> {
  /** The document that passed every check. */
  metadata: Metadata;
  /** Where it was found: the address as it was requested. */
  discoveryUrl: string;
  /** What went wrong at the addresses tried before, in that order. */
  errors: Error[];
}
