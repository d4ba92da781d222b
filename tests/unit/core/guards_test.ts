import {
  assert,
  assertEquals,
  assertFalse,
  assertStrictEquals,
  assertThrows,
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
  OAuthClientError,
} from "../../../mod.ts";

type Members = Record<string, unknown>;
type Guard = (value: unknown) => boolean;

/** The guards that ask for members to be defined, with a right object each. */
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
  Deno.test(`${guard.name}() answers false to what is not an object`, () => {
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

  Deno.test(`${guard.name}() answers true to a right object`, () => {
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
  Deno.test(`${guard.name}() answers false to an object without the members`, () => {
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
    Deno.test(`${guard.name}() answers false without ${member}`, () => {
      assertStrictEquals(guard(without(right, member)), false);
      assertStrictEquals(guard({ ...right, [member]: undefined }), false);
      assertStrictEquals(
        guard({ ...without(right, member), [member.toUpperCase()]: "x" }),
        false,
      );
    });

    Deno.test(`${guard.name}() takes any defined ${member}`, () => {
      for (const value of [null, "", 0, false, 42, {}, [], "x"]) {
        assertStrictEquals(guard({ ...right, [member]: value }), true);
      }
    });
  }
}

Deno.test("isAuthorizationProtectedResourceMetadata() answers false without a truthy resource", () => {
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

Deno.test("isAuthorizationProtectedResourceMetadata() takes any truthy resource", () => {
  for (const resource of ["x", "ftp://x", " ", 42, true, {}, []]) {
    assertStrictEquals(
      isAuthorizationProtectedResourceMetadata({ resource }),
      true,
    );
  }
});

Deno.test("isAuthorizationProtectedResourceMetadata() wants a defined scopes_supported to be an array", () => {
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

Deno.test("isAuthorizationProtectedResourceMetadata() looks at no other member", () => {
  assert(isAuthorizationProtectedResourceMetadata({
    ...RESOURCE,
    authorization_servers: "https://as.example",
    bearer_methods_supported: null,
    jwks_uri: 42,
  }));
});

/** The message with which the guard of server metadata refuses an object. */
function refusal(value: unknown): string {
  const error = assertThrows(
    () => isAuthorizationServerMetadata(value),
    OAuthClientError,
  );
  assertEquals(error.code, "invalid_metadata");
  return error.message;
}

Deno.test("isAuthorizationServerMetadata() throws where there is no issuer", () => {
  const message = "Authorization server metadata must have an issuer";
  for (const value of [{}, [], [SERVER], Object.create(null), new Map()]) {
    assertEquals(refusal(value), message);
  }
  for (const issuer of [undefined, null, "", 0, false, NaN, 0n]) {
    assertEquals(refusal({ issuer }), message, String(issuer));
    assertEquals(
      refusal({ issuer, token_endpoint: "https://as.example/token" }),
      message,
    );
  }
});

for (const field of URL_FIELDS) {
  Deno.test(`isAuthorizationServerMetadata() throws where ${field} is truthy and no string`, () => {
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
        refusal({ ...SERVER, [field]: value }),
        `Authorization server metadata '${field}' must be a string`,
      );
    }
  });

  Deno.test(`isAuthorizationServerMetadata() throws where ${field} is no http or https address`, () => {
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
        refusal({ ...SERVER, [field]: value }),
        `Authorization server metadata '${field}' must start with http:// or https://`,
        value,
      );
    }
  });

  Deno.test(`isAuthorizationServerMetadata() takes an http or https address as ${field}`, () => {
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

Deno.test("isAuthorizationServerMetadata() passes over falsy addresses other than the issuer", () => {
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

Deno.test("isAuthorizationServerMetadata() looks at no other member", () => {
  assert(isAuthorizationServerMetadata({
    ...SERVER,
    response_types_supported: null,
    device_authorization_endpoint: 42,
    revocation_endpoint: "ftp://x",
    service_documentation: {},
  }));
});
