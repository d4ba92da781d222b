import { assertEquals, assertStrictEquals } from "@std/assert";
import * as mod from "../../../mod.ts";

/** The table of constants in the service's specification, row by row. */
const CONSTANTS = {
  WELL_KNOWN_ROUTE: "/.well-known",
  AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH:
    "/.well-known/oauth-protected-resource",
  AUTH_SERVER_METADATA_DISCOVERY_PATH:
    "/.well-known/oauth-authorization-server",
  OPENID_CONNECT_DISCOVERY_PATH: "/.well-known/openid-configuration",
  AUTH_SCOPE_SEPARATOR: " ",
  GRANT_TYPE_TOKEN_EXCHANGE: "urn:ietf:params:oauth:grant-type:token-exchange",
  GRANT_TYPE_JWT_BEARER: "urn:ietf:params:oauth:grant-type:jwt-bearer",
  TOKEN_TYPE_ACCESS_TOKEN: "urn:ietf:params:oauth:token-type:access_token",
  TOKEN_TYPE_ID_TOKEN: "urn:ietf:params:oauth:token-type:id_token",
  TOKEN_TYPE_ID_JAG: "urn:ietf:params:oauth:token-type:id-jag",
  DEFAULT_AUTH_FLOW_PORT: 33418,
} as const;

for (const [name, value] of Object.entries(CONSTANTS)) {
  Deno.test(`${name} has the specified value`, () => {
    assertStrictEquals(mod[name as keyof typeof CONSTANTS], value);
  });
}

Deno.test("REGISTRATION_GRANT_TYPES holds the three grant types in their order", () => {
  assertEquals(mod.REGISTRATION_GRANT_TYPES, [
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:device_code",
  ]);
});

Deno.test("DEFAULT_REDIRECT_URIS holds two hosted pages and two loopback addresses", () => {
  assertEquals(mod.DEFAULT_REDIRECT_URIS.length, 4);
  const [first, second, ...loopback] = mod.DEFAULT_REDIRECT_URIS;
  for (const hosted of [first, second]) {
    const { protocol, hostname, pathname, search, hash } = new URL(hosted!);
    assertEquals([protocol, pathname, search, hash], [
      "https:",
      "/redirect",
      "",
      "",
    ]);
    // RFC 2606, section 2: nobody can own a name below .example.
    assertEquals(hostname.split(".").at(-1), "example");
  }
  assertEquals(new Set(mod.DEFAULT_REDIRECT_URIS).size, 4);
  assertEquals(loopback, ["http://127.0.0.1/", "http://127.0.0.1:33418/"]);
});

Deno.test("DEFAULT_CLIENT_URI is an https address under a reserved name", () => {
  const { protocol, hostname } = new URL(mod.DEFAULT_CLIENT_URI);
  assertEquals(protocol, "https:");
  assertEquals(hostname.split(".").at(-1), "example");
});

Deno.test("AuthorizationErrorType holds the codes of RFC 6749", () => {
  assertEquals(mod.AuthorizationErrorType, {
    InvalidRequest: "invalid_request",
    InvalidClient: "invalid_client",
    InvalidGrant: "invalid_grant",
    UnauthorizedClient: "unauthorized_client",
    UnsupportedGrantType: "unsupported_grant_type",
    InvalidScope: "invalid_scope",
  });
});

Deno.test("AuthorizationDeviceCodeErrorType holds the codes of RFC 8628", () => {
  assertEquals(mod.AuthorizationDeviceCodeErrorType, {
    AuthorizationPending: "authorization_pending",
    SlowDown: "slow_down",
    AccessDenied: "access_denied",
    ExpiredToken: "expired_token",
  });
});

Deno.test("AuthorizationRegistrationErrorType holds the codes of RFC 7591", () => {
  assertEquals(mod.AuthorizationRegistrationErrorType, {
    InvalidRedirectUri: "invalid_redirect_uri",
    InvalidClientMetadata: "invalid_client_metadata",
    InvalidSoftwareStatement: "invalid_software_statement",
    UnapprovedSoftwareStatement: "unapproved_software_statement",
  });
});
