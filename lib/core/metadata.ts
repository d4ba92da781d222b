/**
 * The metadata documents of protected resources and of authorization servers.
 *
 * @module
 */

/**
 * Metadata of a protected resource (RFC 9728, section 2).
 *
 * @category Literal layer
 */
export interface IAuthorizationProtectedResourceMetadata {
  /** Resource identifier: an https URL without a fragment. */
  resource: string;
  /** Display name. */
  resource_name?: string | undefined;
  /** Issuer identifiers of the authorization servers that issue tokens for it. */
  authorization_servers?: string[] | undefined;
  /** URL of the JWK Set of the resource. */
  jwks_uri?: string | undefined;
  /** Scope values that authorization requests may contain. */
  scopes_supported?: string[] | undefined;
  /** Methods of sending a bearer token: `header`, `body`, `query`. */
  bearer_methods_supported?: string[] | undefined;
  /** JWS algorithms of signed resource responses. */
  resource_signing_alg_values_supported?: string[] | undefined;
  /** JWE algorithms of encrypted resource responses. */
  resource_encryption_alg_values_supported?: string[] | undefined;
  /** JWE content encryption algorithms of encrypted resource responses. */
  resource_encryption_enc_values_supported?: string[] | undefined;
  /** URL of documentation for developers. */
  resource_documentation?: string | undefined;
  /** URL of the requirements on how a client may use the data. */
  resource_policy_uri?: string | undefined;
  /** URL of the terms of service. */
  resource_tos_uri?: string | undefined;
  /** Types of `authorization_details` that the resource supports (RFC 9396). */
  authorization_details_types_supported?: string[] | undefined;
  /** Whether the resource requires DPoP-bound access tokens (RFC 9449). */
  dpop_bound_access_tokens_required?: boolean | undefined;
  /** JWS algorithms of DPoP proofs that the resource supports. */
  dpop_signing_alg_values_supported?: string[] | undefined;
  /** Whether access tokens are bound to a client certificate (RFC 8705). */
  tls_client_certificate_bound_access_tokens?: boolean | undefined;
  /** Signed JWT with these members as claims (RFC 9728, section 2.2). */
  signed_metadata?: string | undefined;
}

/**
 * Metadata of an authorization server (RFC 8414, section 2), with the members
 * that later standards and OpenID Connect add.
 *
 * @category Literal layer
 */
export interface IAuthorizationServerMetadata {
  /** Issuer identifier: an https URL without a query or fragment. */
  issuer: string;
  /** URL to which the user is sent; absent if no supported grant needs it. */
  authorization_endpoint?: string | undefined;
  /** URL of the token endpoint; absent if only the implicit grant is supported. */
  token_endpoint?: string | undefined;
  /** URL that starts the device flow (RFC 8628, section 4). */
  device_authorization_endpoint?: string | undefined;
  /** URL of the JWK Set of the server. */
  jwks_uri?: string | undefined;
  /** URL of the client registration endpoint (RFC 7591, section 3). */
  registration_endpoint?: string | undefined;
  /** Scope values that the server supports. */
  scopes_supported?: string[] | undefined;
  /** Values of `response_type` that the server supports. */
  response_types_supported: string[];
  /** Values of `response_mode`; `["query", "fragment"]` when absent. */
  response_modes_supported?: string[] | undefined;
  /** Grant types; `["authorization_code", "implicit"]` when absent. */
  grant_types_supported?: string[] | undefined;
  /** Client authentication at the token endpoint; `client_secret_basic` when absent. */
  token_endpoint_auth_methods_supported?: string[] | undefined;
  /** JWS algorithms of client assertions at the token endpoint. */
  token_endpoint_auth_signing_alg_values_supported?: string[] | undefined;
  /** URL of documentation for developers. */
  service_documentation?: string | undefined;
  /** Languages of the user interface (BCP 47 tags). */
  ui_locales_supported?: string[] | undefined;
  /** URL of the requirements on how a client may use the data. */
  op_policy_uri?: string | undefined;
  /** URL of the terms of service. */
  op_tos_uri?: string | undefined;
  /** URL of the revocation endpoint (RFC 7009, section 2). */
  revocation_endpoint?: string | undefined;
  /** Client authentication at the revocation endpoint. */
  revocation_endpoint_auth_methods_supported?: string[] | undefined;
  /** JWS algorithms of client assertions at the revocation endpoint. */
  revocation_endpoint_auth_signing_alg_values_supported?: string[] | undefined;
  /** URL of the introspection endpoint (RFC 7662, section 2). */
  introspection_endpoint?: string | undefined;
  /** Client authentication at the introspection endpoint. */
  introspection_endpoint_auth_methods_supported?: string[] | undefined;
  /** JWS algorithms of client assertions at the introspection endpoint. */
  introspection_endpoint_auth_signing_alg_values_supported?:
    | string[]
    | undefined;
  /** JWS algorithms of introspection responses (RFC 9701, section 7). */
  introspection_signing_alg_values_supported?: string[] | undefined;
  /** PKCE methods (RFC 7636, section 4.2). */
  code_challenge_methods_supported?: string[] | undefined;
  /** Signed JWT with these members as claims (RFC 8414, section 2.1). */
  signed_metadata?: string | undefined;

