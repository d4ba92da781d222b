/** Checks of what callers pass in; each fails with `invalid_argument`. */

import { parseHttpUrl } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";

/** The error of an argument. The value itself is never shown. */
export function invalidArgument(
  name: string,
  expected: string,
): OAuthClientError {
  const message = `${name} must be ${expected}`;
  return new OAuthClientError("invalid_argument", message);
}

/** Fails unless the condition holds. */
export function requireArgument(
  condition: boolean,
  name: string,
  expected: string,
): asserts condition {
  if (!condition) throw invalidArgument(name, expected);
}

/** Returns a string, which may be empty. */
export function requireString(name: string, value: unknown): string {
  if (typeof value !== "string") throw invalidArgument(name, "a string");
  return value;
}

/** Returns a string that is not empty. */
export function requireNonEmptyString(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalidArgument(name, "a non-empty string");
}

/** Returns a string; undefined, `null` and the empty string give the empty one. */
export function optionalString(name: string, value: unknown): string {
  return value === undefined || value === null
    ? ""
    : requireString(name, value);
}

/** Returns an array of strings. */
export function requireStrings(name: string, value: unknown): string[] {
  const expected = "an array of strings";
  if (!Array.isArray(value)) throw invalidArgument(name, expected);
  // Unlike `every`, this does not skip the holes of an array.
  for (const member of value) {
    if (typeof member !== "string") throw invalidArgument(name, expected);
  }
  return value;
}

/** Returns an object. */
export function requireObject<T>(name: string, value: T): NonNullable<T> {
  if (typeof value === "object" && value) return value;
  throw invalidArgument(name, "an object");
}

/** Returns a function, or undefined where there is none. */
export function optionalFunction<T>(name: string, value: T): T {
  if (typeof (value ?? invalidArgument) === "function") return value;
  throw invalidArgument(name, "a function");
}

/**
 * Returns strings by name, none if undefined. A `Headers` or a `Map` is refused,
 * because it would seem to have none.
 */
export function requireStringMembers(
  name: string,
  value: unknown,
): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const isStrings = typeof value === "object" && value !== null &&
    !Array.isArray(value) &&
    typeof (value as { get?: unknown }).get !== "function" &&
    Object.values(value).every((member) => typeof member === "string");
  if (!isStrings) throw invalidArgument(name, "a plain object of strings");
  return value as Record<string, string>;
}

/** Returns a URL, given as a string or a `URL`. */
export function requireHttpUrl(name: string, value: unknown): URL {
  const url = parseHttpUrl(value);
  if (url) return url;
  throw invalidArgument(
    name,
    "an absolute http or https URL without credentials",
  );
}
