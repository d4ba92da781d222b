/**
 * Form bodies of token requests, one for each grant. Who the client is, its
 * authentication adds.
 *
 * @module
 */

import {
  optionalText,
  requireArgument,
  requireObject,
  requireText,
  requireTextMembers,
} from "../core/_arguments.ts";
import { formOf, joinScopes } from "./_form.ts";
import {
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
} from "../core/constants.ts";

/** Members that most token requests share. */
export interface ITokenBodyOptions {
  /** Resource indicator, as in the authorization request; false for none. */
  resource?: string | false | undefined;
  /** Scopes; the parameter is left out when undefined or empty. */
  scopes?: readonly string[] | undefined;
  /** Further parameters; none can replace or repeat one of the body's own. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** A form of a request's own members, the shared ones, and the caller's. */
export function formWith(
  members: [string, string][],
  { resource, scopes = [], parameters = {} }: ITokenBodyOptions,
): URLSearchParams {
  const own: [string, string][] = [
    ...members,
    ["resource", resource ? requireText("resource", resource) : ""],
    ["scope", joinScopes(scopes)],
  ];
  const names = own.map(([name]) => name);
  requireTextMembers("parameters", parameters);
  const further = Object.entries(parameters)
    .filter(([name]) => !names.includes(name));
  return formOf([...own, ...further]);
}

/** A form of a grant. */
function grantForm(
  grantType: string,
  members: [string, string][],
  options: ITokenBodyOptions,
): URLSearchParams {
  return formWith([["grant_type", grantType], ...members], options);
}

/** Options of {@linkcode buildAuthorizationCodeBody}. */
export interface IBuildAuthorizationCodeBodyOptions extends ITokenBodyOptions {
  /** The code that the user brought back. */
  code: string;
  /** The redirect URI of the authorization request. */
  redirectUri: string;
  /** The PKCE verifier of the authorization request. */
  codeVerifier: string;
}

/**
 * Body of the token request that redeems an authorization code. Here, as in the
 * bodies below, the client adds who it is by its authentication.
 *
 * @throws {OAuthClientError} `invalid_argument`: a member is missing, empty or of
 * the wrong type.
 * @see RFC 6749, section 4.1.3; RFC 7636, section 4.5; RFC 8707, section 2.2.
 *
 * @example Redeem a code
 * ```ts
 * import { buildAuthorizationCodeBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildAuthorizationCodeBody({
 *   code: "c0de",
 *   redirectUri: "http://127.0.0.1:8123/callback",
 *   codeVerifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
 *   resource: "https://api.example/mcp",
 * });
 * assertEquals(body.get("grant_type"), "authorization_code");
 * ```
 */
export function buildAuthorizationCodeBody(
  options: IBuildAuthorizationCodeBodyOptions,
): URLSearchParams {
  const { code, redirectUri, codeVerifier } = requireObject("options", options);
  return grantForm("authorization_code", [
    ["code", requireText("code", code)],
    ["redirect_uri", requireText("redirectUri", redirectUri)],
    ["code_verifier", requireText("codeVerifier", codeVerifier)],
  ], options);
}

/** Options of {@linkcode buildRefreshTokenBody}. */
export interface IBuildRefreshTokenBodyOptions extends ITokenBodyOptions {
  /** The refresh token. */
  refreshToken: string;
}

/**
 * Body of the token request that refreshes an access token. Scopes can be
 * narrowed here and never widened.
 *
 * @throws {OAuthClientError} `invalid_argument`: a member is missing, empty or of
 * the wrong type.
 * @see RFC 6749, section 6.
 *
 * @example Refresh
 * ```ts
 * import { buildRefreshTokenBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildRefreshTokenBody({ refreshToken: "r1" });
 * assertEquals(body.toString(), "grant_type=refresh_token&refresh_token=r1");
 * ```
 */
export function buildRefreshTokenBody(
  options: IBuildRefreshTokenBodyOptions,
): URLSearchParams {
  const { refreshToken } = requireObject("options", options);
  return grantForm("refresh_token", [
    ["refresh_token", requireText("refreshToken", refreshToken)],
  ], options);
}

/**
 * Body of the token request of a client that acts for itself.
 *
 * @throws {OAuthClientError} `invalid_argument`: a member has the wrong type.
 * @see RFC 6749, section 4.4.2.
 *
 * @example A service asks for its own token
 * ```ts
 * import { buildClientCredentialsBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildClientCredentialsBody({ scopes: ["read"] });
 * assertEquals(body.toString(), "grant_type=client_credentials&scope=read");
 * ```
 */
export function buildClientCredentialsBody(
  options: ITokenBodyOptions = {},
): URLSearchParams {
  return grantForm("client_credentials", [], requireObject("options", options));
}

/** Options of {@linkcode buildDeviceTokenBody}. */
export interface IBuildDeviceTokenBodyOptions extends ITokenBodyOptions {
  /** The `device_code` of the device authorization. */
  deviceCode: string;
}

/**
 * Body of one poll for the token of a device authorization.
 *
 * @throws {OAuthClientError} `invalid_argument`: a member is missing, empty or of
 * the wrong type.
 * @see RFC 8628, section 3.4.
 *
 * @example Poll once
 * ```ts
 * import { buildDeviceTokenBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildDeviceTokenBody({ deviceCode: "d1" });
 * assertEquals(body.get("device_code"), "d1");
 * ```
 */
export function buildDeviceTokenBody(
  options: IBuildDeviceTokenBodyOptions,
): URLSearchParams {
  const { deviceCode } = requireObject("options", options);
  return grantForm("urn:ietf:params:oauth:grant-type:device_code", [
    ["device_code", requireText("deviceCode", deviceCode)],
  ], options);
}

/** Options of {@linkcode buildJwtBearerBody}. */
export interface IBuildJwtBearerBodyOptions extends ITokenBodyOptions {
  /** A JWT that the authorization server trusts the issuer of. */
  assertion: string;
}

/**
 * Body of the token request that redeems an assertion the caller holds: an
 * ID-JAG, or the identity of a workload. When it is refused, neither a retry nor
 * another grant is called for.
 *
 * @throws {OAuthClientError} `invalid_argument`: a member is missing, empty or of
 * the wrong type.
 * @see RFC 7523, section 2.1.
 *
 * @example A workload shows the token of its platform
 * ```ts
 * import { buildJwtBearerBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildJwtBearerBody({ assertion: "eyJhbGciOi..." });
 * assertEquals(body.get("assertion"), "eyJhbGciOi...");
 * ```
 */
export function buildJwtBearerBody(
  options: IBuildJwtBearerBodyOptions,
): URLSearchParams {
  const { assertion } = requireObject("options", options);
  return grantForm(GRANT_TYPE_JWT_BEARER, [
    ["assertion", requireText("assertion", assertion)],
  ], options);
}

/** Options of {@linkcode buildTokenExchangeBody}. */
export interface IBuildTokenExchangeBodyOptions extends ITokenBodyOptions {
  /** The token to exchange. */
  subjectToken: string;
  /** What kind of token that is, such as {@linkcode TOKEN_TYPE_ID_TOKEN}. */
  subjectTokenType: string;
  /** What kind of token is wanted; the server chooses when undefined. */
  requestedTokenType?: string | undefined;
  /** Whom the wanted token is for. */
  audience?: string | undefined;
  /** A token of the party that acts for the subject. */
  actorToken?: string | undefined;
  /** What kind of token that is; needed with `actorToken`. */
  actorTokenType?: string | undefined;
}

/**
 * Body of the token request that exchanges one token for another.
 *
 * @throws {OAuthClientError} `invalid_argument`: a member is missing, empty or of
 * the wrong type, or one of `actorToken` and `actorTokenType` comes alone.
 * @see RFC 8693, section 2.1.
 *
 * @example Exchange an ID token for an ID-JAG
 * ```ts
 * import {
 *   buildTokenExchangeBody,
 *   TOKEN_TYPE_ID_JAG,
 *   TOKEN_TYPE_ID_TOKEN,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildTokenExchangeBody({
 *   subjectToken: "eyJhbGciOi...",
 *   subjectTokenType: TOKEN_TYPE_ID_TOKEN,
 *   requestedTokenType: TOKEN_TYPE_ID_JAG,
 *   audience: "https://as.example",
 * });
 * assertEquals(body.get("audience"), "https://as.example");
 * ```
 */
export function buildTokenExchangeBody(
  options: IBuildTokenExchangeBodyOptions,
): URLSearchParams {
  const { actorToken, actorTokenType } = requireObject("options", options);
  // RFC 8693, section 2.1: neither of the two makes sense without the other.
  requireArgument(
    Boolean(actorToken) === Boolean(actorTokenType),
    "actorToken",
    "given together with actorTokenType",
  );
  return grantForm(GRANT_TYPE_TOKEN_EXCHANGE, [
    ["subject_token", requireText("subjectToken", options.subjectToken)],
    [
      "subject_token_type",
      requireText("subjectTokenType", options.subjectTokenType),
    ],
    [
      "requested_token_type",
      optionalText("requestedTokenType", options.requestedTokenType),
    ],
    ["audience", optionalText("audience", options.audience)],
    ["actor_token", optionalText("actorToken", actorToken)],
    ["actor_token_type", optionalText("actorTokenType", actorTokenType)],
  ], options);
}
