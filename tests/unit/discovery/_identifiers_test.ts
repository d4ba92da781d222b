/** Metadata counts for a target only if its resource covers the URL of the target. */

import { assertEquals } from "@std/assert";
import {
  coversTarget,
  identifierOf,
} from "../../../lib/discovery/_identifiers.ts";
import { API, MCP, PRM } from "../../support/fixtures.ts";

/**
 * How a resource covers a target: as the same URL, as one whose path differs only
 * in a slash, as a parent path, or not at all.
 */
type Cover = "exact" | "path" | "parent" | "";

const RESOURCES: [resource: string, target: string, cover: Cover][] = [
  [MCP, MCP, "exact"],
  [API, API, "exact"],
  [`${API}/`, API, "exact"],
  [API, `${API}/`, "exact"],
  ["HTTPS://API.example:443/mcp", MCP, "exact"],
  [`${API}/x/../mcp`, MCP, "exact"],
  [MCP, `${MCP}#part`, "exact"],
  [`${API}:8443/mcp`, `${API}:8443/mcp`, "exact"],
  [`${MCP}?a=1`, `${MCP}?a=1`, "exact"],
  [`${MCP}?`, MCP, "exact"],
  [MCP, `${MCP}/`, "path"],
  [`${MCP}/`, MCP, "path"],
  // A parent ends at the boundary of a path segment.
  [API, MCP, "parent"],
  [`${API}/`, MCP, "parent"],
  [MCP, `${MCP}/v1`, "parent"],
  [`${MCP}/`, `${MCP}/v1`, "parent"],
  [`${MCP}/v1`, `${MCP}/v1/tools/a`, "parent"],
  [API, `${MCP}?a=1`, "parent"],
  [MCP, `${MCP}?a=1`, "parent"],
  [`${MCP}/`, `${MCP}?a=1`, "parent"],
  [`${API}/mc`, MCP, ""],
  [`${MCP}p`, MCP, ""],
  [MCP, `${API}/mcp-2/v1`, ""],
  [`${MCP}/v1`, MCP, ""],
  [`${MCP}//`, `${MCP}/v1`, ""],
  [`${API}/MCP`, MCP, ""],
  [`${API}/m%63p`, MCP, ""],
  // Only a URL without a query is a parent.
  [`${MCP}?a=1`, MCP, ""],
  [`${MCP}?a=1`, `${MCP}/v1?a=1`, ""],
  [`${MCP}?a=1`, `${MCP}?a=2`, ""],
  [`${MCP}?a=1`, `${MCP}?a=1&b=2`, ""],
  [`${API}?a=1`, `${MCP}?a=1`, ""],
  // RFC 9728, section 2: no fragment.
  [`${MCP}#part`, MCP, ""],
  [`${MCP}#part`, `${MCP}#part`, ""],
  [`${MCP}#`, MCP, ""],
  // Another origin.
  ["http://api.example/mcp", MCP, ""],
  [`${API}:8443/mcp`, MCP, ""],
  [MCP, `${API}:8443/mcp`, ""],
  ["https://evil.example/mcp", MCP, ""],
  ["https://api.example.evil.example/mcp", MCP, ""],
  // Credentials.
  ["https://user@api.example/mcp", MCP, ""],
  ["https://:pass@api.example/mcp", MCP, ""],
  ["https://api.example@evil.example/mcp", MCP, ""],
  // Not a URL, or one that the parser repairs.
  ["", MCP, ""],
  ["/mcp", MCP, ""],
  ["//api.example/mcp", MCP, ""],
  ["urn:example:mcp", MCP, ""],
  ["https:///api.example/mcp", MCP, ""],
  [` ${MCP}`, MCP, ""],
  [`${MCP}\n`, MCP, ""],
  ["https:api.example/mcp", MCP, ""],
  ["https:\\\\api.example\\mcp", MCP, ""],
  ["https://api.example\\mcp", MCP, ""],
  ["https://api.example/mc\tp", MCP, ""],
  ["ht\ntps://api.example/mcp", MCP, ""],
  // Only printable ASCII.
  [`${MCP}\u00fc`, `${MCP}\u00fc`, ""],
  [`${API}/\u202epcm`, `${API}/\u202epcm`, ""],
  [`${API}/m p`, `${API}/m p`, ""],
  [`${API}/m%C3%BC`, `${API}/m\u00fc`, "exact"],
];

for (const match of ["exact", "parent"] as const) {
  Deno.test(`coversTarget() accepts the resources of its table, match ${match}`, () => {
    for (const [resource, target, cover] of RESOURCES) {
      const path = new URL(target).pathname;
      const parent = cover ? new URL(resource).pathname : "/mcp";
      const rows: [metadataUrl: string, isOwn: boolean][] = [
        [PRM.replace(API, new URL(target).origin) + parent, true],
        [`${PRM}${parent.replace(/\/$/, "")}`, true],
        [`${PRM}${path}/below`, false],
        [`${API}/tenant/meta`, false],
        ["https://evil.example/.well-known/oauth-protected-resource", false],
        ["no URL", false],
      ];
      for (const [metadataUrl, isOwn] of rows) {
        assertEquals(
          coversTarget(resource, new URL(target), { metadataUrl, match }),
          cover === "exact" ||
            (match === "parent" &&
              (cover === "path" || (cover === "parent" && isOwn))),
          `${resource} for ${target} at ${metadataUrl}`,
        );
      }
    }
  });
}

Deno.test("identifierOf() returns a URL without fragment or slash for an empty path", () => {
  const rows: [target: string, resource: string][] = [
    [API, API],
    [`${API}/#part`, API],
    [`${API}?a=B`, `${API}?a=B`],
    [`${API}/?`, API],
    [`${MCP}/`, `${MCP}/`],
    [`${MCP}?a=%20b#part`, `${MCP}?a=%20b`],
    ["HTTPS://API.example:443/Mcp", `${API}/Mcp`],
    [`${API}:8443/mcp`, `${API}:8443/mcp`],
    ["http://localhost:80/", "http://localhost"],
    ["https://user:pass@api.example/mcp", MCP],
  ];
  for (const [target, resource] of rows) {
    const url = new URL(target);
    assertEquals(identifierOf(url), resource, target);
    const exact = { metadataUrl: "", match: "exact" } as const;
    assertEquals(coversTarget(resource, url, exact), true, target);
  }
});
