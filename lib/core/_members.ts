/** How members of a server's JSON documents are read. */

/** The members of a JSON object. */
export type Members = Record<string, unknown>;

/** Checks whether a value is an object, which may be an array. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

/** Checks whether a value is a JSON object. */
export function isMembers(value: unknown): value is Members {
  return isObject(value) && !Array.isArray(value);
}

/** Removes members that are `null`, which servers send instead of absent ones. */
export function withoutNulls(value: unknown): unknown {
  return isMembers(value) && Object.values(value).includes(null)
    ? Object.fromEntries(
      Object.entries(value).filter(([, member]) => member !== null),
    )
    : value;
}

/** Returns a member that is a non-empty string; anything else counts as absent. */
export function stringMember(
  members: Members,
  name: string,
): string | undefined {
  const value = members[name];
  return typeof value === "string" && value ? value : undefined;
}

/** Returns a member that is a number, or decimal digits in a string. */
export function numberMember(
  members: Members,
  name: string,
): number | undefined {
  const value = members[name];
  const number = typeof value === "string" && /^-?\d+$/.test(value)
    ? Number(value)
    : value;
  return Number.isFinite(number) ? number as number : undefined;
}

/** Returns the strings of a list; undefined if the value is not a list. */
export function stringsIn(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((member) => typeof member === "string")
    : undefined;
}

/** Returns an error code that is well-formed (RFC 6749, section 5.2). */
export function errorCodeOf(value: unknown): string | undefined {
  const isCode = typeof value === "string" &&
    /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(value);
  return isCode ? value : undefined;
}
