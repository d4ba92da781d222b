/** Metadata of another issuer must not be used (RFC 8414, section 3.3). */

import {
  assert,
  assertEquals,
  assertFalse,
  assertStringIncludes,
} from "@std/assert";
import {
  discoverAuthorizationServer,
  parseAuthorizationResponse,
} from "../../../mod.ts";
import {
  asm,
  codes,
  discovered,
  prm,
  undiscovered,
} from "../../support/discover.ts";
import {
  AS,
  assertThrowsCode,
  OAUTH,
  OPENID,
  PRM,
} from "../../support/fixtures.ts";
import { pinMessage } from "../../support/pin_message.ts";
import { type Answer, stubFetch } from "../../support/stub_fetch.ts";

const OTHER = "https://other.example";

/** Servers at every URL of this issuer, whose metadata has another one. */
function servers(named: string, issuer: unknown): Record<string, Answer> {
  const path = new URL(named).pathname.replace(/\/$/, "");
  const answer = asm(issuer);
  return {
    [`${PRM}/mcp`]: prm({ authorization_servers: [named] }),
    [OAUTH + path]: answer,
    [OPENID + path]: answer,
    [`${AS}${path}/.well-known/openid-configuration`]: answer,
  };
}

type Trusted = Record<string, string>;

const ACCEPTED: [named: string, issuer: string, trusted?: Trusted][] = [
  [AS, AS],
  [`${AS}/t`, `${AS}/t`],
  // One slash may differ: both spellings have the same well-known URLs.
  [AS, `${AS}/`],
  [`${AS}/`, AS],
  [`${AS}/t`, `${AS}/t/`],
  [`${AS}/t/`, `${AS}/t`],
  [AS, OTHER, { [AS]: OTHER }],
  [`${AS}/t`, `${AS}/{tenant}`, { [`${AS}/t`]: `${AS}/{tenant}` }],
];

for (const [named, issuer, trustedIssuers] of ACCEPTED) {
  Deno.test(`discoverAuthorization() accepts ${issuer} for ${named}, ${JSON.stringify(trustedIssuers)}`, async () => {
    const found = await discovered(servers(named, issuer), { trustedIssuers });
    assertEquals([found.issuer, found.serverMetadata.issuer], [issuer, issuer]);
    // RFC 9207: `iss` is compared with the issuer of the metadata.
    const respond = (iss: string) =>
      parseAuthorizationResponse(
        new URLSearchParams({ code: "c", state: "s", iss }),
        { state: "s", serverMetadata: found.serverMetadata },
      );
    assertEquals(respond(issuer).code, "c");
    if (named === issuer) return;
    assertThrowsCode(() => respond(named), "issuer_mismatch");
  });
}

const REFUSED: [named: string, issuer: unknown, trusted?: Trusted][] = [
  [AS, "https://AS.example"],
  [AS, "https://as.example:443"],
  [AS, "http://as.example"],
  [AS, `${AS}/t`],
  [`${AS}/t`, AS],
  [AS, `${AS}//`],
  [`${AS}/t`, `${AS}/t//`],
  [AS, `${AS}?`],
  [AS, OTHER],
  [AS, [AS]],
  // RFC 8414, section 2: no query and no fragment, even where both have one.
  [`${AS}?a=1`, `${AS}?a=1`],
  [`${AS}/#a`, `${AS}/#a`],
  // The map trusts one issuer for one name, and nothing else.
  [AS, OTHER, {}],
  [AS, OTHER, { [AS]: `${OTHER}/` }],
  [AS, OTHER, { [OTHER]: OTHER }],
  [AS, OTHER, { [OTHER]: AS }],
  // A server that claims what is trusted for the name of another.
  [AS, OTHER, { "https://cdn.other.example": OTHER }],
  [AS, OTHER, { [`${AS}/t`]: OTHER }],
];

for (const [named, issuer, trustedIssuers] of REFUSED) {
  Deno.test(`discoverAuthorization() refuses ${issuer} for ${named}, ${JSON.stringify(trustedIssuers)}`, async () => {
    const { error, code, attempts } = await undiscovered(
      servers(named, issuer),
      { trustedIssuers },
    );
    assertEquals(code, "discovery_failed");
    const [, ...ofServer] = codes(attempts);
    assert(ofServer.length >= 2);
    const expected = Array.isArray(issuer)
      ? "invalid_metadata"
      : "identifier_mismatch";
    assertEquals([...new Set(ofServer)], [expected]);
    if (Array.isArray(issuer)) return;
    const [start = "", list = ""] = error.message.split(". Tried: ");
    assertStringIncludes(start, `"${issuer}"`);
    assertStringIncludes(start, `"${named}"`);
    // Not once more for each URL.
    assertFalse(list.includes(`"${issuer}"`));
    if (issuer === OTHER && !trustedIssuers) pinMessage(error);
  });
}

Deno.test("discoverAuthorizationServer() accepts another issuer only if trusted for this one", async () => {
  const routes = { [OAUTH]: asm(OTHER), [OPENID]: asm(OTHER) };
  const find = async (trustedIssuers?: Trusted) => {
    using stubbed = stubFetch(routes);
    const { fetch } = stubbed;
    return await discoverAuthorizationServer(AS, { fetch, trustedIssuers })
      .then(({ issuer }) => issuer, (error) => error.code);
  };
  assertEquals(await find(), "discovery_failed");
  assertEquals(await find({ [OTHER]: OTHER }), "discovery_failed");
  assertEquals(await find({ [AS]: OTHER }), OTHER);
});
