/**
 * The well-known URLs are those of the standards, for issuers with and without a path.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  getDefaultMetadataForUrl,
  isAuthorizationServerMetadata,
} from "../../../mod.ts";
import {
  resourceUrls as strictResourceUrls,
  serverUrls as strictServerUrls,
} from "../../../lib/discovery/_strict_search.ts";
import { pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";

const A = "https://a.example";
const PRM = "/.well-known/oauth-protected-resource";
const AS = "/.well-known/oauth-authorization-server";
const OIDC = "/.well-known/openid-configuration";

// A URL and its parts: origin, path, query.
const URLS: [url: string, origin: string, path: string, query: string][] = [
  [A, A, "", ""],
  [`${A}/`, A, "", ""],
  [`${A}/x/y`, A, "/x/y", ""],
  [`${A}?q=1`, A, "", "?q=1"],
  [`${A}/x?q=1&r`, A, "/x", "?q=1&r"],
  [`${A}/x?`, A, "/x", ""],
  [`${A}/x?q#frag`, A, "/x", "?q"],
  ["https://A.Example:443/X", A, "/X", ""],
  [`${A}:8443/x`, `${A}:8443`, "/x", ""],
  ["http://127.1:8080/x", "http://127.0.0.1:8080", "/x", ""],
  ["https://[2001:DB8::1]/x", "https://[2001:db8::1]", "/x", ""],
  ["https://b\u00fccher.example", "https://xn--bcher-kva.example", "", ""],
  [`${A}/\u00e4 b`, A, "/%C3%A4%20b", ""],
  [`${A}/a%2Fb`, A, "/a%2Fb", ""],
  [`${A}/a%252Fb%0d%0aX-Evil:%201`, A, "/a%252Fb%0d%0aX-Evil:%201", ""],
  [`${A}/x/%2e%2e/../../y`, A, "/y", ""],
  [`${A}/.well-known/mcp`, A, "/.well-known/mcp", ""],
  // Paths that look like another host.
  [`${A}//evil.example/x`, A, "//evil.example/x", ""],
  [`${A}/\\evil.example/x`, A, "//evil.example/x", ""],
  [`${A}/@evil`, A, "/@evil", ""],
];

/** The URLs that a strict discovery requests for a resource. */
function resourceUrls(target: string, resourceMatch?: "exact"): string[] {
  return strictResourceUrls({
    target: new URL(target),
    rules: {},
    resourceMetadataUrl: undefined,
    resourceMatch,
    resourceMetadataHeaders: undefined,
  });
}

/** The URLs that a strict discovery requests for an authorization server. */
function serverUrls(issuer: string): string[] {
  return strictServerUrls({
    issuer,
    rules: {},
    trustedIssuers: undefined,
    serverMetadataHeaders: undefined,
  });
}

const unique = (urls: string[]) => [...new Set(urls)];

Deno.test("strict discovery requests the well-known URLs of resource and origin", () => {
  for (const [url, origin, path, query] of URLS) {
    const expected = unique([origin + PRM + path + query, origin + PRM]);
    assertEquals(resourceUrls(url), expected, url);
  }
  const slash = `${A}${PRM}/mcp/`;
  assertEquals(resourceUrls(`${A}/mcp/`), [slash, `${A}${PRM}/mcp`, A + PRM]);
  assertEquals(resourceUrls(`${A}/mcp/?a`), [`${slash}?a`, A + PRM]);
  // Metadata of `/mcp` would end the search.
  assertEquals(resourceUrls(`${A}/mcp/`, "exact"), [slash, A + PRM]);
});

Deno.test("strict discovery inserts two paths into the issuer, then appends one", () => {
  for (const [url, origin, path] of URLS) {
    const expected = unique([
      origin + AS + path,
      origin + OIDC + path,
      origin + path + OIDC,
    ]);
    // RFC 8414, section 3.1: a slash at the end is removed.
    const slashes = path === "" || /[?#]/.test(url) ? [""] : ["", "/"];
    for (const slash of slashes) {
      const issuer = url + slash;
      assertEquals(serverUrls(issuer), expected, issuer);
    }
  }
});

Deno.test("getDefaultMetadataForUrl() returns three endpoints at the root of the URL", () => {
  const rows: [url: string, issuer: string][] = [
    [A, `${A}/`],
    ["https://A.Example:443", `${A}/`],
    [`${A}:8443/`, `${A}:8443/`],
    ["http://[::1]:99/x", "http://[::1]:99/x"],
    [`${A}/tenant/1`, `${A}/tenant/1`],
    [`${A}/t?a=b&c=d`, `${A}/t?a=b&c=d`],
    [`${A}/?a#frag`, `${A}/?a#frag`],
    [`${A}//b.example/x`, `${A}//b.example/x`],
  ];
  eachRow(rows, ([url, issuer]) => {
    const { origin } = new URL(url);
    for (const given of [url, new URL(url)]) {
      const metadata = getDefaultMetadataForUrl(given);
      assertEquals(metadata, {
        issuer,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code", "id_token", "id_token token"],
      });
      assert(isAuthorizationServerMetadata(metadata));
      // Nothing is shared with the next call.
      metadata.response_types_supported.push("changed");
    }
  });
});

Deno.test("functions of metadata URLs reject what is not an http or https URL", () => {
  const calls: [call: (url: unknown) => unknown, name: string][] = [
    [(url) => serverUrls(untyped(url)), "issuer"],
    [(url) => getDefaultMetadataForUrl(untyped(url)), "authorizationServer"],
  ];
  const wrong: unknown[] = [
    ...[undefined, null, 1, {}, [A], { href: A }, Symbol("hunter2")],
    ...["", "a.example", "/mcp", "//a.example/mcp", "https://"],
    ...["ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)"],
    ...["https://user:hunter2@a.example/", "https://user@a.example/"],
    new URL("data:text/plain,hunter2"),
  ];
  for (const [call, name] of calls) {
    for (const value of wrong) {
      const { message } = pinThrown(() => call(value), "invalid_argument");
      assertStringIncludes(message, name);
      assertEquals(message.includes("add https://"), value === "a.example");
    }
  }
});
