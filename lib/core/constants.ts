/**
 * The fixed words of the protocols: well-known paths, grant types, token types
 * and the defaults of a registration.
 *
 * @module
 */

/** Prefix of every well-known path. */
export const WELL_KNOWN_ROUTE = "/.well-known";

/** Path of protected resource metadata (RFC 9728, section 3). */
export const AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH =
  "/.well-known/oauth-protected-resource";

/** Path of authorization server metadata (RFC 8414, section 3). */
export const AUTH_SERVER_METADATA_DISCOVERY_PATH =
  "/.well-known/oauth-authorization-server";

/** Path of OpenID provider metadata (OpenID Connect Discovery 1.0, section 4). */
export const OPENID_CONNECT_DISCOVERY_PATH =
  "/.well-known/openid-configuration";

/** What stands between two values of a `scope` parameter (RFC 6749, section 3.3). */
export const AUTH_SCOPE_SEPARATOR = " ";

/** Grant type of a token exchange (RFC 8693, section 2.1). */
export const GRANT_TYPE_TOKEN_EXCHANGE =
  "urn:ietf:params:oauth:grant-type:token-exchange";

/** Grant type that redeems a JWT assertion (RFC 7523, section 2.1). */
export const GRANT_TYPE_JWT_BEARER =
  "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Token type identifier of an access token (RFC 8693, section 3). */
export const TOKEN_TYPE_ACCESS_TOKEN =
  "urn:ietf:params:oauth:token-type:access_token";

/** Token type identifier of an ID token (RFC 8693, section 3). */
export const TOKEN_TYPE_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

/** Token type identifier of an Identity Assertion Authorization Grant. */
export const TOKEN_TYPE_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/**
 * Loopback port to prefer for the redirect URI: some servers compare redirect
 * URIs to the letter, port included, so a registered one has to be reused.
 */
export const DEFAULT_AUTH_FLOW_PORT = 33418;

/**
 * Grant types that {@linkcode fetchDynamicRegistration} asks for, in its order:
 * the code grant, refresh tokens, and the device grant (RFC 8628, section 3.4).
 */
export const REGISTRATION_GRANT_TYPES: readonly string[] = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code",
];

/**
 * Home page that {@linkcode fetchDynamicRegistration} names when the caller
 * gives none. The name is reserved (RFC 2606, section 2), so it is nobody's.
 */
export const DEFAULT_CLIENT_URI = "https://client.example/";

/**
 * Redirect URIs that {@linkcode fetchDynamicRegistration} registers when the
 * caller gives none. Both https addresses stand under a reserved name
 * (RFC 2606, section 2): an authorization code sent there reaches nobody.
 */
export const DEFAULT_REDIRECT_URIS: readonly string[] = [
  "https://client.example/redirect",
  "https://insiders.client.example/redirect",
  "http://127.0.0.1/",
  `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/`,
];
