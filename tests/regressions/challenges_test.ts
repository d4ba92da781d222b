/** Every Bearer or DPoP challenge of a response counts (RFC 9110, section 11.6.1). */

import { assertEquals } from "@std/assert";
import { asm, discovered, prm, undiscovered } from "../support/discover.ts";
import { API, OAUTH, PRM } from "../support/fixtures.ts";
import { text } from "../support/stub_fetch.ts";

const NAMED = `${API}/meta`;

Deno.test("discoverAuthorization() uses the first challenge with resource_metadata", async () => {
  const rows: [header: string, scheme: string, scopes?: string[]][] = [
    [`DPoP algs="ES256", Bearer resource_metadata="${NAMED}"`, "Bearer"],
    [
      `Bearer scope="a", DPoP resource_metadata="${NAMED}", scope="b"`,
      "DPoP",
      ["b"],
    ],
    [
      `Basic realm="x", Bearer resource_metadata="${NAMED}", DPoP resource_metadata="${API}/x"`,
      "Bearer",
    ],
  ];
  for (const [challenge, scheme, scopes] of rows) {
    const found = await discovered(
      { [NAMED]: prm(), [OAUTH]: asm() },
      { challenge },
    );
    assertEquals(found.challenge?.scheme, scheme);
    assertEquals(found.challenge?.params.resource_metadata, NAMED);
    assertEquals(found.scopes, scopes);
  }
});

Deno.test("discoverAuthorization() uses the first challenge where none has resource_metadata", async () => {
  const found = await discovered(
    { [`${PRM}/mcp`]: prm(), [OAUTH]: asm() },
    { challenge: 'DPoP algs="ES256", scope="a", Bearer scope="b"' },
  );
  assertEquals([found.challenge?.scheme, found.scopes], ["DPoP", ["a"]]);
});

Deno.test("discoverAuthorization() assumes no endpoints where any challenge named metadata", async () => {
  const missing = text("", 404);
  const wellKnown = `${API}/.well-known/`;
  const { code } = await undiscovered({
    [NAMED]: missing,
    [`${PRM}/mcp`]: missing,
    [PRM]: missing,
    [`${wellKnown}oauth-authorization-server`]: missing,
    [`${wellKnown}openid-configuration`]: missing,
  }, { challenge: `DPoP algs="ES256", Bearer resource_metadata="${NAMED}"` });
  assertEquals(code, "discovery_failed");
});
