/**
 * Scope lists (RFC 6749, section 3.3).
 *
 * @module
 */

import { requireObject, requireTexts, textsIn } from "./_arguments.ts";
import { AUTH_SCOPE_SEPARATOR } from "./constants.ts";
import type {
  IAuthenticationChallenge,
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "./types.ts";

const OFFLINE_ACCESS = "offline_access";

function requireOptionalTexts(
  name: string,
  value: unknown,
): readonly string[] | undefined {
  return value === undefined || value === null
    ? undefined
    : requireTexts(name, value);
}

/**
 * Whether two scope lists hold the same values, in whatever order.
 *
 * A value that stands twice counts twice. An undefined list equals only
 * another undefined one.
 *
 * @throws {OAuthClientError} `invalid_argument`: a list is not an array of
 * strings.
 * @see RFC 6749, section 3.3: the order of scope values does not matter.
 *
 * @example Was everything granted that was asked for?
 * ```ts
 * import { scopesMatch } from "@oauth-helper/client";
 * import { assert } from "@std/assert";
 *
 * const granted = "write read";
 * assert(scopesMatch(["read", "write"], granted.split(" ")));
 * ```
 */
export function scopesMatch(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): boolean {
  const left = requireOptionalTexts("a", a);
  const right = requireOptionalTexts("b", b);
  if (left === right) return true;
  if (!left || !right || left.length !== right.length) return false;
  const sorted = [...right].sort();
  return [...left].sort().every((scope, index) => scope === sorted[index]);
}

/** Scopes as lists hold them or as they travel: separated by spaces. */
export type ScopeList = string | readonly string[] | undefined;

function valuesOf(name: string, scopes: ScopeList): string[] {
  const values = typeof scopes === "string"
    ? scopes.split(AUTH_SCOPE_SEPARATOR)
    : requireTexts(name, scopes ?? []);
  return values.filter((value) => value !== "");
}

/**
 * The union of scope lists, each value once, in the order of first appearance.
 * What to ask for when a `403` with `insufficient_scope` names more scopes: those
 * held so far and those of the challenge. A refresh token cannot widen what was
 * granted; a new authorization request is needed.
 *
 * @throws {OAuthClientError} `invalid_argument`: neither text nor an array of
 * strings.
 * @see RFC 6750, section 3.1; RFC 6749, section 6.
 *
 * @example Step up
 * ```ts
 * import { mergeScopes } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(mergeScopes("read list", ["read", "write"]), [
 *   "read",
 *   "list",
 *   "write",
 * ]);
 * ```
 */
export function mergeScopes(...lists: ScopeList[]): string[] {
  return [...new Set(lists.flatMap((list) => valuesOf("scopes", list)))];
}

/**
 * Those required scopes that were not granted; an empty list means that nothing
 * is missing. A token without a `scope` was granted what was asked for (RFC 6749,
 * section 5.1): pass that instead.
 *
 * @throws {OAuthClientError} `invalid_argument`: neither text nor an array of
 * strings.
 *
 * @example See whether a step-up is needed
 * ```ts
 * import { missingScopes } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(missingScopes("read write", "read list"), ["write"]);
 * ```
 */
export function missingScopes(
  required: ScopeList,
  granted: ScopeList,
): string[] {
  const held = new Set(valuesOf("granted", granted));
  return mergeScopes(required).filter((scope) => !held.has(scope));
}

/** What {@linkcode selectScopes} chooses from. */
export interface ISelectScopesOptions {
  /** The challenge of the resource. */
  challenge?: IAuthenticationChallenge | undefined;
  /** Metadata of the resource. */
  resourceMetadata?: IAuthorizationProtectedResourceMetadata | undefined;
  /** Metadata of the authorization server; needed for `offlineAccess` only. */
  serverMetadata?: IAuthorizationServerMetadata | undefined;
  /**
   * Asks for `offline_access`, hence usually a refresh token, where the
   * authorization server lists that scope.
   */
  offlineAccess?: boolean | undefined;
}

/**
 * The scopes to ask for: those of the challenge; else all that the resource's
 * metadata lists; else nothing, which leaves the choice to the server.
 *
 * @returns Undefined when the `scope` parameter is to be left out.
 * @see Model Context Protocol 2025-11-25, "Authorization", scope selection.
 *
 * @example The challenge decides
 * ```ts
 * import { parseChallenges, selectScopes } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const [challenge] = parseChallenges('Bearer scope="read"');
 * const resourceMetadata = {
 *   resource: "https://api.example/",
 *   scopes_supported: ["read", "write"],
 * };
 * assertEquals(selectScopes({ challenge, resourceMetadata }), ["read"]);
 * assertEquals(selectScopes({ resourceMetadata }), ["read", "write"]);
 * assertEquals(selectScopes({}), undefined);
 * ```
 */
export function selectScopes(
  options: ISelectScopesOptions,
): string[] | undefined {
  const { challenge, resourceMetadata, serverMetadata, offlineAccess } =
    requireObject("options", options);
  const named = mergeScopes(challenge?.params.scope);
  const scopes = named.length > 0
    ? named
    : mergeScopes(textsIn(resourceMetadata?.scopes_supported));
  const mayBeOffline = offlineAccess &&
    textsIn(serverMetadata?.scopes_supported)?.includes(OFFLINE_ACCESS);
  // Asked for alone it would narrow the server's own choice to nothing else.
  if (scopes.length === 0) return undefined;
  return mayBeOffline ? mergeScopes(scopes, [OFFLINE_ACCESS]) : scopes;
}
