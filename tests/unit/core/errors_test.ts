/**
 * An error has its code, its message and its details, and is known in other copies of
 * the library.
 */

import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import {
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorDetails,
  type SignInReason,
} from "../../../mod.ts";
import { eachRow } from "../../support/each_row.ts";

const DETAILS: OAuthClientErrorDetails = {
  url: "https://as.example/token",
  status: 0,
  networkReason: "certificate",
  error: "",
  error_description: "Too old",
  error_uri: "https://as.example/errors/1",
  retryAfterSeconds: 0,
  errorResponse: { error: "x" },
  attempts: [{ url: "https://as.example" }],
  cause: new TypeError("inner"),
};
const NAMES = Object.keys(DETAILS) as (keyof OAuthClientErrorDetails)[];

Deno.test("OAuthClientError is an Error with a code, a message and a name", () => {
  const error = new OAuthClientError("invalid_jwt", "What failed");
  assertInstanceOf(error, Error);
  assertEquals(
    [error.name, error.code, error.message, String(error)],
    [
      "OAuthClientError",
      "invalid_jwt",
      "What failed",
      "OAuthClientError: What failed",
    ],
  );
  assert(error.stack?.includes("What failed"));
});

Deno.test("OAuthClientError has those details as members that are given", () => {
  for (const name of NAMES) {
    const details = { ...DETAILS };
    const without = { ...DETAILS, [name]: undefined };
    for (const [given, other] of [[details, "none"], [without, name]]) {
      const error = new OAuthClientError(
        "oauth_error",
        "m",
        given as OAuthClientErrorDetails,
      );
      for (const member of NAMES) {
        assertEquals(member in error, member !== other, member);
        const value = (given as typeof DETAILS)[member];
        assertStrictEquals(error[member], value);
      }
    }
  }
});

Deno.test("OAuthClientError keeps any cause that is defined, and does not list it", () => {
  for (const cause of [null, "text", 0, false, { a: 1 }]) {
    const error = new OAuthClientError("network_error", "m", { cause });
    assertStrictEquals(error.cause, cause);
    assertFalse(Object.keys(error).includes("cause"));
  }
});

Deno.test("toJSON() returns the members and the message, without cause and stack", () => {
  const { cause: _, ...members } = DETAILS;
  const json = { name: "OAuthClientError", code: "oauth_error", message: "m" };
  const rows: [details: OAuthClientErrorDetails | undefined, json: unknown][] =
    [[DETAILS, { ...json, ...members }], [undefined, json]];
  eachRow(rows, ([details, expected]) => {
    const error = new OAuthClientError("oauth_error", "m", details);
    assertEquals(JSON.parse(JSON.stringify(error)), expected);
  });
});

Deno.test("isOAuthClientError() recognizes the errors of other copies of this library", () => {
  const members = { name: "OAuthClientError", code: "unsupported" };
  const other = Object.assign(new Error("m"), members);
  for (const error of [new OAuthClientError("unsupported", "m"), other]) {
    assert(isOAuthClientError(error));
  }
  for (const value of [new Error("m"), members, null, undefined, ""]) {
    assertFalse(isOAuthClientError(value));
  }
});

Deno.test("isOAuthClientError() with a code says which reason the error can have", () => {
  const left = new OAuthClientError("timeout", "m");
  const required = new OAuthClientError("sign_in_required", "m", {
    signInReason: "step_up",
  });
  const reasonOf = (error: unknown): SignInReason | undefined =>
    isOAuthClientError(error, "sign_in_required")
      ? error.signInReason
      : undefined;
  assertEquals(reasonOf(required), "step_up");
  assertFalse(isOAuthClientError(left, "sign_in_required"));
  assert(isOAuthClientError(left, "timeout"));
  // As a callback, it receives an index as well.
  const errors: OAuthClientError[] = [left, new Error("m"), required]
    .filter(isOAuthClientError);
  assertEquals(errors, [left, required]);
});
