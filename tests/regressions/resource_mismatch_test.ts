/** Metadata of another resource must not be used (RFC 9728, section 3.3). */

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
} from "../../mod.ts";
import {
  asm,
  codes,
  discover,
  discovered,
  prm,
  undiscovered,
} from "../support/discover.ts";
import { API, AS, MCP, OAUTH, PRM } from "../support/fixtures.ts";
import { json, text } from "../support/stub_fetch.ts";

const ACCEPTED: [target: string, url: string, resource: string][] = [
  [MCP, `${PRM}/mcp`, MCP],
  [MCP, `${API}/anywhere`, MCP],
  [MCP, `${PRM}/mcp`, "https://API.example:443/mcp"],
  [MCP, `${PRM}/mcp`, `${MCP}/`],
  // A parent at its own well-known URL.
  [MCP, PRM, API],
  [`${MCP}/v1`, `${PRM}/mcp`, MCP],
];

for (const [target, url, resource] of ACCEPTED) {
  Deno.test(`discoverAuthorization() accepts ${resource} at ${url} for ${target}`, async () => {
    const found = await discovered(
      {
        [url]: prm({ resource }),
        [OAUTH]: asm(),
      },
      { challenge: `Bearer resource_metadata="${url}"` },
      target,
    );
    // RFC 8707: the resource indicator is sent byte for byte.
    assertEquals(found.resource, resource);
  });
}

const REFUSED: [target: string, url: string, resource: string][] = [
  // Another URL can belong to a tenant, who must not act for the whole host.
  [MCP, `${PRM}/mcp`, API],
  [`${API}/tenant/mcp`, `${API}/tenant/meta`, API],
  [`${API}/tenant/mcp`, `${PRM}/tenant`, API],
  [`${MCP}/v1`, PRM, MCP],
  [MCP, "https://evil.example/.well-known/oauth-protected-resource", API],
  [MCP, `${PRM}?x`, API],
  [MCP, `${PRM}/mcp`, `${MCP}#part`],
  [MCP, PRM, `${API}#part`],
  [MCP, `${PRM}/mcp`, "https://evil.example/mcp"],
  [MCP, `${PRM}/mcp`, "https://user:pa55word@api.example/mcp"],
  [`${MCP}?tenant=a`, `${API}/anywhere`, MCP],
];

for (const [target, url, resource] of REFUSED) {
  Deno.test(`discoverAuthorization() ends at ${resource} at ${url} for ${target}`, async () => {
    const { error, code, attempts, urls } = await undiscovered(
      { [url]: prm({ resource }) },
      { challenge: `Bearer resource_metadata="${url}"` },
      target,
    );
    assertEquals([code, urls], ["discovery_failed", [url]]);
    assertEquals(codes(attempts), ["identifier_mismatch"]);
    assertStringIncludes(
      error.message,
      `${target} is not the resource of its metadata. Tried: ${url} (`,
    );
    const shown = resource.replace("user:pa55word", "[redacted]");
    assertStringIncludes(error.message, `is "${shown}", expected "${target}"`);
    assertEquals(JSON.stringify(error).includes("pa55word"), false);
  });
}

Deno.test("discoverAuthorization() uses nothing of metadata whose resource is no string", async () => {
  for (const resource of [[MCP], 7, {}, true, "", null, undefined]) {
    const { error, code, attempts, urls } = await undiscovered({
      [`${PRM}/mcp`]: prm({ resource }),
      [PRM]: text("", 404),
      [`${API}/.well-known/oauth-authorization-server`]: text("", 404),
      [`${API}/.well-known/openid-configuration`]: text("", 404),
    });
    // The server that it lists is not requested.
    assertEquals([code, urls.length], ["discovery_failed", 4]);
    assertEquals(codes(attempts.slice(0, 1)), ["invalid_metadata"]);
    assertStringIncludes(
      error.message,
      `${PRM}/mcp (Resource metadata must have a resource)`,
    );
  }
});

Deno.test("discoverAuthorization() accepts no parent resource where resourceMatch is exact", async () => {
  const rows: [target: string, resource: string, isAccepted: boolean][] = [
    [MCP, MCP, true],
    [API, `${API}/`, true],
    [MCP, API, false],
    [MCP, `${MCP}/`, false],
    [`${MCP}/`, MCP, false],
  ];
  for (const [target, resource, isAccepted] of rows) {
    const { result } = await discover(
      { [PRM]: prm({ resource }), [OAUTH]: asm() },
      {
        challenge: `Bearer resource_metadata="${PRM}"`,
        resourceMatch: "exact",
      },
      target,
    );
    assertEquals(!(result instanceof Error), isAccepted, resource);
  }
});

Deno.test("the resource of the metadata reaches both endpoints byte for byte", async () => {
  for (const resource of [MCP, `${MCP}/`, "https://API.example:443/mcp"]) {
    const found = await discovered({
      [`${PRM}/mcp`]: prm({ resource }),
      [OAUTH]: json({
        issuer: AS,
        authorization_endpoint: `${AS}/authorize?resource=own`,
        code_challenge_methods_supported: ["S256"],
      }),
    });
    const url = buildAuthorizationUrl(found.serverMetadata, {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s",
      codeChallenge: "x",
      resource: found.resource,
    });
    assertEquals(url.searchParams.getAll("resource"), [resource]);
    const body = buildAuthorizationCodeBody({
      code: "c",
      redirectUri: "http://127.0.0.1/",
      codeVerifier: "v",
      resource: found.resource,
    });
    assertEquals(body.getAll("resource"), [resource]);
  }
});
