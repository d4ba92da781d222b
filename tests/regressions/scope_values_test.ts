/** Scope values are checked (RFC 6749, section 3.3). */

import { assertEquals, assertThrows } from "@std/assert";
import {
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  fetchDeviceAuthorization,
  OAuthClientError,
  publicClient,
  refreshToken,
} from "../../mod.ts";
import { asm, discovered, prm } from "../support/discover.ts";
import {
  AS,
  assertInvalidArgument,
  OAUTH,
  PRM,
  SERVER,
} from "../support/fixtures.ts";
import { stubFetch } from "../support/stub_fetch.ts";

const UNFIT = ["read admin", "", 'say"', "a\\b", "\u00e9", "a\tb", "a\u0000"];

Deno.test("no request is built with an unfit scope value of the caller", async () => {
  using stubbed = stubFetch({});
  const { fetch } = stubbed;
  const client = publicClient("c1");
  for (const unfit of UNFIT) {
    const scopes = ["read", unfit];
    const calls = [
      () => buildClientCredentialsBody({ scopes }),
      () =>
        buildAuthorizationUrl({
          issuer: AS,
          authorization_endpoint: `${AS}/authorize`,
          code_challenge_methods_supported: ["S256"],
        }, {
          clientId: "c1",
          redirectUri: "http://127.0.0.1/",
          state: "s",
          codeChallenge: "x",
          scopes,
        }),
    ];
    for (const call of calls) {
      const error = assertThrows(call, OAuthClientError, "scopes must be");
      assertEquals(error.code, "invalid_argument");
    }
    const old = { refresh_token: "r1" };
    await assertInvalidArgument(
      () => refreshToken(SERVER, old, { fetch, scopes }),
      "scopes",
    );
    await assertInvalidArgument(
      () => fetchDeviceAuthorization(SERVER, { fetch, client, scopes }),
      "scopes",
    );
  }
});

Deno.test("scope values of a server are split at whitespace, and unfit ones dropped", async () => {
  const listed = await discovered({
    [`${PRM}/mcp`]: prm({ scopes_supported: ["read admin", ...UNFIT] }),
    [OAUTH]: asm(),
  });
  assertEquals(listed.scopes, ["read", "admin", "a", "b"]);
  const challenge = 'Bearer scope="read  read a\\\\\\\\b \u00e9 write"';
  const named = await discovered(
    { [`${PRM}/mcp`]: prm(), [OAUTH]: asm() },
    { challenge },
  );
  assertEquals(named.scopes, ["read", "write"]);
});
