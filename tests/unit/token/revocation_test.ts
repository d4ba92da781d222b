/** A revocation sends the token to its server, and shows it nowhere. */

import { assertEquals, assertRejects } from "@std/assert";
import {
  clientSecretBasic,
  OAuthClientError,
  publicClient,
  revokeToken,
} from "../../../mod.ts";
import {
  type Answer,
  json,
  minimal,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { AS, assertRejectsCode } from "../../support/fixtures.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const ENDPOINT = `${AS}/revoke`;
const SERVER = { issuer: AS, revocation_endpoint: ENDPOINT };
const client = publicClient("c1");

async function revoke(
  answer: Answer,
  options: Partial<Parameters<typeof revokeToken>[2]> = {},
) {
  using stub = stubFetch({ [ENDPOINT]: answer });
  const { fetch, requests } = stub;
  await revokeToken(SERVER, "secret-token-1", { fetch, client, ...options });
  return requests[0]!;
}

Deno.test("revokeToken() posts the token, its type, and the client", async () => {
  const asked: unknown[] = [];
  const { method, body } = await revoke(text("", 200), {
    allowUrl: (url, purpose) => asked.push([url.href, purpose]) > 0,
  });
  assertEquals([method, body], ["POST", "token=secret-token-1&client_id=c1"]);
  assertEquals(asked, [[ENDPOINT, "revocation"]]);
  const hinted = await revoke(text("", 200), {
    client: clientSecretBasic("c1", "s3cret"),
    tokenTypeHint: "access_token",
  });
  const form = "token=secret-token-1&token_type_hint=access_token";
  assertEquals(hinted.body, form);
  assertEquals(hinted.headers.Authorization, `Basic ${btoa("c1:s3cret")}`);
});

Deno.test("revokeToken() ignores the content of a success", async () => {
  const answers: Answer[] = [
    json({}),
    text("<html>", 200),
    json({ error: "invalid_client" }),
    () => new Response(null, { status: 204 }),
    () => minimal({ status: 200 }),
    text("x".repeat(40), 200),
  ];
  for (const answer of answers) await revoke(answer, { maxBytes: 30 });
});

Deno.test("revokeToken() fails with what the server refuses, without the token", async () => {
  const refusal = (error_description: string) =>
    json({ error: "unsupported_token_type", error_description }, {
      status: 400,
    });
  const rows: [answer: Answer, members: Record<string, unknown>][] = [
    [refusal("cannot revoke secret-token-1"), {
      code: "oauth_error",
      error: "unsupported_token_type",
      error_description: undefined,
    }],
    // The type of the token is no secret.
    [refusal("no refresh_token"), { error_description: "no refresh_token" }],
    [
      () => new Response("", { status: 503, headers: { "Retry-After": "5" } }),
      {
        code: "unexpected_status",
        retryAfterSeconds: 5,
      },
    ],
    [redirect("/other", 307), { code: "redirect_refused" }],
  ];
  await eachRowInTurn(rows, async ([answer, members]) => {
    const call = () => revoke(answer, { tokenTypeHint: "refresh_token" });
    const error = await assertRejects(call, OAuthClientError);
    pinMessage(error);
    for (const [member, value] of Object.entries(members)) {
      assertEquals<unknown>(error[member as "code"], value);
    }
    assertEquals(JSON.stringify(error).includes("secret-token-1"), false);
  });
});

Deno.test("revokeToken() fails before the request for what must not be sent", async () => {
  const { issuer } = SERVER;
  const http = { issuer, revocation_endpoint: "http://as.example/revoke" };
  const bound = publicClient("c1", { issuer: "https://other.example" });
  const rows: [code: string, ...args: unknown[]][] = [
    ["unsupported", { issuer }, "t", { client }],
    ["url_refused", http, "t", { client }],
    ["issuer_mismatch", SERVER, "t", { client: bound }],
    ["invalid_argument", SERVER, "", { client }],
    ["invalid_argument", SERVER, undefined, { client }],
    ["invalid_argument", SERVER, "t", "options"],
  ];
  await eachRowInTurn(rows, async ([code, ...args]) => {
    await assertRejectsCode(() => untyped(revokeToken)(...args), code);
  });
});
