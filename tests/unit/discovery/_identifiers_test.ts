import { assertEquals } from "@std/assert";
import {
  canonicalResource,
  coversTarget,
  isSameIssuer,
} from "../../../lib/discovery/_identifiers.ts";

const API = "https://api.example";
const MCP = `${API}/mcp`;

// What the metadata names, the target, and the loosest match that takes it.
const RESOURCES: [resource: string, target: string, "exact" | "parent" | ""][] =
  [
    // The same address, however it is written.
    [MCP, MCP, "exact"],
    [API, API, "exact"],
    [`${API}/`, API, "exact"],
    [API, `${API}/`, "exact"],
    ["HTTPS://API.example:443/mcp", MCP, "exact"],
    [`${API}/./mcp`, MCP, "exact"],
    [`${API}/x/../mcp`, MCP, "exact"],
    [`${MCP}#part`, MCP, "exact"],
    [MCP, `${MCP}#part`, "exact"],
    [`${API}:8443/mcp`, `${API}:8443/mcp`, "exact"],
    // A parent, at the boundary of a segment.
    [API, MCP, "parent"],
    [`${API}/`, MCP, "parent"],
    [MCP, `${MCP}/`, "parent"],
    [MCP, `${MCP}/v1`, "parent"],
    [`${MCP}/`, `${MCP}/v1`, "parent"],
    [`${MCP}/v1`, `${MCP}/v1/tools/a`, "parent"],
    [`${MCP}/`, MCP, "parent"],
    [`${API}/mc`, MCP, ""],
    [`${MCP}p`, MCP, ""],
    [MCP, `${MCP}p`, ""],
    [MCP, `${API}/mcp-2/v1`, ""],
    [`${MCP}/v1`, MCP, ""],
    [`${MCP}//`, `${MCP}/v1`, ""],
    [`${API}/MCP`, MCP, ""],
    [`${API}/m%63p`, MCP, ""],
    // A query takes part; only one without it is a parent.
    [`${MCP}?a=1`, `${MCP}?a=1`, "exact"],
    [MCP, `${MCP}?a=1`, "parent"],
    [API, `${MCP}?a=1`, "parent"],
    [`${MCP}/`, `${MCP}?a=1`, "parent"],
    [`${MCP}?`, MCP, "exact"],
    [`${MCP}?a=1`, MCP, ""],
    [`${MCP}?a=1`, `${MCP}/v1`, ""],
    [`${MCP}?a=1`, `${MCP}/v1?a=1`, ""],
    [`${MCP}?a=1`, `${MCP}?a=2`, ""],
    [`${MCP}?a=1`, `${MCP}?a=1&b=2`, ""],
    [`${API}?a=1`, `${MCP}?a=1`, ""],
    // Another origin.
    ["http://api.example/mcp", MCP, ""],
    [`${API}:8443/mcp`, MCP, ""],
    [MCP, `${API}:8443/mcp`, ""],
    ["https://evil.example/mcp", MCP, ""],
    ["https://api.example.evil.example/mcp", MCP, ""],
    ["https://www.api.example/mcp", MCP, ""],
    // Credentials.
    ["https://user@api.example/mcp", MCP, ""],
    ["https://:pass@api.example/mcp", MCP, ""],
    ["https://user:pass@api.example", MCP, ""],
    ["https://api.example@evil.example/mcp", MCP, ""],
    // No address.
    ["https:///api.example/mcp", MCP, ""],
    ["", MCP, ""],
    ["/mcp", MCP, ""],
    ["api.example/mcp", MCP, ""],
    ["//api.example/mcp", MCP, ""],
    ["urn:example:mcp", MCP, ""],
    // No identifier, though the parser would mend it.
    [` ${MCP}`, MCP, ""],
    [`${MCP} `, MCP, ""],
    [`${MCP}\n`, MCP, ""],
    ["https:api.example/mcp", MCP, ""],
    ["https:/api.example/mcp", MCP, ""],
    ["https:\\\\api.example\\mcp", MCP, ""],
    ["https://api.example\\mcp", MCP, ""],
    ["https://api.example/mc\tp", MCP, ""],
    ["ht\ntps://api.example/mcp", MCP, ""],
  ];

for (const match of ["exact", "parent"] as const) {
  Deno.test(`coversTarget() follows its table, match ${match}`, () => {
    for (const [resource, target, kind] of RESOURCES) {
      assertEquals(
        coversTarget(resource, new URL(target), match),
        kind === "exact" || kind === match,
        `${resource} for ${target}`,
      );
    }
  });
}

Deno.test("isSameIssuer() forgives the slash of an empty path and nothing else", () => {
  const AS = "https://as.example";
  const rows: [a: string, b: string, isSame: boolean][] = [
    [AS, AS, true],
    [AS, `${AS}/`, true],
    [`${AS}/`, `${AS}/`, true],
    [`${AS}:8443`, `${AS}:8443/`, true],
    ["http://[::1]:80", "http://[::1]:80/", true],
    [`${AS}/t`, `${AS}/t`, true],
    [`${AS}/t`, `${AS}/t/`, false],
    [AS, `${AS}//`, false],
    [`${AS}/`, `${AS}//`, false],
    [AS, `${AS}/?`, false],
    [AS, `${AS}?`, false],
    [`${AS}?a`, `${AS}?a/`, false],
    [`${AS}#a`, `${AS}#a/`, false],
    [AS, `${AS}/#`, false],
    [AS, "https://AS.example", false],
    [AS, "HTTPS://as.example", false],
    [AS, `${AS}:443`, false],
    [AS, `${AS}:8443`, false],
    [AS, "http://as.example", false],
    [AS, `${AS}/t`, false],
    [AS, "https://user@as.example", false],
    [AS, ` ${AS}`, false],
    [AS, `${AS}\n`, false],
    [AS, `${AS}/\n`, false],
    [AS, "", false],
    ["urn:as", "urn:as/", false],
    ["", "", true],
  ];
  for (const [a, b, isSame] of rows) {
    assertEquals(isSameIssuer(a, b), isSame, `${a} and ${b}`);
    assertEquals(isSameIssuer(b, a), isSame, `${b} and ${a}`);
  }
});

Deno.test("canonicalResource() has neither fragment nor a slash for no path", () => {
  const rows: [target: string, resource: string][] = [
    [API, API],
    [`${API}/`, API],
    [`${API}/#part`, API],
    [`${API}?a=B`, `${API}?a=B`],
    [`${API}/?`, API],
    [MCP, MCP],
    [`${MCP}/`, `${MCP}/`],
    [`${MCP}#part`, MCP],
    [`${MCP}?a=%20b#part`, `${MCP}?a=%20b`],
    ["HTTPS://API.example:443/Mcp", `${API}/Mcp`],
    [`${API}:8443/mcp`, `${API}:8443/mcp`],
    ["http://localhost:80/", "http://localhost"],
    ["https://user:pass@api.example/mcp", MCP],
  ];
  for (const [target, resource] of rows) {
    assertEquals(canonicalResource(new URL(target)), resource, target);
  }
});

Deno.test("canonicalResource() gives what coversTarget() takes for the target", () => {
  for (const [, target] of RESOURCES) {
    const url = new URL(target);
    assertEquals(coversTarget(canonicalResource(url), url, "exact"), true);
  }
});
