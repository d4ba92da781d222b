/** A backchannel authentication request names one user, whom its errors do not show. */

import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  clientSecretPost,
  type IAuthorizationServerMetadata,
  OAuthClientError,
  requestBackchannelAuthentication,
  type RequestBackchannelAuthenticationOptions,
} from "../../../mod.ts";
import { AS, assertInvalidArgument } from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const ENDPOINT = `${AS}/bc-authorize`;
const SERVER = {
  issuer: AS,
  backchannel_authentication_endpoint: ENDPOINT,
  backchannel_token_delivery_modes_supported: ["ping", "poll"],
};
const accepted = json({ auth_req_id: "r1", expires_in: 120 });

/** Asks for a user at the time of 1000.9 s. */
async function ask(
  options: Partial<RequestBackchannelAuthenticationOptions>,
  answer: Answer = accepted,
  server: Partial<IAuthorizationServerMetadata> = {},
) {
  using stubbed = stubFetch({ [ENDPOINT]: answer });
  const result = await requestBackchannelAuthentication(
    { ...SERVER, ...server },
    {
      fetch: stubbed.fetch,
      client: clientSecretPost("c1", "s3cret"),
      now: () => 1_000_900,
      ...options,
    },
  ).catch((error) => error);
  const forms = stubbed.requests.map(({ body }) =>
    Object.fromEntries(new URLSearchParams(body))
  );
  return { result, forms };
}

const CLIENT = { client_id: "c1", client_secret: "s3cret" };

Deno.test("requestBackchannelAuthentication() posts one hint, what is asked, and openid", async () => {
  const rows: [Parameters<typeof ask>[0], Record<string, string>][] = [
    [{ loginHint: "ada" }, { login_hint: "ada", scope: "openid" }],
    [
      { loginHintToken: "t", idTokenHint: "", scopes: [], resource: false },
      { login_hint_token: "t", scope: "openid" },
    ],
    [
      {
        idTokenHint: "e30",
        bindingMessage: "Pay 7 €",
        acrValues: ["a", "b"],
        requestedExpirySeconds: 60,
        scopes: ["read", "openid"],
        resource: "https://api.example",
        authorizationDetails: [{ type: "x" }],
        parameters: { user_code: "1234" },
      },
      {
        id_token_hint: "e30",
        binding_message: "Pay 7 €",
        acr_values: "a b",
        requested_expiry: "60",
        resource: "https://api.example",
        scope: "openid read",
        authorization_details: '[{"type":"x"}]',
        user_code: "1234",
      },
    ],
    [
      { loginHint: "ada", acrValues: "a b" },
      { login_hint: "ada", acr_values: "a b", scope: "openid" },
    ],
  ];
  await eachRowInTurn(rows, async ([options, expected]) => {
    const { forms } = await ask(options);
    assertEquals(forms, [{ ...expected, ...CLIENT }]);
  });
});

Deno.test("requestBackchannelAuthentication() returns the response with its expiry", async () => {
  const base = { auth_req_id: "r1", expires_in: 120, expires_at: 1_120 };
  for (const [interval, expected] of [[2, 2], ["3", 3], [null, undefined]]) {
    const response = { auth_req_id: "r1", expires_in: 120, interval, more: 1 };
    const { result } = await ask({ loginHint: "ada" }, json(response));
    assertEquals(
      result,
      expected === undefined ? base : { ...base, interval: expected },
    );
  }
});

Deno.test("requestBackchannelAuthentication() requires the members that polling needs", async () => {
  const rows = [
    { auth_req_id: "" },
    { auth_req_id: 7 },
    { expires_in: null },
    { expires_in: 0 },
    { expires_in: "soon" },
  ];
  await eachRowInTurn(rows, async (members) => {
    const { result } = await ask(
      { loginHint: "ada" },
      json({ auth_req_id: "r1", expires_in: 120, ...members }),
    );
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_response");
  });
});

Deno.test("requestBackchannelAuthentication() sends nothing to a server without the endpoint or the poll mode", async () => {
  const modes = (value: unknown) => ({
    backchannel_token_delivery_modes_supported: untyped(value),
  });
  const rows: Partial<IAuthorizationServerMetadata>[] = [
    { backchannel_authentication_endpoint: undefined },
    modes(["ping", "push"]),
    modes([]),
    modes("polling"),
    modes(undefined),
  ];
  await eachRowInTurn(rows, async (server) => {
    const { result, forms } = await ask({ loginHint: "a" }, accepted, server);
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, forms], ["unsupported", []]);
    pinMessage(result);
  });
});

Deno.test("requestBackchannelAuthentication() rejects other than one hint, and values of the wrong type", async () => {
  const rows: [name: string, Record<string, unknown>][] = [
    ["options", {}],
    ["options", { loginHint: "" }],
    ["options", { loginHint: "ada", idTokenHint: "e30" }],
    ["loginHint", { loginHint: 7 }],
    ["bindingMessage", { loginHint: "ada", bindingMessage: {} }],
    ["acrValues", { loginHint: "ada", acrValues: [1] }],
    ...[0, -1, 1.5, "60"].map((
      requestedExpirySeconds,
    ) => ["requestedExpirySeconds", {
      loginHint: "ada",
      requestedExpirySeconds,
    }]) as [string, Record<string, unknown>][],
    ["parameters", { loginHint: "ada", parameters: { id_token_hint: "x" } }],
    ["options.client", { loginHint: "ada", client: undefined }],
  ];
  await eachRowInTurn(rows, async ([name, options]) => {
    const { result, forms } = await ask(untyped(options));
    await assertInvalidArgument(() => Promise.reject(result), name);
    assertEquals(forms, []);
  });
});

Deno.test("requestBackchannelAuthentication() keeps the user out of the server's error", async () => {
  const error = "unknown_user_id";
  const { result } = await ask(
    { loginHint: "ada@example.com" },
    json(
      { error, error_description: "Who is ada@example.com?" },
      { status: 400 },
    ),
  );
  assertInstanceOf(result, OAuthClientError);
  assertEquals([result.code, result.error], ["oauth_error", error]);
  assertEquals(JSON.stringify(result).includes("ada@"), false);
  assertEquals(result.message.includes("ada@"), false);
});
