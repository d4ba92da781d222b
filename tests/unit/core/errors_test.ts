import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertStrictEquals,
} from "@std/assert";
import {
  type IOAuthClientErrorDetails,
  OAuthClientError,
} from "../../../mod.ts";

const MEMBERS = [
  "url",
  "status",
  "error",
  "error_description",
  "error_uri",
] as const;

Deno.test("OAuthClientError is an Error with a code, a message and a name", () => {
  const error = new OAuthClientError("invalid_jwt", "What failed");
  assertInstanceOf(error, Error);
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.name, "OAuthClientError");
  assertEquals(error.code, "invalid_jwt");
  assertEquals(error.message, "What failed");
  assertEquals(String(error), "OAuthClientError: What failed");
  assert(error.stack?.includes("What failed"));
});

Deno.test("OAuthClientError carries every detail that is given", () => {
  const details: IOAuthClientErrorDetails = {
    url: "https://as.example/token",
    status: 400,
    error: "invalid_grant",
    error_description: "Too old",
    error_uri: "https://as.example/errors/1",
    cause: new TypeError("inner"),
  };
  const error = new OAuthClientError("oauth_error", "m", details);
  for (const name of [...MEMBERS, "cause"] as const) {
    assert(Object.hasOwn(error, name), name);
    assertStrictEquals(error[name], details[name]);
  }
  assertEquals(error.code, "oauth_error");
  assertEquals(error.message, "m");
});

Deno.test("OAuthClientError has no member that was not given", () => {
  const bare = [
    new OAuthClientError("unsupported", "m"),
    new OAuthClientError("unsupported", "m", {}),
    new OAuthClientError("unsupported", "m", {
      url: undefined,
      status: undefined,
      error: undefined,
      error_description: undefined,
      error_uri: undefined,
      cause: undefined,
    }),
  ];
  for (const error of bare) {
    for (const name of [...MEMBERS, "cause"] as const) {
      assertFalse(name in error, name);
      assertStrictEquals(error[name], undefined);
    }
    assertEquals(JSON.parse(JSON.stringify(error)), {
      code: "unsupported",
      name: "OAuthClientError",
    });
  }
});

Deno.test("OAuthClientError carries each detail on its own", () => {
  const values = {
    url: "https://as.example",
    status: 500,
    error: "e",
    error_description: "d",
    error_uri: "u",
  };
  for (const name of MEMBERS) {
    const error = new OAuthClientError("network_error", "m", {
      [name]: values[name],
    });
    assertStrictEquals(error[name], values[name]);
    for (const other of MEMBERS) {
      assertEquals(other in error, other === name, `${name}: ${other}`);
    }
  }
});

Deno.test("OAuthClientError keeps empty details, which are not undefined", () => {
  const error = new OAuthClientError("oauth_error", "", {
    status: 0,
    error: "",
    error_description: "",
  });
  assertStrictEquals(error.message, "");
  assertStrictEquals(error.status, 0);
  assertStrictEquals(error.error, "");
  assertStrictEquals(error.error_description, "");
});

Deno.test("OAuthClientError takes anything defined as its cause", () => {
  for (const cause of [null, "text", 0, false, { a: 1 }, new Error("inner")]) {
    const error = new OAuthClientError("network_error", "m", { cause });
    assert(Object.hasOwn(error, "cause"));
    assertStrictEquals(error.cause, cause);
    // As on any Error: a log that walks the members does not show it.
    assertFalse(Object.keys(error).includes("cause"));
  }
});

Deno.test("OAuthClientError leaves the details as they were", () => {
  const details = Object.freeze({ url: "https://as.example", cause: "c" });
  new OAuthClientError("network_error", "m", details);
  assertEquals(details, { url: "https://as.example", cause: "c" });
});
