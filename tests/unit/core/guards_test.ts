import {
  assert,
  assertEquals,
  assertFalse,
  assertStrictEquals,
} from "@std/assert";
import {
  isAuthorizationAuthorizeResponse,
  isAuthorizationDeviceResponse,
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationErrorResponse,
  isAuthorizationProtectedResourceMetadata,
  isAuthorizationRegistrationErrorResponse,
  isAuthorizationServerMetadata,
  isAuthorizationTokenResponse,
} from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";

type Members = Record<string, unknown>;
type Guard = (value: unknown) => boolean;

/** The guards that check whether members are defined, each with a valid object. */
const DEFINING: [guard: Guard, right: Members][] = [
  [isAuthorizationDynamicClientRegistrationResponse, { client_id: "c" }],
  [isAuthorizationAuthorizeResponse, { code: "c", state: "s" }],
  [isAuthorizationTokenResponse, { access_token: "t", token_type: "Bearer" }],
  [isAuthorizationDeviceResponse, {
    device_code: "d",
    user_code: "u",
    verification_uri: "https://as.example/device",
    expires_in: 600,
  }],
  [isAuthorizationErrorResponse, { error: "invalid_grant" }],
  [isAuthorizationRegistrationErrorResponse, { error: "invalid_redirect_uri" }],
];

const RESOURCE: Members = { resource: "https://api.example/" };
const SERVER: Members = { issuer: "https://as.example" };

const GUARDS: [guard: Guard, right: Members][] = [
  ...DEFINING,
  [isAuthorizationProtectedResourceMetadata, RESOURCE],
  [isAuthorizationServerMetadata, SERVER],
];

const URL_FIELDS = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "jwks_uri",
];

function without(members: Members, name: string): Members {
  return Object.fromEntries(
    Object.entries(members).filter(([key]) => key !== name),
  );
}

for (const [guard, right] of GUARDS) {
  Deno.test(`${guard.name}() returns false for what is not an object`, () => {
    for (
      const value of [
        undefined,
        null,
        true,
        false,
        0,
        42,
        NaN,
        1n,
        "",
        "text",
        JSON.stringify(right),
        Symbol("s"),
        () => right,
        Object.assign(() => {}, right),
      ]
    ) assertStrictEquals(guard(value), false, String(value));
  });

  Deno.test(`${guard.name}() returns true for a valid object`, () => {
    for (
      const value of [
        right,
        { ...right, more: 1, __proto__: null },
        Object.freeze({ ...right }),
        JSON.parse(JSON.stringify(right)),
      ]
    ) assertStrictEquals(guard(value), true);
  });
}

for (const [guard, right] of DEFINING) {
  Deno.test(`${guard.name}() returns false for an object without the members`, () => {
    for (
      const value of [
        {},
        [],
        [right],
        new Map(Object.entries(right)),
        {
          other: 1,
        },
        new Date(0),
        Object.create(null),
      ]
    ) assertStrictEquals(guard(value), false);
  });

  for (const member of Object.keys(right)) {
    Deno.test(`${guard.name}() returns false without ${member}`, () => {
      assertStrictEquals(guard(without(right, member)), false);
      assertStrictEquals(guard({ ...right, [member]: undefined }), false);
      assertStrictEquals(
        guard({ ...without(right, member), [member.toUpperCase()]: "x" }),
        false,
      );
    });

    Deno.test(`${guard.name}() accepts any defined ${member}`, () => {
      for (const value of [null, "", 0, false, 42, {}, [], "x"]) {
        assertStrictEquals(guard({ ...right, [member]: value }), true);
      }
    });
  }
}

Deno.test("isAuthorizationProtectedResourceMetadata() returns false without a truthy resource", () => {
  assertFalse(isAuthorizationProtectedResourceMetadata({}));
  assertFalse(isAuthorizationProtectedResourceMetadata([]));
  assertFalse(isAuthorizationProtectedResourceMetadata([RESOURCE]));
  for (const resource of [undefined, null, "", 0, false, NaN]) {
    assertStrictEquals(
      isAuthorizationProtectedResourceMetadata({ resource }),
      false,
      String(resource),
    );
  }
});

