/**
 * A poll for a backchannel token ends with a valid ID token, a refusal or the expiry.
 */

import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  clientSecretPost,
  OAuthClientError,
  pollBackchannelToken,
  type PollBackchannelTokenOptions,
} from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  SERVER,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import {
  pending,
  polled,
  refusal,
  slowDown,
} from "../../support/poll_device_token.ts";
import { type Answer, json, untyped } from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const AUTH_REQ_ID = "urn:openid:params:jwt:claim:auth_req_id";
const CLAIMS = { iss: AS, sub: "ada", aud: "c1", iat: 0, exp: 600 };

/** Responds with a token and an ID token that has these claims as well. */
const done = (claims: Record<string, unknown> = {}): Answer =>
  json({
    access_token: "t",
    token_type: "Bearer",
    id_token: unverifiedJwt({ ...CLAIMS, ...claims }),
  });

async function poll(
  answers: Answer[],
  authentication: Record<string, unknown> = {},
  options: Partial<PollBackchannelTokenOptions> = {},
) {
  const { stubbed, waits, left, options: common } = polled(answers);
  using server = stubbed;
  const expiring = { auth_req_id: "r1", expires_in: 60, expires_at: 60 };
  const client = clientSecretPost("c1", "s3cret");
  const result = await pollBackchannelToken(
    SERVER,
    untyped({ ...expiring, ...authentication }),
    { ...common, client, ...options },
  ).catch((error) => error);
  return { result, waits, left, requests: server.requests };
}

Deno.test("pollBackchannelToken() polls as the device grant does, with auth_req_id", async () => {
  let progress = 0;
  const busy = json({}, { status: 429, headers: { "Retry-After": "9" } });
  const { result, waits, requests } = await poll(
    [pending, slowDown, busy, done()],
    { interval: 2 },
    {
      onPending: () => progress++,
      resource: "https://api.example",
      parameters: { x: "1" },
    },
  );
  assertEquals([result.access_token, waits], ["t", [2, 2, 7, 14]]);
  assertEquals(progress, 3);
  const form = Object.fromEntries(new URLSearchParams(requests[3]?.body));
  assertEquals(form, {
    grant_type: "urn:openid:params:grant-type:ciba",
    auth_req_id: "r1",
    resource: "https://api.example",
    x: "1",
    client_id: "c1",
    client_secret: "s3cret",
  });
});

Deno.test("pollBackchannelToken() waits as long as the Retry-After of a pending poll requires, until the expiry", async () => {
  const putOff = (seconds: number) =>
    json({ error: "authorization_pending" }, {
      status: 400,
      headers: { "Retry-After": `${seconds}` },
    });
  const answers = [putOff(20), pending, putOff(86_400), done()];
  const { result, waits } = await poll(answers, { interval: 2 });
  assertEquals([result.access_token, waits], ["t", [2, 20, 2, 34]]);
});

Deno.test("pollBackchannelToken() ends when the user refuses or the request expires", async () => {
  const rows: [Answer[], expires_at: number, code: string, error?: string][] = [
    [[refusal("access_denied")], 60, "oauth_error", "access_denied"],
    [[refusal("access_denied", 503)], 60, "oauth_error", "access_denied"],
    [[refusal("expired_token")], 60, "expired", "expired_token"],
    [[refusal("transaction_failed")], 60, "oauth_error", "transaction_failed"],
    [[pending], 10, "expired"],
    [[], 5, "expired"],
  ];
  await eachRowInTurn(rows, async ([answers, expires_at, code, error]) => {
    const { result, left } = await poll(answers, { expires_at });
    assertInstanceOf(result, OAuthClientError);
    assertEquals([String(result.code), result.error, left], [code, error, []]);
  });
});

Deno.test("pollBackchannelToken() ends with the reason of an abort", async () => {
  const controller = new AbortController();
  const reason = new Error("Enough");
  const { result } = await poll([], {}, {
    signal: controller.signal,
    delay: () => {
      controller.abort(reason);
      return Promise.resolve();
    },
  });
  assertEquals(result, reason);
});

Deno.test("pollBackchannelToken() requires a valid ID token", async () => {
  const plain = { access_token: "t", token_type: "Bearer" };
  const rows: Answer[] = [
    json(plain),
    json({ ...plain, id_token: "opaque" }),
    done({ iss: "https://other.example" }),
    done({ aud: "c2" }),
    done({ exp: -60 }),
    done({ at_hash: "x" }),
    done({ [AUTH_REQ_ID]: "r2" }),
    done({ [AUTH_REQ_ID]: null }),
  ];
  await eachRowInTurn(rows, async (answer) => {
    const { result } = await poll([answer]);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(pinMessage(result).code, "invalid_id_token");
  });
  const { result } = await poll([done({ [AUTH_REQ_ID]: "r1" })]);
  assertEquals(result.access_token, "t");
});

Deno.test("pollBackchannelToken() rejects invalid arguments before any delay", async () => {
  const rows: [name: string, Record<string, unknown>, options?: object][] = [
    ["auth_req_id", { auth_req_id: "" }],
    ["auth_req_id", { auth_req_id: 7 }],
    ["authentication.expires_at", { expires_at: "60" }],
    ["options.client", {}, { client: undefined }],
  ];
  await eachRowInTurn(rows, async ([name, members, options]) => {
    const { result, waits } = await poll([], members, options);
    await assertInvalidArgument(() => Promise.reject(result), name);
    assertEquals(waits, []);
  });
});
