/** Checks of scope values (RFC 6749, section 3.3). */

import { requireArgument, requireStrings } from "./_arguments.ts";

const SCOPE_VALUE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The start of a value, in printable ASCII and in quotes. */
function quoteStart(value: string): string {
  return `"${value.slice(0, 50).replaceAll(/[^\x20-\x7e]/g, "?")}"`;
}

/** Checks scopes from a caller: an array of valid scope values. */
export function requireScopes(name: string, value: unknown): string[] {
  const scopes = requireStrings(name, value);
  const unfit = scopes.find((scope) => !SCOPE_VALUE.test(scope));
  requireArgument(
    unfit === undefined,
    name,
    "an array of scope values (RFC 6749, section 3.3), but contains " +
      quoteStart(unfit ?? ""),
  );
  return scopes;
}

/**
 * Reads scopes from a server: a string or a list of strings, split at whitespace,
 * each value once. Values that RFC 6749 does not allow are dropped.
 */
export function scopesFrom(value: unknown): string[] {
  const members: unknown[] = Array.isArray(value) ? value : [value];
  const scopes = members.flatMap((member) =>
    typeof member === "string" ? member.split(/\s+/) : []
  );
  return [...new Set(scopes.filter((scope) => SCOPE_VALUE.test(scope)))];
}
