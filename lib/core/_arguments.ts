import { isObject } from "./_members.ts";
import { parseHttpUrl } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";

/** The error of an argument, without its value, which may be secret. */
export function invalidArgument(
  name: string,
  expected: string,
): OAuthClientError {
  const message = `${name} must be ${expected}`;
  return new OAuthClientError("invalid_argument", message);
}

export function requireArgument(
  condition: boolean,
  name: string,
  expected: string,
): asserts condition {
  if (!condition) throw invalidArgument(name, expected);
}

/**
 * Fails if an option is set that a function lacks. Programs in JavaScript need the
 * check.
 *
 * @param of The options' owner, for the message.
 * @param place Where the option may belong, as in "use it elsewhere; here, use ".
 * @param ignored The type of values that are ignored.
 */
export function requireNames(
  options: object,
  names: readonly string[],
  of: string,
  place = "",
  ignored = "undefined",
): void {
  for (const name in options) {
    const type = typeof options[name as keyof typeof options];
    const isIgnored = type === "undefined" || type === ignored;
    if (isIgnored || names.includes(name)) continue;
    const start = name.slice(0, 4).toLowerCase();
    const near = names.filter((one) => one.toLowerCase().includes(start));
    throw new OAuthClientError(
      "invalid_argument",
      `options.${name} is not an option of ${of} (use ${place}${
        near.join(" or ") || names.join(", ")
      })`,
    );
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

export function requireString(name: string, value: unknown): string {
  requireArgument(isString(value), name, "a string");
  return value;
}

export function requireNonEmptyString(name: string, value: unknown): string {
  requireArgument(isString(value) && value !== "", name, "a non-empty string");
  return value;
}

/** An empty string counts as absent. */
export function optionalString(
  name: string,
  value: unknown,
): string | undefined {
  return requireString(name, value ?? "") || undefined;
}

export function requireStrings(name: string, value: unknown): string[] {
  requireArgument(
    Array.isArray(value) && value.every(isString),
    name,
    "an array of strings",
  );
  return value;
}

export function requireObject<T>(
  name: string,
  value: T,
  expected = "an object",
): NonNullable<T> {
  requireArgument(isObject(value), name, expected);
  return value;
}

export function optionalFunction<T>(name: string, value: T): T {
  const isFunction = typeof (value ?? invalidArgument) === "function";
  requireArgument(isFunction, name, "a function");
  return value;
}

/**
 * Copies strings by name. A `Headers` or a `Map` is rejected, because it would seem
 * empty.
 */
export function requireStringMembers(
  name: string,
  value: unknown,
): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  requireArgument(
    isObject(value) && !(Symbol.iterator in value) &&
      Object.values(value).every(isString),
    name,
    "a plain object of strings",
  );
  return { ...value as Record<string, string> };
}

export function requireHttpUrl(name: string, value: unknown): URL {
  const url = parseHttpUrl(value);
  const lacksScheme = isString(value) && /^[\w.-]+(:\d+)?(\/|$)/.test(value);
  const expected = "an absolute http or https URL without credentials" +
    (lacksScheme ? " (add https:// before it)" : "");
  requireArgument(url !== undefined, name, expected);
  return url;
}
