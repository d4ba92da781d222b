import { requireArgument } from "./_arguments.ts";
import { isMembers, stringMember } from "./_members.ts";
import type { AuthorizationDetail } from "./types.ts";

export function isAuthorizationDetails(
  value: unknown,
): value is AuthorizationDetail[] {
  return Array.isArray(value) &&
    value.every((detail) => isMembers(detail) && stringMember(detail, "type"));
}

export function encodeAuthorizationDetails(
  details: readonly AuthorizationDetail[] = [],
): string | undefined {
  requireArgument(
    isAuthorizationDetails(details),
    "authorizationDetails",
    "an array of objects, each with a non-empty type",
  );
  return details.length > 0 ? JSON.stringify(details) : undefined;
}
