/** Metadata of another resource must not be used (RFC 9728, section 3.3). */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { buildAuthorizationUrl } from "../../mod.ts";
import {
  asm,
  codes,
  discover,
  discovered,
  prm,
  undiscovered,
} from "../support/discover.ts";
import { API, AS, MCP, OAUTH, PRM } from "../support/fixtures.ts";
import { text } from "../support/stub_fetch.ts";

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

/** Documents of a parent at another URL, which can belong to a tenant, and its own URL. */
const ELSEWHERE: [
  target: string,
  url: string,
  resource: string,
  ownUrl: string,
][] = [
  [MCP, `${PRM}/mcp`, API, PRM],
  [`${API}/tenant/mcp`, `${API}/tenant/meta`, API, PRM],
  [`${API}/tenant/mcp`, `${PRM}/tenant`, API, PRM],
  [`${MCP}/v1`, PRM, MCP, `${PRM}/mcp`],
  [MCP, "https://evil.example/.well-known/oauth-protected-resource", API, PRM],
  [MCP, `${PRM}?x`, API, PRM],
  [`${MCP}?tenant=a`, `${API}/anywhere`, MCP, `${PRM}/mcp`],
];
const OTHER_AS = "https://tenant-as.example";

for (const [target, url, resource, ownUrl] of ELSEWHERE) {
  Deno.test(`discoverAuthorization() goes on with the parent's own document for ${resource} at ${url} for ${target}`, async () => {
    const challenge = `Bearer resource_metadata="${url}"`;
    const tenant = prm({ resource, authorization_servers: [OTHER_AS] });
    const found = await discovered(
      { [url]: tenant, [ownUrl]: prm({ resource }), [OAUTH]: asm() },
      { challenge },
      target,
    );
    assertEquals([found.resource, found.issuer], [resource, AS]);
    assertEquals(codes(found.attempts).slice(0, 1), ["identifier_mismatch"]);

    // Nothing is assumed if it is missing, or if it is that of another resource.
    for (
      const answer of [
        text("Not found", 404),
        prm({ resource: "https://evil.example" }),
        text("No JSON", 200),
      ]
    ) {
      const { error, code, urls } = await undiscovered(
        { [url]: tenant, [ownUrl]: answer },
        { challenge },
        target,
      );
      assertEquals([code, urls], ["discovery_failed", [url, ownUrl]]);
      const { cause } = error as { cause?: { code?: string } };
      assertEquals(cause?.code, "identifier_mismatch");
      assertStringIncludes(error.message, `is "${resource}", expected`);
    }
  });
}

const REFUSED: [target: string, url: string, resource: string][] = [
  [MCP, `${PRM}/mcp`, `${MCP}#part`],
  [MCP, PRM, `${API}#part`],
  [MCP, `${PRM}/mcp`, "https://evil.example/mcp"],
  [MCP, `${PRM}/mcp`, "https://user:pa55word@api.example/mcp"],
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

Deno.test("discoverAuthorization() uses nothing of metadata whose resource is missing or no string", async () => {
  const missing = text("", 404);
  for (const resource of [undefined, "", [MCP]]) {
    const { error, urls } = await undiscovered({
      [`${PRM}/mcp`]: prm({ resource }),
      [PRM]: missing,
      [`${API}/.well-known/oauth-authorization-server`]: missing,
      [`${API}/.well-known/openid-configuration`]: missing,
    });
    // The server that it lists is not requested.
    assertEquals(urls.length, 4);
    const expected = `${PRM}/mcp (Resource metadata must have a resource)`;
    assertStringIncludes(error.message, expected);
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

Deno.test("buildAuthorizationUrl() sends the resource byte for byte, in place of that of the endpoint", () => {
  const server = {
    issuer: AS,
    authorization_endpoint: `${AS}/authorize?resource=own`,
    code_challenge_methods_supported: ["S256"],
  };
  for (const resource of [MCP, `${MCP}/`, "https://API.example:443/mcp"]) {
    const url = buildAuthorizationUrl(server, {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s",
      codeChallenge: "x",
      resource,
    });
    assertEquals(url.searchParams.getAll("resource"), [resource]);
  }
});
