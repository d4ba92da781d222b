/** Checks of what callers pass in, all with the same documented failure. */

import { parseUrl } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";

/** Fails unless the check holds. The value itself is never shown. */
export function requireArgument(
  holds: boolean,
  name: string,
  expected: string,
): void {
  if (!holds) {
    throw new OAuthClientError(
      "invalid_argument",
      `${name} must be ${expected}`,
    );
  }
}

/** A string, which may be empty. */
export function requireString(name: string, value: unknown): string {
  requireArgument(typeof value === "string", name, "a string");
  return value as string;
}

/** A string with at least one character. */
export function requireText(name: string, value: unknown): string {
  requireArgument(
    typeof value === "string" && value !== "",
    name,
    "a non-empty string",
  );
  return value as string;
}

/** A string, or nothing, which is as good as an empty one. */
export function optionalText(name: string, value: unknown): string {
  return value === undefined || value === null || value === ""
    ? ""
    : requireText(name, value);
}

/** An array of strings. */
export function requireTexts(name: string, value: unknown): string[] {
  requireArgument(
    // A spread makes the holes of a list members, which `every` would skip.
    Array.isArray(value) && [...value].every((one) => typeof one === "string"),
    name,
    "an array of strings",
  );
  return value as string[];
}

/** An object. */
export function requireObject<T>(name: string, value: T): NonNullable<T> {
  requireArgument(typeof value === "object" && !!value, name, "an object");
  return value!;
}

/** Texts by name; a `Headers` or a `Map` would look like none at all. */
export function requireTextMembers(name: string, value: unknown): void {
  requireArgument(
    value === undefined ||
      (typeof value === "object" && value !== null &&
        typeof (value as { get?: unknown }).get !== "function" &&
        Object.values(value).every((field) => typeof field === "string")),
    name,
    "a plain object of strings",
  );
}

/** A value as an http or https URL that shows no credentials, if it is one. */
export function parseHttpUrl(value: unknown): URL | undefined {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  const isFit = url !== undefined && /^https?:$/.test(url.protocol) &&
    !url.username && !url.password;
  return isFit ? url : undefined;
}

/** An absolute http or https URL that shows no credentials. */
export function requireHttpUrl(name: string, value: unknown): URL {
  const url = parseHttpUrl(value);
  requireArgument(
    url !== undefined,
    name,
    "an absolute http or https URL without credentials",
  );
  return url!;
}

/** The texts of a list that a server sent; undefined when it is no list. */
export function textsIn(value: unknown): string[] | undefined {
  return Array.isArray(value)
    ? value.filter((member) => typeof member === "string")
    : undefined;
}
