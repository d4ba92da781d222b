/**
 * Scope lists (RFC 6749, section 3.3).
 *
 * @module
 */

import { requireTexts } from "./_arguments.ts";

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
