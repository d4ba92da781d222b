/**
 * Type guards for what servers send. They look at the members that make a
 * document usable and at nothing else, since real servers break the rest.
 *
 * @module
 */

import { OAuthClientError } from "./errors.ts";
import type {
  IAuthorizationAuthorizeResponse,
  IAuthorizationDeviceResponse,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationErrorResponse,
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationRegistrationErrorResponse,
  IAuthorizationServerMetadata,
  IAuthorizationTokenResponse,
} from "./types.ts";

type Members = Record<string, unknown>;

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

function defines(value: unknown, ...members: string[]): boolean {
  return isObject(value) &&
    members.every((member) => value[member] !== undefined);
}

/**
 * Whether a value is metadata of a protected resource: `resource` is there, and
 * `scopes_supported`, where defined, is an array.
 *
 * @see RFC 9728, section 2.
 *
 * @example Check a document from a cache
 * ```ts
 * import { isAuthorizationProtectedResourceMetadata } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * const cached: unknown = JSON.parse('{"resource":"https://api.example/"}');
 * assert(isAuthorizationProtectedResourceMetadata(cached));
 * ```
 */
export function isAuthorizationProtectedResourceMetadata(
  value: unknown,
): value is IAuthorizationProtectedResourceMetadata {
  return isObject(value) && Boolean(value.resource) &&
    (value.scopes_supported === undefined ||
      Array.isArray(value.scopes_supported));
}

function invalidServerMetadata(problem: string): OAuthClientError {
  return new OAuthClientError(
    "invalid_metadata",
    `Authorization server metadata ${problem}`,
  );
}

/**
 * Whether a value is metadata of an authorization server: an object whose
 * `issuer` and endpoints are http or https addresses. Anything but an object
 * is answered with false; an object at fault throws and says where.
 *
 * @throws {OAuthClientError} `invalid_metadata`: `issuer` is missing, or one of
 * `issuer`, `authorization_endpoint`, `token_endpoint`,
 * `registration_endpoint`, `jwks_uri` is not a string that starts with
 * `http://` or `https://`. A member that is absent, `null` or empty is passed
 * over, `issuer` apart.
 * @see RFC 8414, section 2.
 *
 * @example Check a document from a cache
 * ```ts
 * import { isAuthorizationServerMetadata } from "@oauth-helper/client";
 * import { assert, assertThrows } from "@std/assert";
 *
 * assert(isAuthorizationServerMetadata({ issuer: "https://as.example" }));
 * assertThrows(() => isAuthorizationServerMetadata({ issuer: "as.example" }));
 * ```
 */
export function isAuthorizationServerMetadata(
  value: unknown,
): value is IAuthorizationServerMetadata {
  if (!isObject(value)) return false;
  if (!value.issuer) throw invalidServerMetadata("must have an issuer");
  for (
    const field of [
      "issuer",
      "authorization_endpoint",
      "token_endpoint",
      "registration_endpoint",
      "jwks_uri",
    ]
  ) {
    const url = value[field];
    if (!url) continue;
    if (typeof url !== "string") {
      throw invalidServerMetadata(`'${field}' must be a string`);
    }
    if (!url.startsWith("http://") && !url.startsWith("https://")) {
      throw invalidServerMetadata(
        `'${field}' must start with http:// or https://`,
      );
    }
  }
  return true;
}

/**
 * Whether a value answers a client registration: `client_id` is defined.
 *
 * @see RFC 7591, section 3.2.1.
 *
 * @example Check a stored registration
 * ```ts
 * import { isAuthorizationDynamicClientRegistrationResponse } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * assert(isAuthorizationDynamicClientRegistrationResponse({ client_id: "c1" }));
 * ```
 */
export function isAuthorizationDynamicClientRegistrationResponse(
  value: unknown,
): value is IAuthorizationDynamicClientRegistrationResponse {
  return defines(value, "client_id");
}

/**
 * Whether a value holds the parameters of a redirect that brings a code: `code`
 * and `state` are defined.
 *
 * @see RFC 6749, section 4.1.2.
 *
 * @example Read the query of a redirect
 * ```ts
 * import { isAuthorizationAuthorizeResponse } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * const redirect = new URL("http://127.0.0.1/?code=c&state=s");
 * assert(isAuthorizationAuthorizeResponse(Object.fromEntries(redirect.searchParams)));
 * ```
 */
export function isAuthorizationAuthorizeResponse(
  value: unknown,
): value is IAuthorizationAuthorizeResponse {
  return defines(value, "code", "state");
}

/**
 * Whether a value is a token endpoint's answer: `access_token` and `token_type`
 * are defined.
 *
 * @see RFC 6749, section 5.1.
 *
 * @example Tell a token from a refusal
 * ```ts
 * import { isAuthorizationTokenResponse } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * assert(!isAuthorizationTokenResponse({ error: "invalid_grant" }));
 * ```
 */
export function isAuthorizationTokenResponse(
  value: unknown,
): value is IAuthorizationTokenResponse {
  return defines(value, "access_token", "token_type");
}

/**
 * Whether a value is a device authorization endpoint's answer: `device_code`,
 * `user_code`, `verification_uri` and `expires_in` are defined.
 *
 * @see RFC 8628, section 3.2.
 *
 * @example Check before showing the user code
 * ```ts
 * import { isAuthorizationDeviceResponse } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * assert(isAuthorizationDeviceResponse({
 *   device_code: "d",
 *   user_code: "WDJB-MJHT",
 *   verification_uri: "https://as.example/device",
 *   expires_in: 600,
 * }));
 * ```
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
 * Whether a value is an OAuth refusal: `error` is defined.
 *
 * @see RFC 6749, section 5.2.
 *
 * @example Tell a refusal from a token
 * ```ts
 * import { isAuthorizationErrorResponse } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * assert(isAuthorizationErrorResponse({ error: "invalid_grant" }));
 * ```
 */
export function isAuthorizationErrorResponse(
  value: unknown,
): value is IAuthorizationErrorResponse {
  return defines(value, "error");
}

/**
 * Whether a value is the refusal of a client registration: `error` is defined.
 *
 * @see RFC 7591, section 3.2.2.
 *
 * @example Read a refusal
 * ```ts
 * import { isAuthorizationRegistrationErrorResponse } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * assert(isAuthorizationRegistrationErrorResponse({
 *   error: "invalid_redirect_uri",
 * }));
 * ```
 */
export function isAuthorizationRegistrationErrorResponse(
  value: unknown,
): value is IAuthorizationRegistrationErrorResponse {
  return defines(value, "error");
}
