/**
 * Whether a server knows a client is learnt from what it says, and from nothing else.
 */

import { assertEquals, assertRejects } from "@std/assert";
import {
  type Client,
  clientAssertion,
  isClientKnown,
  type IsClientKnownOptions,
  OAuthClientError,
} from "../../../mod.ts";
import { AS, SERVER, TOKEN_ENDPOINT } from "../../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  never,
  redirect,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const CLIENT = { issuer: AS, client_id: "c1" };

async function check(
  answer: Answer,
  client: Client = CLIENT,
  options: IsClientKnownOptions = {},
) {
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
  const { fetch, requests } = stubbed;
  const known = await isClientKnown(SERVER, client, { fetch, ...options });
  return { known, requests };
}

function refusal(error: string, status = 400): Answer {
  return json({ error }, { status });
}

Deno.test("isClientKnown() redeems a code that cannot exist, another one each time", async () => {
  const codes = new Set<string | null>();
  for (let index = 0; index < 2; index++) {
    const { known, requests } = await check(refusal("invalid_grant"));
    assertEquals(known, true);
    const form = new URLSearchParams(requests[0]!.body);
    assertEquals(form.get("grant_type"), "authorization_code");
    assertEquals(form.get("redirect_uri"), "http://127.0.0.1/");
    assertEquals(form.get("client_id"), "c1");
    assertEquals(form.get("code")?.length, 43);
    codes.add(form.get("code"));
  }
  assertEquals(codes.size, 2);
});

Deno.test("isClientKnown() reads the error code of the server, and returns undefined for anything else", async () => {
  const rows: [answer: Answer, known: boolean | undefined][] = [
    [refusal("invalid_grant"), true],
    [refusal("invalid_grant", 401), true],
    [refusal("invalid_client", 401), false],
    [refusal("invalid_client", 200), false],
    [refusal("unauthorized_client"), undefined],
    [refusal("unauthorized_client", 403), undefined],
    [refusal("invalid_request"), undefined],
    [refusal("unsupported_grant_type"), undefined],
    [refusal("server_error", 500), undefined],
    // An outage says nothing about the client.
    [refusal("invalid_client", 503), undefined],
    [refusal("invalid_client", 429), undefined],
    [refusal("invalid_grant", 500), undefined],
    [text("Unauthorized", 401), undefined],
    [text("Busy", 503), undefined],
    [text("No JSON", 200), undefined],
    [json({ access_token: "for anybody" }), undefined],
    [redirect(`${AS}/other`), undefined],
    [failing(new TypeError("connection refused")), undefined],
  ];
  await eachRowInTurn(rows, async ([answer, known]) => {
    assertEquals((await check(answer)).known, known);
  });
});

Deno.test("isClientKnown() authenticates as the registration says, or as the caller does", async () => {
  const secret = { ...CLIENT, client_secret: "s3cret" };
  const basic = await check(refusal("invalid_grant"), secret);
  assertEquals(basic.requests[0]!.headers.Authorization, "Basic YzE6czNjcmV0");
  const signing = clientAssertion("c1", () => "j1");
  const signed = await check(refusal("invalid_grant"), signing);
  const form = new URLSearchParams(signed.requests[0]!.body);
  assertEquals(form.get("client_assertion"), "j1");
});

Deno.test("isClientKnown() fails for what is no statement of the server", async () => {
  const code = async (call: Promise<unknown>) =>
    (await assertRejects(() => call, OAuthClientError)).code;
  const other = { ...CLIENT, issuer: "https://other.example" };
  assertEquals(await code(isClientKnown(SERVER, other)), "issuer_mismatch");
  const signing = { ...CLIENT, token_endpoint_auth_method: "private_key_jwt" };
  assertEquals(await code(isClientKnown(SERVER, signing)), "unsupported");
  assertEquals(
    await code(isClientKnown({ issuer: AS }, CLIENT)),
    "unsupported",
  );
  const insecure = { issuer: AS, token_endpoint: "http://as.example/token" };
  assertEquals(await code(isClientKnown(insecure, CLIENT)), "url_refused");
});

Deno.test("isClientKnown() rejects with the reason of the caller's signal", async () => {
  const reason = new OAuthClientError("timeout", "Enough");
  const controller = new AbortController();
  const abort: Answer = () => {
    queueMicrotask(() => controller.abort(reason));
    return never();
  };
  const { signal } = controller;
  const thrown = await check(abort, CLIENT, { signal }).catch((it) => it);
  assertEquals(thrown, reason);
});
