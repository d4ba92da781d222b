/** Checks of what callers pass in; each fails with `invalid_argument`. */

import { parseHttpUrl } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";

/** The error of an argument. The value itself is never shown. */
export function invalidArgument(
  name: string,
  expected: string,
): OAuthClientError {
  return new OAuthClientError(
    "invalid_argument",
    `${name} must be ${expected}`,
  );
}

/** Fails unless the condition holds. */
export function requireArgument(
  condition: boolean,
  name: string,
  expected: string,
): asserts condition {
  if (!condition) throw invalidArgument(name, expected);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Returns a string, which may be empty. */
export function requireString(name: string, value: unknown): string {
  if (isString(value)) return value;
  throw invalidArgument(name, "a string");
}

/** Returns a string that is not empty. */
export function requireNonEmptyString(name: string, value: unknown): string {
  if (isString(value) && value) return value;
  throw invalidArgument(name, "a non-empty string");
}

/** Returns a string; undefined if there is none, or an empty one. */
export function optionalString(
  name: string,
  value: unknown,
): string | undefined {
  return requireString(name, value ?? "") || undefined;
}

/** Returns an array of strings. */
export function requireStrings(name: string, value: unknown): string[] {
  if (Array.isArray(value) && value.every(isString)) return value;
  throw invalidArgument(name, "an array of strings");
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
  const isPlain = typeof value === "object" && value &&
    !(Symbol.iterator in value);
  if (isPlain && Object.values(value).every(isString)) {
    return value as Record<string, string>;
  }
  throw invalidArgument(name, "a plain object of strings");
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
