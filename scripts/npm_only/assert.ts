/**
 * `@std/assert` for machines where only the npm registry responds: the same code,
 * published as `npm:deno-std` without declarations, with the types of the functions
 * that the tests use.
 */
import * as std from "npm:deno-std@1.4.0/assert/mod.js";

// deno-lint-ignore no-explicit-any
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

// TypeScript requires an explicit type for an assertion function.
export const assert: (expr: unknown, msg?: string) => asserts expr = std.assert;

export const assertEquals: <T>(
  actual: T,
  expected: T,
  msg?: string,
) => void = std.assertEquals;

export const assertNotEquals: <T>(
  actual: T,
  expected: T,
  msg?: string,
) => void = std.assertNotEquals;

export const assertStrictEquals: <T>(
  actual: unknown,
  expected: T,
  msg?: string,
) => asserts actual is T = std.assertStrictEquals;

// deno-lint-ignore no-explicit-any
export const assertInstanceOf: <T extends abstract new (...args: any[]) => any>(
  actual: unknown,
  expectedType: T,
  msg?: string,
) => asserts actual is InstanceType<T> = std.assertInstanceOf;

export const assertMatch: (
  actual: string,
  expected: RegExp,
  msg?: string,
) => void = std.assertMatch;

export const assertNotMatch: (
  actual: string,
  expected: RegExp,
  msg?: string,
) => void = std.assertNotMatch;

export const assertStringIncludes: (
  actual: string,
  expected: string,
  msg?: string,
) => void = std.assertStringIncludes;

export const assertThrows: {
  (fn: () => unknown, msg?: string): unknown;
  <E extends Error = Error>(
    fn: () => unknown,
    ErrorClass: ErrorClass<E>,
    msgIncludes?: string,
    msg?: string,
  ): E;
} = std.assertThrows;

export const assertRejects: {
  (fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
  <E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    ErrorClass: ErrorClass<E>,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
} = std.assertRejects;

export const assertFalse: (expr: unknown, msg?: string) => void =
  std.assertFalse;

export const fail: (msg?: string) => never = std.fail;
