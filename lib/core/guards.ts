/**
 * Type guards. They check only required members, because servers often break other
 * parts of a standard.
 */

import { isObject } from "./_members.ts";
import { OAuthClientError } from "./errors.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "./metadata.ts";
import type {
  IAuthorizationAuthorizeResponse,
  IAuthorizationDeviceResponse,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationErrorResponse,
  IAuthorizationRegistrationErrorResponse,
  IAuthorizationTokenResponse,
} from "./types.ts";

const URL_MEMBERS = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "jwks_uri",
];

function defines(value: unknown, ...members: string[]): boolean {
  return isObject(value) &&
    members.every((member) => value[member] !== undefined);
}

/**
 * Checks whether a value is metadata of a protected resource: `resource` is
 * truthy, and `scopes_supported`, if defined, is an array.
 *
 * @see RFC 9728, section 2.
 *
 * @example Read metadata from a cache
 * ```ts
 * import { isAuthorizationProtectedResourceMetadata } from "@oauth-helper/client";
 *
 * function issuersIn(json: string): string[] {
 *   const cached: unknown = JSON.parse(json);
 *   return isAuthorizationProtectedResourceMetadata(cached)
 *     ? cached.authorization_servers ?? []
 *     : [];
 * }
 * console.log(issuersIn('{"resource":"https://api.example/"}'));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationProtectedResourceMetadata(
  value: unknown,
): value is IAuthorizationProtectedResourceMetadata {
  return isObject(value) && Boolean(value.resource) &&
    (value.scopes_supported === undefined ||
      Array.isArray(value.scopes_supported));
}

function refuse(problem: string): never {
  throw new OAuthClientError(
    "invalid_metadata",
    `Authorization server metadata ${problem}`,
  );
}

/**
 * Checks whether a value is metadata of an authorization server. Returns false if it is
 * not an object, and throws if an object fails a check.
 *
 * `issuer` must be set. `issuer`, `authorization_endpoint`, `token_endpoint`,
 * `registration_endpoint` and `jwks_uri` must start with `http://` or `https://`; all
 * except `issuer` may be absent, `null` or empty.
 *
 * @throws {OAuthClientError} `invalid_metadata`: an object fails a check.
 * @see RFC 8414, section 2.
 *
 * @example Load metadata from a file, with a clear error
 * ```ts
 * import { isAuthorizationServerMetadata } from "@oauth-helper/client";
 *
 * function tokenEndpointIn(json: string): string | undefined {
 *   const metadata: unknown = JSON.parse(json);
 *   if (!isAuthorizationServerMetadata(metadata)) {
 *     throw new Error("The file holds no JSON object");
 *   }
 *   return metadata.token_endpoint;
 * }
 * console.log(tokenEndpointIn('{"issuer":"https://as.example"}'));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationServerMetadata(
  value: unknown,
): value is IAuthorizationServerMetadata {
  if (!isObject(value)) return false;
  if (!value.issuer) refuse("must have an issuer");
  for (const field of URL_MEMBERS) {
    const url = value[field];
    if (!url) continue;
    if (typeof url !== "string") refuse(`'${field}' must be a string`);
    if (!/^https?:\/\//.test(url)) {
      refuse(`'${field}' must start with http:// or https://`);
    }
  }
  return true;
}

/**
 * Checks whether a value is the response to a client registration: `client_id` is
 * defined.
 *
 * @see RFC 7591, section 3.2.1.
 *
 * @example Reuse a stored registration
 * ```ts
 * import { isAuthorizationDynamicClientRegistrationResponse } from "@oauth-helper/client";
 *
 * function storedClientId(json: string | null): string | undefined {
 *   const stored: unknown = JSON.parse(json ?? "null");
 *   return isAuthorizationDynamicClientRegistrationResponse(stored)
 *     ? stored.client_id
 *     : undefined;
 * }
 * console.log(storedClientId('{"client_id":"c1"}'));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationDynamicClientRegistrationResponse(
  value: unknown,
): value is IAuthorizationDynamicClientRegistrationResponse {
  return defines(value, "client_id");
}

/**
 * Checks whether a value contains the parameters of a successful authorization
 * response: `code` and `state` are defined. {@linkcode parseAuthorizationResponse} also
 * checks that the response belongs to the request.
 *
 * @see RFC 6749, section 4.1.2.
 *
 * @example Distinguish a callback from other requests
 * ```ts
 * import { isAuthorizationAuthorizeResponse } from "@oauth-helper/client";
 *
 * function codeOf(url: URL): string | undefined {
 *   const parameters: unknown = Object.fromEntries(url.searchParams);
 *   return isAuthorizationAuthorizeResponse(parameters)
 *     ? parameters.code
 *     : undefined;
 * }
 * console.log(codeOf(new URL("http://127.0.0.1:33418/favicon.ico")));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationAuthorizeResponse(
  value: unknown,
): value is IAuthorizationAuthorizeResponse {
  return defines(value, "code", "state");
}

/**
 * Checks whether a value is a successful response of a token endpoint: `access_token`
 * and `token_type` are defined.
 *
 * @see RFC 6749, section 5.1.
 *
 * @example Handle the response to your own token request
 * ```ts
 * import {
 *   isAuthorizationErrorResponse,
 *   isAuthorizationTokenResponse,
 * } from "@oauth-helper/client";
 *
 * async function readToken(response: Response): Promise<string> {
 *   const body: unknown = await response.json();
 *   if (isAuthorizationErrorResponse(body)) throw new Error(body.error);
 *   if (isAuthorizationTokenResponse(body)) return body.access_token;
 *   throw new Error("Neither a token nor an error");
 * }
 * const response = Response.json({ access_token: "t1", token_type: "Bearer" });
 * console.log(await readToken(response));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationTokenResponse(
  value: unknown,
): value is IAuthorizationTokenResponse {
  return defines(value, "access_token", "token_type");
}

/**
 * Checks whether a value is the response of a device authorization endpoint:
 * `device_code`, `user_code`, `verification_uri` and `expires_in` are defined.
 *
 * @see RFC 8628, section 3.2.
 *
 * @example Show the user code
 * ```ts
 * import { isAuthorizationDeviceResponse } from "@oauth-helper/client";
 *
 * async function showCode(response: Response): Promise<void> {
 *   const body: unknown = await response.json();
 *   if (!isAuthorizationDeviceResponse(body)) throw new Error("No user code");
 *   console.log(`Open ${body.verification_uri} and enter ${body.user_code}`);
 * }
 * await showCode(Response.json({
 *   device_code: "d1",
 *   user_code: "WDJB-MJHT",
 *   verification_uri: "https://as.example/device",
 *   expires_in: 600,
 * }));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationDeviceResponse(
  value: unknown,
): value is IAuthorizationDeviceResponse {
  return defines(
    value,
    "device_code",
    "user_code",
    "verification_uri",
    "expires_in",
  );
}

/**
 * Checks whether a value is an OAuth error response: `error` is defined.
 *
 * @see RFC 6749, section 5.2.
 *
 * @example Decide whether the user has to sign in again
 * ```ts
 * import {
 *   AuthorizationErrorType,
 *   isAuthorizationErrorResponse,
 * } from "@oauth-helper/client";
 *
 * function needsSignIn(body: unknown): boolean {
 *   return isAuthorizationErrorResponse(body) &&
 *     body.error === AuthorizationErrorType.InvalidGrant;
 * }
 * console.log(needsSignIn({ error: "invalid_grant" }));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationErrorResponse(
  value: unknown,
): value is IAuthorizationErrorResponse {
  return defines(value, "error");
}

/**
 * Checks whether a value is the error response to a client registration: `error`
 * is defined.
 *
 * @see RFC 7591, section 3.2.2.
 *
 * @example Explain a failed registration
 * ```ts
 * import {
 *   AuthorizationRegistrationErrorType,
 *   isAuthorizationRegistrationErrorResponse,
 * } from "@oauth-helper/client";
 *
 * function explain(body: unknown): string {
 *   if (!isAuthorizationRegistrationErrorResponse(body)) return "Unknown error";
 *   return body.error === AuthorizationRegistrationErrorType.InvalidRedirectUri
 *     ? "The server does not allow this redirect URI"
 *     : body.error_description ?? body.error;
 * }
 * console.log(explain({ error: "invalid_redirect_uri" }));
 * ```
 *
 * @category Literal layer
 */
export function isAuthorizationRegistrationErrorResponse(
  value: unknown,
): value is IAuthorizationRegistrationErrorResponse {
  return defines(value, "error");
}
