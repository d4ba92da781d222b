/** Authorization details (RFC 9396, section 2). */

import { invalidArgument, requireArgument } from "./_arguments.ts";
import { isMembers, stringMember } from "./_members.ts";
import type { IAuthorizationDetail } from "./types.ts";

/** Checks whether a value is a list of authorization details. */
export function isAuthorizationDetails(
  value: unknown,
): value is IAuthorizationDetail[] {
  return Array.isArray(value) &&
    // Spreading turns holes into members; `every` alone would skip them.
    [...value].every((detail) =>
      isMembers(detail) && stringMember(detail, "type") !== undefined
    );
}

/** Encodes authorization details of a caller; undefined if there are none. */
export function encodeAuthorizationDetails(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  requireArgument(
    isAuthorizationDetails(value),
    "authorizationDetails",
    "an array of objects, each with a non-empty type",
  );
  if (value.length === 0) return undefined;
  try {
    return JSON.stringify(value);
  } catch {
    throw invalidArgument(
      "authorizationDetails",
      "an array that JSON can represent",
    );
  }
}
