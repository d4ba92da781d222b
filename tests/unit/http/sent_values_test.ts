/** An error repeats no value of a URL that was sent. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  clientSecretPost,
  type FetchLike,
  fetchToken,
  OAuthClientError,
  registerClient,
} from "../../../mod.ts";
import { errorOf } from "../../support/exchange.ts";
import { AS } from "../../support/fixtures.ts";
import { shown } from "../../support/shown.ts";
import { json, never, stubFetch, text } from "../../support/stub_fetch.ts";

const SECRET = "s3cret-of-the-client";
const TOKEN = `${AS}/token/${SECRET}`;
const REGISTRATION = `${AS}/register?by=${SECRET}`;

const token = (fetch: FetchLike) =>
  fetchToken(
    { issuer: AS, token_endpoint: TOKEN },
    new URLSearchParams({ grant_type: "client_credentials" }),
    {
      client: clientSecretPost("c1", SECRET, { issuer: AS }),
      fetch,
      timeoutMs: 5,
      maxBytes: 100,
    },
  );
const register = (fetch: FetchLike) =>
  registerClient(
    { issuer: AS, registration_endpoint: REGISTRATION },
    { client_name: "My client" },
    { headers: { Authorization: `Bearer ${SECRET}` }, fetch },
  );

/** Responses of an endpoint whose URL repeats what a client sends to it. */
const ROWS = {
  "a 404": [TOKEN, text("", 404), token, "unexpected_status"],
  "a response without access_token": [
    TOKEN,
    json({}),
    token,
    "invalid_response",
  ],
  "a response that is too large": [
    TOKEN,
    text(" ".repeat(101), 200),
    token,
    "response_too_large",
  ],
  "a timeout": [TOKEN, never<Response>, token, "timeout"],
  "a registration without client_id": [
    REGISTRATION,
    json({ client_id: "" }),
    register,
    "invalid_response",
  ],
} as const;

for (const [name, [url, answer, send, code]] of Object.entries(ROWS)) {
  Deno.test(`the error after ${name} repeats no value of the URL that was sent`, async () => {
    using server = stubFetch({ [url]: answer });
    const error = await errorOf(send(server.fetch));
    assert(error instanceof OAuthClientError);
    assertEquals([error.code, shown(error).includes(SECRET)], [code, false]);
    assertStringIncludes(error.message, `${AS}/`);
    assertStringIncludes(error.url ?? "", `${AS}/`);
  });
}

Deno.test("an error repeats the origin of a URL, also if a header field contains it", async () => {
  using server = stubFetch({ [`${AS}/token`]: text("", 404) });
  const error = await errorOf(fetchToken(
    { issuer: AS, token_endpoint: `${AS}/token` },
    new URLSearchParams({ code: "c0de-of-the-user" }),
    { headers: { "X-Server": AS }, fetch: server.fetch },
  ));
  assertEquals(error.url, `${AS}/token`);
});
