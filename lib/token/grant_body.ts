/**
 * Form bodies of token requests. The client authentication adds the client when the
 * body is sent.
 */

import {
  optionalString,
  requireArgument,
  requireNonEmptyString,
} from "../core/_arguments.ts";
import { urlString } from "../core/_url.ts";
import {
  GRANT_TYPE_DEVICE_CODE,
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
} from "../core/constants.ts";
import { formWith } from "./_form.ts";
import type { TokenBodyOptions } from "./form_options.ts";

export type { TokenBodyOptions };

/** Options of {@linkcode buildAuthorizationCodeBody}. */
export interface BuildAuthorizationCodeBodyOptions extends TokenBodyOptions {
  /** Code of the authorization response. */
  code: string;
  /** Redirect URI of the authorization request. */
  redirectUri: string | URL;
  /** PKCE verifier of the authorization request. */
  codeVerifier: string;
}

/**
 * Returns the body of the token request that redeems an authorization code.
 *
 * @throws {OAuthClientError} `invalid_argument`: a required option is missing or empty,
 * an option or scope value is invalid, or `parameters` contains a name that the request
 * sets.
 * @see RFC 6749, section 4.1.3; RFC 7636, section 4.5; RFC 8707, section 2.2.
 *
 * @example Redeem a code
 * ```ts
 * import {
 *   buildAuthorizationCodeBody,
 *   fetchToken,
 *   publicClient,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const serverMetadata = {
 *   issuer: "https://as.example",
 *   token_endpoint: "https://as.example/token",
 *   response_types_supported: ["code"],
 * };
 * const body = buildAuthorizationCodeBody({
 *   code: "SplxlOBeZQQYbYS6WxSbIA",
 *   redirectUri: "http://127.0.0.1:33418/",
 *   codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
 *   resource: "https://api.example/mcp",
 * });
 * const token = await fetchToken(serverMetadata, body, {
 *   client: publicClient("my-client"),
 *   // Instead of the server; omit it to use the global fetch.
 *   fetch: () =>
 *     Promise.resolve(
 *       Response.json({ access_token: "t1", token_type: "Bearer" }),
 *     ),
 * });
 * assertEquals(token.access_token, "t1");
 * ```
 *
 * @category Messages of the protocol
 */
export function buildAuthorizationCodeBody(
  options: BuildAuthorizationCodeBodyOptions,
): URLSearchParams {
  const { code, redirectUri, codeVerifier } = options;
  return formWith({
    grant_type: "authorization_code",
    code: requireNonEmptyString("code", code),
    redirect_uri: requireNonEmptyString("redirectUri", urlString(redirectUri)),
    code_verifier: requireNonEmptyString("codeVerifier", codeVerifier),
  }, options);
}

/** Options of {@linkcode buildRefreshTokenBody}. */
export interface BuildRefreshTokenBodyOptions extends TokenBodyOptions {
  /** The refresh token. */
  refreshToken: string;
}

/**
 * Returns the body of the token request that refreshes an access token. `scopes` can
 * only narrow the granted scope. {@linkcode refreshToken} also sends the body, and
 * keeps absent members.
 *
 * @throws {OAuthClientError} `invalid_argument`, as
 * {@linkcode buildAuthorizationCodeBody}.
 * @see RFC 6749, section 6.
 *
 * @example Request a token with fewer scopes
 * ```ts
 * import { buildRefreshTokenBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildRefreshTokenBody({ refreshToken: "r1", scopes: ["read"] });
 * assertEquals(
 *   body.toString(),
 *   "grant_type=refresh_token&refresh_token=r1&scope=read",
 * );
 * ```
 *
 * @category Messages of the protocol
 */
export function buildRefreshTokenBody(
  options: BuildRefreshTokenBodyOptions,
): URLSearchParams {
  const { refreshToken } = options;
  return formWith({
    grant_type: "refresh_token",
    refresh_token: requireNonEmptyString("refreshToken", refreshToken),
  }, options);
}

/**
 * Returns the body of the token request with the client credentials grant, for a client
 * that acts on its own behalf.
 *
 * @throws {OAuthClientError} `invalid_argument`, as
 * {@linkcode buildAuthorizationCodeBody}.
 * @see RFC 6749, section 4.4.2.
 *
 * @example Request a token for a service, with a parameter of its server
 * ```ts
 * import { buildClientCredentialsBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildClientCredentialsBody({
 *   scopes: ["read"],
 *   parameters: { audience: "https://api.example" },
 * });
 * assertEquals(
 *   body.toString(),
 *   "grant_type=client_credentials&scope=read" +
 *     "&audience=https%3A%2F%2Fapi.example",
 * );
 * ```
 *
 * @category Messages of the protocol
 */
export function buildClientCredentialsBody(
  options?: TokenBodyOptions,
): URLSearchParams {
  return formWith({ grant_type: "client_credentials" }, options ?? {});
}

/** Options of {@linkcode buildDeviceTokenBody}. */
export interface BuildDeviceTokenBodyOptions extends TokenBodyOptions {
  /** The `device_code` of the device authorization response. */
  deviceCode: string;
}

