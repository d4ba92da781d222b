/** Guards accept what has each required member, and nothing that lacks one. */

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
  // Of these, no other members are checked.
  [isAuthorizationProtectedResourceMetadata, {
    ...RESOURCE,
    authorization_servers: "https://as.example",
    jwks_uri: 42,
  }],
  [isAuthorizationServerMetadata, {
    ...SERVER,
    response_types_supported: null,
    device_authorization_endpoint: 42,
    revocation_endpoint: "ftp://x",
  }],
];

const URL_FIELDS = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "jwks_uri",
];

for (const [guard, right] of GUARDS) {
  Deno.test(`${guard.name}() returns true for a valid object, false for what is none`, () => {
    for (const value of [right, { ...right, more: 1, __proto__: null }]) {
      assertStrictEquals(guard(value), true);
    }
    const others: unknown[] = [
      ...[undefined, null, true, 42, 1n, "", JSON.stringify(right)],
      ...[Symbol("s"), () => right, Object.assign(() => {}, right)],
    ];
    for (const value of others) {
      assertStrictEquals(guard(value), false, String(value));
    }
  });
}

for (const [guard, right] of DEFINING) {
  Deno.test(`${guard.name}() requires each member to be defined, and no more`, () => {
    for (const value of [{}, [], [right], new Map(Object.entries(right))]) {
      assertStrictEquals(guard(value), false);
    }
    for (const member of Object.keys(right)) {
      const { [member]: _, ...rest } = right;
      for (const value of [rest, { ...right, [member]: undefined }]) {
        assertStrictEquals(guard(value), false, member);
      }
      for (const value of [null, "", 0, false, {}, [], "x"]) {
        assertStrictEquals(guard({ ...right, [member]: value }), true, member);
      }
    }
  });
}

Deno.test("isAuthorizationProtectedResourceMetadata() requires a truthy resource", () => {
  const guard = isAuthorizationProtectedResourceMetadata;
  for (const value of [{}, [], [RESOURCE]]) assertFalse(guard(value));
  for (const resource of [undefined, null, "", 0, false, NaN]) {
    assertStrictEquals(guard({ resource }), false, String(resource));
  }
  for (const resource of ["x", "ftp://x", " ", 42, true, {}, []]) {
    assertStrictEquals(guard({ resource }), true, String(resource));
  }
});

Deno.test("isAuthorizationProtectedResourceMetadata() requires a defined scopes_supported to be an array", () => {
  for (const scopes_supported of [undefined, [], ["a"], [1], [null]]) {
    const value = { ...RESOURCE, scopes_supported };
    assert(isAuthorizationProtectedResourceMetadata(value));
  }
  for (
    const scopes_supported of [null, "", "a b", 0, false, {}, { length: 1 }]
  ) {
    const value = { ...RESOURCE, scopes_supported };
    assertFalse(isAuthorizationProtectedResourceMetadata(value));
  }
});

/** The message of the error that the guard of server metadata throws. */
function rejection(value: unknown): string {
  const call = () => isAuthorizationServerMetadata(value);
  const error = assertThrowsCode(call, "invalid_metadata");
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

const HREF = "https://as.example";
const NOT_STRINGS: unknown[] = [
  ...[true, 42, 1n, {}, [], [HREF], Symbol(HREF), () => HREF],
  ...[new URL(HREF), new String(HREF)],
];
const NOT_URLS = [
  ...["as.example", "/token", "//as.example", "ftp://as.example", "data:,x"],
  ...["javascript:alert(1)", "http:", "https:/as.example", "http:as.example"],
  ...[` ${HREF}`, `\n${HREF}`, "HTTPS://as.example", `x${HREF}`],
  "ftp://x?https://as.example",
];

for (const field of URL_FIELDS) {
  Deno.test(`isAuthorizationServerMetadata() requires ${field} to be an http or https URL`, () => {
    const start = `Authorization server metadata '${field}' must`;
    for (const value of NOT_STRINGS) {
      const message = rejection({ ...SERVER, [field]: value });
      assertEquals(message, `${start} be a string`);
    }
    for (const value of NOT_URLS) {
      const message = rejection({ ...SERVER, [field]: value });
      assertEquals(message, `${start} start with http:// or https://`, value);
    }
    for (const value of ["https://as.example/x?y#z", "http://localhost:8080"]) {
      const metadata = { ...SERVER, [field]: value };
      assertStrictEquals(isAuthorizationServerMetadata(metadata), true);
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
