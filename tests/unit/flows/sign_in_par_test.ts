/** A pushed authorization request has the parameters of one in a URL. */

import { assert, assertEquals } from "@std/assert";
import {
  clientAssertion,
  createDpop,
  finishAuthorization,
  startAuthorization,
  type StartAuthorizationOptions,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  assertInvalidArgument,
  MCP,
  metadataOf,
  pinRejected,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { json, stubFetch } from "../../support/stub_fetch.ts";

const PAR = `${AS}/par`;
const NOW = 1_000_000;
const now = () => NOW * 1000;

async function start(
  options: Partial<StartAuthorizationOptions> = {},
  members: Record<string, unknown> = {},
) {
  using stubbed = stubFetch({
    [PAR]: json({ request_uri: "urn:r:1", expires_in: 60 }, { status: 201 }),
  });
  const serverMetadata = metadataOf(AS, {
    authorization_endpoint: `${AS}/authorize`,
    pushed_authorization_request_endpoint: PAR,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    ...members,
  });
  const started = await startAuthorization(
    { resource: MCP, serverMetadata, scopes: ["read"] },
    {
      client: { issuer: AS, client_id: "c1", client_secret: "s3cret" },
      redirectUri: REDIRECT_URI,
      fetch: stubbed.fetch,
      now,
      ...options,
    },
  );
  return { ...started, requests: stubbed.requests };
}

const REQUIRED = { require_pushed_authorization_requests: true };

Deno.test("startAuthorization() pushes the request if the server requires it, or with par", async () => {
  const rows: [
    par: boolean | undefined,
    members: Record<string, unknown>,
    isPushed: boolean,
  ][] = [
    [undefined, {}, false],
    [undefined, { require_pushed_authorization_requests: false }, false],
    [undefined, REQUIRED, true],
    [true, {}, true],
    [true, REQUIRED, true],
    [false, REQUIRED, false],
  ];
  await eachRowInTurn(rows, async ([par, members, isPushed]) => {
    const { url, requests } = await start({ par }, members);
    assertEquals(requests.length, isPushed ? 1 : 0);
    assertEquals(url.searchParams.has("request_uri"), isPushed);
    assertEquals(url.searchParams.has("redirect_uri"), !isPushed);
  });
});

Deno.test("startAuthorization() sends the same parameters in both ways", async () => {
  const dpop = await createDpop();
  const options = {
    dpop,
    scopes: ["openid", "read"],
    authorizationDetails: [{ type: "x" }],
    parameters: { prompt: "consent", nonce: "n1" },
  };
  const inUrl = await start(options);
  const pushed = await start({ ...options, par: true });
  const form = new URLSearchParams(pushed.requests[0]!.body);
  assertEquals(form.get("client_secret"), "s3cret");
  form.delete("client_secret");
  for (const parameters of [form, inUrl.url.searchParams]) {
    assert(parameters.get("state") && parameters.get("code_challenge"));
    parameters.delete("state");
    parameters.delete("code_challenge");
    parameters.sort();
  }
  assertEquals([...form], [...inUrl.url.searchParams]);
  assertEquals(form.get("dpop_jkt"), dpop.thumbprint);
  assertEquals(form.get("authorization_details"), '[{"type":"x"}]');
});

Deno.test("startAuthorization() pushes with credentials that the registration does not hold", async () => {
  const { requests } = await start({
    client: clientAssertion("c1", () => "j1", { issuer: AS }),
    par: true,
  });
  const form = new URLSearchParams(requests[0]!.body);
  assertEquals(form.get("client_assertion"), "j1");
});

Deno.test("startAuthorization() rejects a dpop_jkt beside dpop, in both ways", async () => {
  const dpop = await createDpop();
  for (const par of [true, false]) {
    const call = () => start({ dpop, par, parameters: { dpop_jkt: "x" } });
    await assertInvalidArgument(call, "parameters");
  }
});

Deno.test("finishAuthorization() counts max_age from the request, as a user may take time to consent", async () => {
  const { pending } = await start({
    scopes: ["openid"],
    parameters: { max_age: "0" },
  });
  const { nonce, state } = pending;
  const claims = { iss: AS, sub: "u1", aud: "c1", iat: NOW, exp: NOW + 300 };
  const finish = async (auth_time: number) => {
    const id_token = unverifiedJwt({ ...claims, nonce, auth_time });
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: json({ access_token: "t", id_token }),
    });
    const options = { fetch: stubbed.fetch, now: () => now() + 250_000 };
    return await finishAuthorization(`code=c&state=${state}`, pending, options);
  };
  assert(await finish(NOW + 5));
  await pinRejected(() => finish(NOW - 31), "invalid_id_token");
});
