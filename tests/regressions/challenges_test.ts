/** Every Bearer or DPoP challenge of a response counts (RFC 9110, section 11.6.1). */

import { assertEquals } from "@std/assert";
import { asm, discovered, prm, undiscovered } from "../support/discover.ts";
import { API, OAUTH, PRM } from "../support/fixtures.ts";
import { text } from "../support/stub_fetch.ts";

const NAMED = `${API}/meta`;
const METADATA = `resource_metadata="${NAMED}"`;

const ROWS: [challenge: string, scheme: string, scopes?: string[]][] = [
  [`DPoP algs="ES256", Bearer ${METADATA}`, "Bearer"],
  [`Bearer scope="a", DPoP ${METADATA}, scope="b"`, "DPoP", ["b"]],
  [`Basic realm="x", Bearer ${METADATA}, DPoP ${METADATA}x`, "Bearer"],
  ['DPoP algs="ES256", scope="a", Bearer scope="b"', "DPoP", ["a"]],
];

for (const [challenge, scheme, scopes] of ROWS) {
  Deno.test(`discoverAuthorization() uses the challenge of ${scheme} in ${challenge}`, async () => {
    const url = challenge.includes(NAMED) ? NAMED : `${PRM}/mcp`;
    const routes = { [url]: prm(), [OAUTH]: asm() };
    const found = await discovered(routes, { challenge });
    assertEquals([found.challenge?.scheme, found.scopes], [scheme, scopes]);
  });
}

Deno.test("discoverAuthorization() assumes no endpoints where any challenge named metadata", async () => {
  const missing = text("", 404);
  const wellKnown = `${API}/.well-known/`;
  const { code } = await undiscovered({
    [NAMED]: missing,
    [`${PRM}/mcp`]: missing,
    [PRM]: missing,
    [`${wellKnown}oauth-authorization-server`]: missing,
    [`${wellKnown}openid-configuration`]: missing,
  }, { challenge: `DPoP algs="ES256", Bearer ${METADATA}` });
  assertEquals(code, "discovery_failed");
});
