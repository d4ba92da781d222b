/** Checks of what callers pass in, all with the same documented failure. */

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
  return value ? requireText(name, value) : "";
}

/** An array of strings. */
export function requireTexts(name: string, value: unknown): string[] {
  requireArgument(
    Array.isArray(value) && value.every((one) => typeof one === "string"),
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

/** An absolute http or https URL that shows no credentials. */
export function requireHttpUrl(name: string, value: unknown): URL {
  const url = URL.canParse(String(value)) ? new URL(String(value)) : undefined;
  requireArgument(
    /^https?:$/.test(url?.protocol ?? "") && !url?.username && !url?.password,
    name,
    "an absolute http or https URL without credentials",
  );
  return url!;
}
