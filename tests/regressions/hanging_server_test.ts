/** A server that never responds must not keep the caller waiting. */

import { assertEquals, assertRejects } from "@std/assert";
import {
  discoverAuthorization,
  discoverAuthorizationServer,
  fetchAuthorizationServerMetadata,
  fetchResourceMetadata,
  type IRequestOptions,
  OAuthClientError,
} from "../../mod.ts";
import { prm } from "../support/discover.ts";
import { AS, MCP, OAUTH, OPENID, PRM } from "../support/fixtures.ts";
import { never, stubFetch, text } from "../support/stub_fetch.ts";

const CALLS: [
  name: string,
  last: string,
  call: (options: IRequestOptions) => Promise<unknown>,
][] = [
  [
    "fetchResourceMetadata",
    PRM,
    (options) => fetchResourceMetadata(MCP, `${PRM}?x`, options),
  ],
  [
    "fetchAuthorizationServerMetadata",
    OPENID,
    (options) => fetchAuthorizationServerMetadata(AS, options),
  ],
  [
    "discoverAuthorizationServer",
    OPENID,
    (options) => discoverAuthorizationServer(AS, options),
  ],
  [
    "discoverAuthorization",
    OPENID,
    (options) => discoverAuthorization(MCP, options),
  ],
];

for (const [name, last, call] of CALLS) {
  Deno.test(`${name}() ends at the first timeout, whatever failed before`, async () => {
    const missing = text("", 404);
    for (
      const hang of [
        () => never<Response>(),
        () => new Response(new ReadableStream()),
      ]
    ) {
      using server = stubFetch({
        [`${PRM}?x`]: missing,
        [`${PRM}/mcp`]: last === OPENID ? prm() : missing,
        [OAUTH]: missing,
        // Requests after this one are unexpected, and fail the test.
        [last]: hang,
      });
      const error = await assertRejects(
        () => call({ fetch: server.fetch, timeoutMs: 5 }),
        OAuthClientError,
        `Request to ${last} got no complete response within 5 ms`,
      );
      assertEquals([error.code, error.url], ["timeout", last]);
      assertEquals(server.urls.at(-1), last);
    }
  });
}
