import {
  requireArgument,
  requireObject,
  requireStrings,
} from "./_arguments.ts";
import { scopesFrom } from "./_scope_values.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "./metadata.ts";
import type { IAuthenticationChallenge } from "./types.ts";

/** Requests a refresh token (OpenID Connect Core 1.0, section 11). */
export const OFFLINE_ACCESS = "offline_access";

/**
 * Checks whether two scope lists are equal in any order. To check a granted scope,
 * prefer {@linkcode missingScopes}.
 *
 * A value that occurs twice counts twice. Undefined equals only undefined.
 *
 * @throws {OAuthClientError} `invalid_argument`: a list is not an array of strings.
 * @see RFC 6749, section 3.3: the order of scope values does not matter.
 *
 * @example Reuse a token only for the scopes that it was requested with
 * ```ts
 * import { scopesMatch } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const cached = [
 *   { token: "t1", scopes: ["read"] },
 *   { token: "t2", scopes: ["write", "read"] },
 * ];
 * const wanted = ["read", "write"];
 * const entry = cached.find(({ scopes }) => scopesMatch(scopes, wanted));
 * assertEquals(entry?.token, "t2");
 * ```
 *
 * @category Literal layer
 */
export function scopesMatch(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): boolean {
  const left = optionalStrings("a", a);
  const right = optionalStrings("b", b);
  if (left === right) return true;
  if (!left || !right || left.length !== right.length) return false;
  if (left.every((scope, index) => scope === right[index])) return true;
  if (left.length === 1) return false;
  // Twice as fast as sorting both lists, for 20 scopes.
  const counts = new Map<string, number>();
  for (const scope of left) counts.set(scope, (counts.get(scope) ?? 0) + 1);
  return right.every((scope) => {
    const count = counts.get(scope) ?? 0;
    counts.set(scope, count - 1);
    return count > 0;
  });
}

function optionalStrings(
  name: string,
  value: readonly string[] | undefined,
): readonly string[] | undefined {
  return value === undefined || value === null
    ? undefined
    : requireStrings(name, value);
}

function valuesOf(
  name: string,
  scopes: string | readonly string[] | undefined,
): string[] {
  const isList = [scopes ?? ""].flat().every((scope) =>
    typeof scope === "string"
  );
  requireArgument(isList, name, "a string or an array of strings");
  return scopesFrom(scopes);
}

/**
 * Returns the union of scope lists: each value once, in the order of first occurrence.
 *
 * A list is an array, or a string that separates values by spaces. Array members are
 * split too, and values that RFC 6749, section 3.3, does not allow are skipped.
 *
 * After a `403` with `insufficient_scope`, merge the scopes of the token and the
 * challenge, and start a new authorization request. Refreshing cannot add scopes.
 *
 * @throws {OAuthClientError} `invalid_argument`: a list is neither a string nor an
 * array of strings.
 * @see RFC 6750, section 3.1; RFC 6749, section 6.
 *
 * @example Find the scopes for a step-up
 * ```ts
 * import { findChallenge, mergeScopes } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = { access_token: "t1", scope: "read list" };
 * const challenge = findChallenge(
 *   'Bearer error="insufficient_scope", scope="read write"',
 * );
 * const scopes = mergeScopes(token.scope, challenge?.params.scope);
 * assertEquals(scopes, ["read", "list", "write"]);
 * ```
 *
 * @category Messages of the protocol
 */
export function mergeScopes(
  ...lists: (string | readonly string[] | undefined)[]
): string[] {
  return [...new Set(lists.flatMap((list) => valuesOf("scopes", list)))];
}

/**
 * Returns the required scopes that were not granted. Reads both lists as
 * {@linkcode mergeScopes}.
 *
 * A token response without `scope` grants the requested scopes (RFC 6749, section 5.1):
 * pass them as `granted`.
 *
 * @throws {OAuthClientError} `invalid_argument`: a list is neither a string nor an
 * array of strings.
 * @see RFC 6749, section 3.3.
 *
 * @example Check a token before a call
 * ```ts
 * import { missingScopes } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = { access_token: "t1", scope: "read list" };
 * const missing = missingScopes(["read", "write"], token.scope);
 * assertEquals(missing, ["write"]);
 * ```
 *
 * @category Messages of the protocol
 */
export function missingScopes(
  required: string | readonly string[] | undefined,
  granted: string | readonly string[] | undefined,
): string[] {
  const held = new Set(valuesOf("granted", granted));
  return valuesOf("required", required).filter((scope) => !held.has(scope));
}

/** Options of {@linkcode selectScopes}. */
export interface SelectScopesOptions {
  /** Challenge of the resource. */
  challenge?: Pick<IAuthenticationChallenge, "params"> | undefined;
  /** Metadata of the resource. */
  resourceMetadata?:
    | Pick<IAuthorizationProtectedResourceMetadata, "scopes_supported">
    | undefined;
  /** Metadata of the authorization server; only needed for `offlineAccess`. */
  serverMetadata?:
    | Pick<IAuthorizationServerMetadata, "scopes_supported">
    | undefined;
  /**
   * Adds `offline_access`, which requests a refresh token, if the server lists it.
   *
   * @default false
   */
  offlineAccess?: boolean | undefined;
}

/**
 * Returns the scopes to request: the challenge's scopes, otherwise all that the
 * resource's metadata lists.
 *
 * Skips values that RFC 6749, section 3.3, does not allow.
 *
 * @returns Undefined if neither contains a scope: then omit `scope`, and the server
 * applies its default.
 * @throws {OAuthClientError} `invalid_argument`: `options` is not an object.
 * @see Model Context Protocol 2025-11-25, "Authorization", scope selection strategy;
 * OpenID Connect Core 1.0, section 11.
 *
 * @example Request the challenge's scopes, and a refresh token
 * ```ts
 * import { findChallenge, selectScopes } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const scopes = selectScopes({
 *   challenge: findChallenge('Bearer scope="files:read"'),
 *   resourceMetadata: { scopes_supported: ["files:read", "files:write"] },
 *   serverMetadata: { scopes_supported: ["openid", "offline_access"] },
 *   offlineAccess: true,
 * });
 * assertEquals(scopes, ["files:read", "offline_access"]);
 * ```
 *
 * @category Messages of the protocol
 */
export function selectScopes(
  options: SelectScopesOptions,
): string[] | undefined {
  const { challenge, resourceMetadata, serverMetadata, offlineAccess } =
    requireObject("options", options);
  const { scope } = challenge
    ? requireObject("challenge.params", challenge.params)
    : {};
  const required = scopesFrom(scope);
  const scopes = required.length > 0
    ? required
    : scopesFrom(resourceMetadata?.scopes_supported);
  // Without more scopes, `offline_access` would replace the server's default.
  if (scopes.length === 0) return undefined;
  const addsOfflineAccess = offlineAccess &&
    scopesFrom(serverMetadata?.scopes_supported).includes(OFFLINE_ACCESS);
  return addsOfflineAccess ? mergeScopes(scopes, [OFFLINE_ACCESS]) : scopes;
}
