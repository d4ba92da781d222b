import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  getAuthorizationServerMetadataUrls,
  getResourceMetadataUrls,
  OAuthClientError,
} from "../../../mod.ts";

const PRM = "/.well-known/oauth-protected-resource";
const AS = "/.well-known/oauth-authorization-server";
const OIDC = "/.well-known/openid-configuration";

// What one address is made of: origin, path, query.
const ADDRESSES: [url: string, origin: string, path: string, query: string][] =
  [
    ["https://a.example", "https://a.example", "", ""],
    ["https://a.example/", "https://a.example", "", ""],
    ["https://a.example/mcp", "https://a.example", "/mcp", ""],
    ["https://a.example/x/y", "https://a.example", "/x/y", ""],
    ["https://a.example?q=1", "https://a.example", "", "?q=1"],
    ["https://a.example/?q=1", "https://a.example", "", "?q=1"],
    ["https://a.example/x?q=1&r", "https://a.example", "/x", "?q=1&r"],
    ["https://a.example/x?", "https://a.example", "/x", ""],
    ["https://a.example/x#frag", "https://a.example", "/x", ""],
    ["https://a.example/x?q#frag", "https://a.example", "/x", "?q"],
    ["https://A.Example:443/X", "https://a.example", "/X", ""],
    ["https://a.example:8443/x", "https://a.example:8443", "/x", ""],
    ["http://127.0.0.1:80/x", "http://127.0.0.1", "/x", ""],
    ["http://127.1:8080/x", "http://127.0.0.1:8080", "/x", ""],
    ["http://[::1]:8080/x", "http://[::1]:8080", "/x", ""],
    ["https://[2001:DB8::1]/x", "https://[2001:db8::1]", "/x", ""],
    ["https://b\u00fccher.example", "https://xn--bcher-kva.example", "", ""],
    [
      "https://a.example/\u00e4 b",
      "https://a.example",
      "/%C3%A4%20b",
      "",
    ],
    ["https://a.example/a%2Fb", "https://a.example", "/a%2Fb", ""],
    ["https://a.example/x/../y", "https://a.example", "/y", ""],
    ["https://a.example/x/./y", "https://a.example", "/x/y", ""],
    ["https://a.example/..", "https://a.example", "", ""],
    ["https://a.example/%2e%2e/x", "https://a.example", "/x", ""],
    // A path, though it looks like another host.
    [
      "https://a.example//evil.example/x",
      "https://a.example",
      "//evil.example/x",
      "",
    ],
    [
      "https://a.example/\\evil.example/x",
      "https://a.example",
      "//evil.example/x",
      "",
    ],
    ["https://a.example/@evil", "https://a.example", "/@evil", ""],
    [
      "https://a.example/.well-known/x",
      "https://a.example",
      "/.well-known/x",
      "",
    ],
  ];

const unique = (urls: string[]) => [...new Set(urls)];

Deno.test("getResourceMetadataUrls() inserts the well-known path, then stands alone", () => {
  for (const [url, origin, path, query] of ADDRESSES) {
    assertEquals(
      getResourceMetadataUrls(url),
      unique([origin + PRM + path + query, origin + PRM]),
      url,
    );
  }
});

Deno.test("getResourceMetadataUrls() keeps the slash behind a path", () => {
  assertEquals(
    getResourceMetadataUrls("https://a.example/mcp/")[0],
    `https://a.example${PRM}/mcp/`,
  );
  assertEquals(
    getResourceMetadataUrls("https://a.example//")[0],
    `https://a.example${PRM}//`,
  );
});

Deno.test("getResourceMetadataUrls() begins with the address of the challenge", () => {
  const target = "https://a.example/mcp";
  const derived = getResourceMetadataUrls(target);
  for (
    const [named, expected] of [
      ["https://other.example/m?x=1", [
        "https://other.example/m?x=1",
        ...derived,
      ]],
      ["https://A.example/m", ["https://A.example/m", ...derived]],
      [derived[0]!, derived],
      [derived[1]!, [derived[1]!, derived[0]!]],
      ["", derived],
    ] as const
  ) {
    assertEquals(getResourceMetadataUrls(target, named), [...expected], named);
  }
  assertEquals(getResourceMetadataUrls(target, undefined), derived);
});

Deno.test("getAuthorizationServerMetadataUrls() inserts twice, then appends", () => {
  for (const [url, origin, path] of ADDRESSES) {
    for (const slash of path === "" || /[?#]/.test(url) ? [""] : ["", "/"]) {
      assertEquals(
        getAuthorizationServerMetadataUrls(url + slash),
        unique([
          origin + AS + path,
          origin + OIDC + path,
          origin + path + OIDC,
        ]),
        url,
      );
    }
  }
});

Deno.test("getAuthorizationServerMetadataUrls() knows two addresses of an issuer without path", () => {
  for (const issuer of ["https://a.example", "https://a.example/"]) {
    assertEquals(getAuthorizationServerMetadataUrls(issuer), [
      `https://a.example${AS}`,
      `https://a.example${OIDC}`,
    ]);
  }
});

Deno.test("both URL builders stay on the host, whatever the path", () => {
  const path = fc.string({
    unit: fc.constantFrom(..."/\\.@:?#%2ea b"),
    maxLength: 12,
  });
  fc.assert(fc.property(path, (text) => {
    const { origin, pathname } = new URL(`https://a.example:8443/${text}`);
    const from = `https://a.example:8443/${text}`;
    const urls = [
      ...getResourceMetadataUrls(from),
      ...getAuthorizationServerMetadataUrls(from),
    ];
    for (const url of urls) {
      assertEquals(new URL(url).origin, origin, url);
      assert(!url.includes("#"), url);
    }
    assertEquals(new Set(urls).size, urls.length);
    const kept = pathname === "/" ? "" : pathname;
    assertEquals(new URL(urls[0]!).pathname, PRM + kept);
  }));
});

Deno.test("both URL builders refuse what is no http or https URL", () => {
  for (
    const wrong of [
      undefined,
      null,
      1,
      "",
      "a.example",
      "/mcp",
      "//a.example/mcp",
      "https://",
      "ftp://a.example/",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:text/plain,x",
      "https://user:hunter2@a.example/",
      "https://user@a.example/",
      new URL("https://a.example"),
    ]
  ) {
    for (
      const [call, name] of [
        [() => getResourceMetadataUrls(wrong as string), "targetResource"],
        [() => getAuthorizationServerMetadataUrls(wrong as string), "issuer"],
      ] as const
    ) {
      const error = assertThrows(call, OAuthClientError, name, String(wrong));
      assertEquals(error.code, "invalid_argument");
      assert(!error.message.includes("hunter2"));
    }
  }
});
