/** A token exchange returns the type of token that was requested. */

import { assertEquals } from "@std/assert";
import {
  clientSecretBasic,
  exchangeToken,
  type ExchangeTokenOptions,
  TOKEN_TYPE_ACCESS_TOKEN,
  TOKEN_TYPE_ID_TOKEN,
} from "../../../mod.ts";
import {
  assertRejectsCode,
  pinRejected,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { json, stubFetch, untyped } from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

async function exchange(
  members: Record<string, unknown>,
  options: Partial<ExchangeTokenOptions> = {},
) {
  using stubbed = stubFetch({
    [TOKEN_ENDPOINT]: json({ access_token: "t2", ...members }),
  });
  const token = await exchangeToken(SERVER, {
    subjectToken: "t1",
    subjectTokenType: TOKEN_TYPE_ACCESS_TOKEN,
    fetch: stubbed.fetch,
    now: () => 0,
    ...options,
  });
  return { token, request: stubbed.requests[0]! };
}

Deno.test("exchangeToken() sends the tokens of subject and actor, and returns the issued one", async () => {
  const { token, request } = await exchange(
    {
      issued_token_type: TOKEN_TYPE_ACCESS_TOKEN,
      token_type: "Bearer",
      expires_in: 60,
    },
    {
      client: clientSecretBasic("c1", "s3cret"),
      actorToken: "a1",
      actorTokenType: TOKEN_TYPE_ID_TOKEN,
      requestedTokenType: TOKEN_TYPE_ACCESS_TOKEN,
      audience: "billing",
      resource: "https://api.example/",
      scopes: ["read"],
      authorizationDetails: [{ type: "x" }],
      parameters: { extra: "1" },
    },
  );
  assertEquals(token, {
    access_token: "t2",
    token_type: "Bearer",
    expires_in: 60,
    expires_at: 60,
    issued_token_type: TOKEN_TYPE_ACCESS_TOKEN,
  });
  assertEquals(request.headers.Authorization, "Basic YzE6czNjcmV0");
  assertEquals(Object.fromEntries(new URLSearchParams(request.body)), {
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: "t1",
    subject_token_type: TOKEN_TYPE_ACCESS_TOKEN,
    actor_token: "a1",
    actor_token_type: TOKEN_TYPE_ID_TOKEN,
    requested_token_type: TOKEN_TYPE_ACCESS_TOKEN,
    audience: "billing",
    resource: "https://api.example/",
    scope: "read",
    authorization_details: '[{"type":"x"}]',
    extra: "1",
  });
});

Deno.test("exchangeToken() leaves the type to the server if none is requested", async () => {
  const issued = { issued_token_type: TOKEN_TYPE_ID_TOKEN, token_type: "N_A" };
  const { token } = await exchange(issued);
  assertEquals(token.issued_token_type, TOKEN_TYPE_ID_TOKEN);
});

Deno.test("exchangeToken() fails unless the issued type is the requested one", async () => {
  const rows = [
    [TOKEN_TYPE_ID_TOKEN, TOKEN_TYPE_ACCESS_TOKEN],
    [undefined, TOKEN_TYPE_ACCESS_TOKEN],
    [undefined, undefined],
    ["", undefined],
    [7, undefined],
  ];
  await eachRowInTurn(rows, async ([issued_token_type, requestedTokenType]) => {
    const options = untyped({ requestedTokenType });
    const { url } = await pinRejected(
      () => exchange({ issued_token_type }, options),
      "invalid_response",
    );
    assertEquals(url, TOKEN_ENDPOINT);
  });
  const exchangeNothing = () => exchangeToken(SERVER, untyped(undefined));
  await assertRejectsCode(exchangeNothing, "invalid_argument");
});