/**
 * Returns the body of a token request with a device code. {@linkcode pollDeviceToken}
 * sends it until the user has finished.
 *
 * @throws {OAuthClientError} `invalid_argument`, as
 * {@linkcode buildAuthorizationCodeBody}.
 * @see RFC 8628, section 3.4.
 *
 * @example Build one poll from a device authorization response
 * ```ts
 * import { buildDeviceTokenBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * function pollBody(response: { device_code: string }): URLSearchParams {
 *   return buildDeviceTokenBody({ deviceCode: response.device_code });
 * }
 * const body = pollBody({ device_code: "GmRhm" });
 * assertEquals(body.get("device_code"), "GmRhm");
 * ```
 *
 * @category Messages of the protocol
 */
export function buildDeviceTokenBody(
  options: BuildDeviceTokenBodyOptions,
): URLSearchParams {
  const { deviceCode } = options;
  return formWith({
    grant_type: GRANT_TYPE_DEVICE_CODE,
    device_code: requireNonEmptyString("deviceCode", deviceCode),
  }, options);
}

/** Options of {@linkcode buildJwtBearerBody}. */
export interface BuildJwtBearerBodyOptions extends TokenBodyOptions {
  /** A JWT of an issuer that the authorization server trusts. */
  assertion: string;
}

/**
 * Returns the body of the token request that redeems a JWT assertion, such as an ID-JAG
 * or a workload's identity token.
 *
 * @throws {OAuthClientError} `invalid_argument`, as
 * {@linkcode buildAuthorizationCodeBody}.
 * @see RFC 7523, section 2.1.
 *
 * @example Exchange the identity token of a workload for an access token
 * ```ts
 * import { buildJwtBearerBody } from "@oauth-helper/client";
 *
 * function workloadBody(identityToken: string): URLSearchParams {
 *   return buildJwtBearerBody({
 *     assertion: identityToken,
 *     resource: "https://api.example",
 *     scopes: ["deploy"],
 *   });
 * }
 * console.log([...workloadBody("eyJhbGciOi...").keys()]);
 * ```
 *
 * @category Messages of the protocol
 */
export function buildJwtBearerBody(
  options: BuildJwtBearerBodyOptions,
): URLSearchParams {
  const { assertion } = options;
  return formWith({
    grant_type: GRANT_TYPE_JWT_BEARER,
    assertion: requireNonEmptyString("assertion", assertion),
  }, options);
}

/** Options of {@linkcode buildTokenExchangeBody}. */
export interface BuildTokenExchangeBodyOptions extends TokenBodyOptions {
  /** The token to exchange. */
  subjectToken: string;
  /**
   * Token type identifier of `subjectToken`, such as {@linkcode TOKEN_TYPE_ID_TOKEN}.
   */
  subjectTokenType: string;
  /** Token type identifier of the requested token; when absent, the server chooses. */
  requestedTokenType?: string | undefined;
  /** Logical name of the service that the requested token is for. */
  audience?: string | undefined;
  /** A token of the party that acts for the subject. */
  actorToken?: string | undefined;
  /** Token type identifier of `actorToken`; required with it. */
  actorTokenType?: string | undefined;
}

/**
 * Returns the body of the token request that exchanges one token for another.
 *
 * @throws {OAuthClientError} `invalid_argument`, as
 * {@linkcode buildAuthorizationCodeBody}; or only one of `actorToken` and
 * `actorTokenType` is given.
 * @see RFC 8693, section 2.1.
 *
 * @example Exchange a user's token for one that a downstream service accepts
 * ```ts
 * import {
 *   buildTokenExchangeBody,
 *   TOKEN_TYPE_ACCESS_TOKEN,
 * } from "@oauth-helper/client";
 *
 * function downstreamBody(userToken: string): URLSearchParams {
 *   return buildTokenExchangeBody({
 *     subjectToken: userToken,
 *     subjectTokenType: TOKEN_TYPE_ACCESS_TOKEN,
 *     audience: "billing",
 *     scopes: ["invoices:read"],
 *   });
 * }
 * console.log(downstreamBody("eyJhbGciOi...").get("audience"));
 * ```
 *
 * @category Messages of the protocol
 */
export function buildTokenExchangeBody(
  options: BuildTokenExchangeBodyOptions,
): URLSearchParams {
  const { actorToken, actorTokenType, requestedTokenType, audience } = options;
  // RFC 8693, section 2.1.
  requireArgument(
    Boolean(actorToken) === Boolean(actorTokenType),
    "actorToken",
    "given together with actorTokenType",
  );
  return formWith({
    grant_type: GRANT_TYPE_TOKEN_EXCHANGE,
    subject_token: requireNonEmptyString("subjectToken", options.subjectToken),
    subject_token_type: requireNonEmptyString(
      "subjectTokenType",
      options.subjectTokenType,
    ),
    requested_token_type: optionalString(
      "requestedTokenType",
      requestedTokenType,
    ),
    audience: optionalString("audience", audience),
    actor_token: optionalString("actorToken", actorToken),
    actor_token_type: optionalString("actorTokenType", actorTokenType),
  }, options);
}
