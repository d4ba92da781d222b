export type Members = Record<string, unknown>;

/** Arrays count as objects. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

export function isMembers(value: unknown): value is Members {
  return isObject(value) && !Array.isArray(value);
}

/** Removes members that are `null`. Servers send them instead of omitting them. */
export function withoutNulls(value: unknown): unknown {
  return isMembers(value) && Object.values(value).includes(null)
    ? Object.fromEntries(
      Object.entries(value).filter(([, member]) => member !== null),
    )
    : value;
}

export function stringMember(
  members: Members,
  name: string,
): string | undefined {
  const value = members[name];
  return typeof value === "string" && value ? value : undefined;
}

/** Also accepts decimal digits in a string. */
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

export function stringsIn(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((member) => typeof member === "string")
    : undefined;
}

/** Returns a well-formed error code (RFC 6749, section 5.2). */
export function errorCodeOf(value: unknown): string | undefined {
  const isCode = typeof value === "string" &&
    /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(value);
  return isCode ? value : undefined;
}
