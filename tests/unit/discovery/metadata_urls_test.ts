import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  getDefaultMetadataForUrl,
  isAuthorizationServerMetadata,
  OAuthClientError,
} from "../../../mod.ts";
import {
  appendOpenIdPath,
  insertWellKnownPath,
} from "../../../lib/discovery/metadata_urls.ts";

Deno.test("getDefaultMetadataForUrl() puts three endpoints at the root of the URL", () => {
  for (
    const [url, issuer, origin] of [
      ["https://as.example", "https://as.example/", "https://as.example"],
      ["https://as.example/", "https://as.example/", "https://as.example"],
      ["https://AS.Example:443", "https://as.example/", "https://as.example"],
      [
        "https://as.example:8443/",
        "https://as.example:8443/",
        "https://as.example:8443",
      ],
      ["http://127.0.0.1:80", "http://127.0.0.1/", "http://127.0.0.1"],
      ["http://[::1]:99/x", "http://[::1]:99/x", "http://[::1]:99"],
      [
        "https://as.example/tenant/1",
        "https://as.example/tenant/1",
        "https://as.example",
      ],
      [
        "https://as.example/tenant/",
        "https://as.example/tenant/",
        "https://as.example",
      ],
      [
        "https://as.example/t?a=b&c=d",
        "https://as.example/t?a=b&c=d",
        "https://as.example",
      ],
      [
        "https://as.example/?a#frag",
        "https://as.example/?a#frag",
        "https://as.example",
      ],
      [
        "https://as.example//other.example/x",
        "https://as.example//other.example/x",
        "https://as.example",
      ],
      [
        "https://bücher.example/ä",
        "https://xn--bcher-kva.example/%C3%A4",
        "https://xn--bcher-kva.example",
      ],
    ] as const
  ) {
    const metadata = getDefaultMetadataForUrl(new URL(url));
    assertEquals(metadata, {
      issuer,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code", "id_token", "id_token token"],
    });
    assert(isAuthorizationServerMetadata(metadata));
  }
});

Deno.test("getDefaultMetadataForUrl() changes nothing and shares nothing", () => {
  const url = new URL("https://as.example/x?y#z");
  const first = getDefaultMetadataForUrl(url);
  assertEquals(url.href, "https://as.example/x?y#z");
  first.response_types_supported.push("changed");
  assertEquals(
    getDefaultMetadataForUrl(url).response_types_supported,
    ["code", "id_token", "id_token token"],
  );
});

Deno.test("getDefaultMetadataForUrl() refuses what is no URL", () => {
  for (
    const value of [
      undefined,
      null,
      true,
      42,
      1n,
      "",
      "https://HIDDEN.example",
      Symbol("HIDDEN"),
      {},
      [],
      () => {},
      { href: "HIDDEN" },
      { href: 42 },
      { href: undefined },
      new String("https://HIDDEN.example"),
    ]
  ) {
    const error = assertThrows(
      () => getDefaultMetadataForUrl(value as URL),
      OAuthClientError,
    );
    assertEquals(error.code, "invalid_argument");
    assertEquals(
      error.message,
      "authorizationServer must be an absolute http or https URL without credentials",
    );
  }
});

Deno.test("insertWellKnownPath() puts the path between host and path", () => {
  for (
    const [url, expected] of [
      ["https://as.example", "https://as.example/.well-known/x"],
      ["https://as.example/", "https://as.example/.well-known/x"],
      ["https://as.example/a", "https://as.example/.well-known/x/a"],
      ["https://as.example/a/", "https://as.example/.well-known/x/a/"],
      ["https://as.example:8443/a", "https://as.example:8443/.well-known/x/a"],
      ["https://as.example/a?b#c", "https://as.example/.well-known/x/a"],
      ["https://as.example/?b", "https://as.example/.well-known/x"],
      [
        "https://as.example//b.example",
        "https://as.example/.well-known/x//b.example",
      ],
      [
        "https://as.example/%2e%2E/a b",
        "https://as.example/.well-known/x/a%20b",
      ],
    ] as const
  ) {
    assertEquals(insertWellKnownPath("/.well-known/x", new URL(url)), expected);
  }
});

Deno.test("appendOpenIdPath() puts the path after the issuer with one slash between", () => {
  for (
    const [issuer, expected] of [
      [
        "https://as.example",
        "https://as.example/.well-known/openid-configuration",
      ],
      [
        "https://as.example/",
        "https://as.example/.well-known/openid-configuration",
      ],
      [
        "https://as.example/a",
        "https://as.example/a/.well-known/openid-configuration",
      ],
      [
        "https://as.example/a/",
        "https://as.example/a/.well-known/openid-configuration",
      ],
      // The issuer stands as it came, letter case and all.
      [
        "https://AS.example:443",
        "https://AS.example:443/.well-known/openid-configuration",
      ],
      [
        "https://as.example//",
        "https://as.example//.well-known/openid-configuration",
      ],
    ] as const
  ) assertEquals(appendOpenIdPath(issuer), expected);
});
