import { assert, assertEquals } from "@std/assert";
import * as mod from "../../../mod.ts";

const EXPECTED = {
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
  AuthorizationErrorType: {
    InvalidRequest: "invalid_request",
    InvalidClient: "invalid_client",
    InvalidGrant: "invalid_grant",
    UnauthorizedClient: "unauthorized_client",
    UnsupportedGrantType: "unsupported_grant_type",
    InvalidScope: "invalid_scope",
  },
  AuthorizationDeviceCodeErrorType: {
    AuthorizationPending: "authorization_pending",
    SlowDown: "slow_down",
    AccessDenied: "access_denied",
    ExpiredToken: "expired_token",
  },
  AuthorizationRegistrationErrorType: {
    InvalidRedirectUri: "invalid_redirect_uri",
    InvalidClientMetadata: "invalid_client_metadata",
    InvalidSoftwareStatement: "invalid_software_statement",
    UnapprovedSoftwareStatement: "unapproved_software_statement",
  },
} as const;

for (const [name, value] of Object.entries(EXPECTED)) {
  Deno.test(`${name} has the specified value`, () => {
    assertEquals(mod[name as keyof typeof EXPECTED], value);
  });
}

Deno.test("DEFAULT_REDIRECT_URIS holds two hosted pages and two loopback URLs", () => {
  const [first, second, ...loopback] = mod.DEFAULT_REDIRECT_URIS;
  assert(first !== second);
  for (const hosted of [first, second]) {
    // RFC 2606, section 2: names below .example cannot be registered.
    const { protocol, hostname, pathname, search, hash } = new URL(hosted!);
    assertEquals(
      [protocol, hostname.split(".").at(-1), pathname, search, hash],
      ["https:", "example", "/redirect", "", ""],
    );
  }
  assertEquals(loopback, ["http://127.0.0.1/", "http://127.0.0.1:33418/"]);
});

Deno.test("DEFAULT_CLIENT_URI is an https URL with a reserved host name", () => {
  const { protocol, hostname } = new URL(mod.DEFAULT_CLIENT_URI);
  assertEquals([protocol, hostname.split(".").at(-1)], ["https:", "example"]);
});