Deno.test("isAuthorizationProtectedResourceMetadata() accepts any truthy resource", () => {
  for (const resource of ["x", "ftp://x", " ", 42, true, {}, []]) {
    assertStrictEquals(
      isAuthorizationProtectedResourceMetadata({ resource }),
      true,
    );
  }
});

Deno.test("isAuthorizationProtectedResourceMetadata() requires a defined scopes_supported to be an array", () => {
  for (const scopes_supported of [undefined, [], ["a"], [1], [null]]) {
    const value = { ...RESOURCE, scopes_supported };
    assert(isAuthorizationProtectedResourceMetadata(value));
  }
  for (
    const scopes_supported of [
      null,
      "",
      "a b",
      0,
      false,
      true,
      {},
      { length: 1 },
      new Set(["a"]),
      () => [],
    ]
  ) {
    const value = { ...RESOURCE, scopes_supported };
    assertFalse(isAuthorizationProtectedResourceMetadata(value));
  }
});

Deno.test("isAuthorizationProtectedResourceMetadata() checks no other member", () => {
  assert(isAuthorizationProtectedResourceMetadata({
    ...RESOURCE,
    authorization_servers: "https://as.example",
    bearer_methods_supported: null,
    jwks_uri: 42,
  }));
});

/** The message of the error that the guard of server metadata throws. */
function rejection(value: unknown): string {
  const error = assertThrowsCode(
    () => isAuthorizationServerMetadata(value),
    "invalid_metadata",
  );
  return error.message;
}

Deno.test("isAuthorizationServerMetadata() throws for an object without an issuer", () => {
  const message = "Authorization server metadata must have an issuer";
  for (const value of [{}, [], [SERVER], Object.create(null), new Map()]) {
    assertEquals(rejection(value), message);
  }
  for (const issuer of [undefined, null, "", 0, false, NaN, 0n]) {
    assertEquals(rejection({ issuer }), message, String(issuer));
    assertEquals(
      rejection({ issuer, token_endpoint: "https://as.example/token" }),
      message,
    );
  }
});

for (const field of URL_FIELDS) {
  Deno.test(`isAuthorizationServerMetadata() throws if ${field} is truthy and not a string`, () => {
    for (
      const value of [
        true,
        42,
        1n,
        {},
        [],
        ["https://as.example"],
        new URL("https://as.example"),
        new String("https://as.example"),
        Symbol("https://as.example"),
        () => "https://as.example",
      ]
    ) {
      assertEquals(
        rejection({ ...SERVER, [field]: value }),
        `Authorization server metadata '${field}' must be a string`,
      );
    }
  });

  Deno.test(`isAuthorizationServerMetadata() throws if ${field} is not an http or https URL`, () => {
    for (
      const value of [
        "as.example",
        "/token",
        "//as.example",
        "ftp://as.example",
        "javascript:alert(1)",
        "data:,x",
        "http:",
        "https:/as.example",
        "http:as.example",
        " https://as.example",
        "\nhttps://as.example",
        "HTTPS://as.example",
        "xhttps://as.example",
        "ftp://x?https://as.example",
      ]
    ) {
      assertEquals(
        rejection({ ...SERVER, [field]: value }),
        `Authorization server metadata '${field}' must start with http:// or https://`,
        value,
      );
    }
  });

  Deno.test(`isAuthorizationServerMetadata() accepts an http or https URL as ${field}`, () => {
    for (
      const value of [
        "https://as.example/x?y#z",
        "http://localhost:8080",
      ]
    ) {
      assertStrictEquals(
        isAuthorizationServerMetadata({ ...SERVER, [field]: value }),
        true,
      );
    }
  });
}

Deno.test("isAuthorizationServerMetadata() skips falsy URLs other than the issuer", () => {
  for (const field of URL_FIELDS.slice(1)) {
    for (const value of [undefined, null, "", 0, false, NaN]) {
      assertStrictEquals(
        isAuthorizationServerMetadata({ ...SERVER, [field]: value }),
        true,
        `${field}: ${value}`,
      );
    }
  }
});

Deno.test("isAuthorizationServerMetadata() checks no other member", () => {
  assert(isAuthorizationServerMetadata({
    ...SERVER,
    response_types_supported: null,
    device_authorization_endpoint: 42,
    revocation_endpoint: "ftp://x",
    service_documentation: {},
  }));
});