  /** URL for pushed authorization requests (RFC 9126, section 5). */
  pushed_authorization_request_endpoint?: string | undefined;
  /** Whether every authorization request must be pushed (RFC 9126, section 5). */
  require_pushed_authorization_requests?: boolean | undefined;
  /** Whether authorization responses contain `iss` (RFC 9207, section 3). */
  authorization_response_iss_parameter_supported?: boolean | undefined;
  /** Types of `authorization_details` that the server supports (RFC 9396, section 10). */
  authorization_details_types_supported?: string[] | undefined;
  /** Whether every request object must be signed (RFC 9101, section 10.5). */
  require_signed_request_object?: boolean | undefined;
  /** JWS algorithms of DPoP proofs that the server supports (RFC 9449, section 5.1). */
  dpop_signing_alg_values_supported?: string[] | undefined;
  /** Whether access tokens can be bound to a client certificate (RFC 8705, section 3.3). */
  tls_client_certificate_bound_access_tokens?: boolean | undefined;
  /** Endpoints for clients that use mutual TLS, by member name (RFC 8705, section 5). */
  mtls_endpoint_aliases?: Record<string, string> | undefined;
  /** Resource identifiers that the server issues tokens for (RFC 9728, section 4). */
  protected_resources?: string[] | undefined;
  /**
   * Whether a `client_id` may be the URL of a client metadata document
   * (draft-ietf-oauth-client-id-metadata-document, section 5).
   */
  client_id_metadata_document_supported?: boolean | undefined;
  /**
   * Token types that an identity provider issues in a token exchange
   * (draft-ietf-oauth-identity-assertion-authz-grant, section 5).
   */
  identity_chaining_requested_token_types_supported?: string[] | undefined;
  /**
   * Profiles of assertion grants that the server accepts
   * (draft-ietf-oauth-identity-assertion-authz-grant, section 5).
   */
  authorization_grant_profiles_supported?: string[] | undefined;

  /** URL that prompts a user on another device (CIBA Core 1.0, section 4). */
  backchannel_authentication_endpoint?: string | undefined;
  /** How tokens are obtained: `poll`, `ping`, `push` (CIBA Core 1.0, section 4). */
  backchannel_token_delivery_modes_supported?: string[] | undefined;
  /** JWS algorithms of signed authentication requests (CIBA Core 1.0, section 4). */
  backchannel_authentication_request_signing_alg_values_supported?:
    | string[]
    | undefined;
  /** Whether `user_code` is supported (CIBA Core 1.0, section 4). */
  backchannel_user_code_parameter_supported?: boolean | undefined;
  /** URL of the UserInfo endpoint (OpenID Connect Discovery 1.0, section 3). */
  userinfo_endpoint?: string | undefined;
  /**
   * URL that logs the user out (OpenID Connect RP-Initiated Logout 1.0, section 2.1).
   */
  end_session_endpoint?: string | undefined;
  /** Types of `sub` values: `public`, `pairwise` (OpenID Connect Discovery 1.0, section 3). */
  subject_types_supported?: string[] | undefined;
  /** JWS algorithms of ID tokens (OpenID Connect Discovery 1.0, section 3). */
  id_token_signing_alg_values_supported?: string[] | undefined;
  /** JWS algorithms of UserInfo responses (OpenID Connect Discovery 1.0, section 3). */
  userinfo_signing_alg_values_supported?: string[] | undefined;
  /** JWS algorithms of request objects (OpenID Connect Discovery 1.0, section 3). */
  request_object_signing_alg_values_supported?: string[] | undefined;
  /** Whether `request` is supported (OpenID Connect Discovery 1.0, section 3). */
  request_parameter_supported?: boolean | undefined;
  /** Whether `request_uri` is supported (OpenID Connect Discovery 1.0, section 3). */
  request_uri_parameter_supported?: boolean | undefined;
  /** Authentication context classes (OpenID Connect Discovery 1.0, section 3). */
  acr_values_supported?: string[] | undefined;
  /** Names of claims that the server can supply (OpenID Connect Discovery 1.0, section 3). */
  claims_supported?: string[] | undefined;
  /** Whether the `claims` parameter is supported (OpenID Connect Discovery 1.0, section 3). */
  claims_parameter_supported?: boolean | undefined;
  /** Values of `display` (OpenID Connect Discovery 1.0, section 3). */
  display_values_supported?: string[] | undefined;
  /** Values of `prompt` (Initiating User Registration via OpenID Connect 1.0). */
  prompt_values_supported?: string[] | undefined;
}

/**
 * Metadata of an authorization server, as published, or as you know it from a manual. Only
 * the issuer is required. A function that needs another member fails with `unsupported`.
 *
 * @category Messages of the protocol
 */
export interface ServerMetadata extends Partial<IAuthorizationServerMetadata> {
  /** Identifier of the server. */
  issuer: string;
}
