/** A token request has the credentials and the DPoP proof of its client. */

import { assertEquals, assertInstanceOf, assertNotEquals } from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  fetchToken,
  type FetchTokenOptions,
  getClaimsFromJWT,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
} from "../../../mod.ts";
import {
  AS,
  assertRejectsCode,
  createSigningKeys,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { GRANTED, requestToken } from "../../support/request_token.ts";
import {
  type Answer,
  FORM,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

Deno.test("fetchToken() adds the client's credentials and leaves the form unchanged", async () => {
  const basic = `Basic ${btoa("c1:s")}`;
  const own = "Bearer other";
  const rows: [FetchTokenOptions["client"], body: string, sent: string][] = [
    [undefined, "", own],
    [publicClient("c1"), "&client_id=c1", own],
    [clientSecretPost("c1", "s&"), "&client_id=c1&client_secret=s%26", own],
    [clientSecretBasic("c1", "s"), "", basic],
  ];
  await eachRowInTurn(rows, async ([client, body, authorization]) => {
    const form = new URLSearchParams("a=1&a=2");
    const { requests } = await requestToken(GRANTED, {
      client,
      headers: {
        "X-Trace": "1",
        AUTHORIZATION: own,
        "content-type": "text/plain",
        accept: "text/html",
      },
    }, form);
    assertEquals(form.toString(), "a=1&a=2");
    assertEquals(requests[0]?.body, `a=1&a=2${body}`);
    // Fields of the caller replace ours, except Content-Type and credentials.
    const headers = Object.entries(requests[0]?.headers ?? {})
      .map(([name, value]) => [name.toLowerCase(), value]);
    assertEquals(headers.length, 4);
    assertEquals(Object.fromEntries(headers), {
      accept: "text/html",
      "content-type": FORM,
      authorization,
      "x-trace": "1",
    });
  });
});

Deno.test("fetchToken() sends a DPoP proof of this request", async () => {
  const dpop = await createDpop({ now: () => 5_000 });
  const options = { dpop, headers: { dpop: "forged" } };
  const { requests } = await requestToken(GRANTED, options);
  const fields = Object.entries(requests[0]?.headers ?? {})
    .filter(([name]) => name.toLowerCase() === "dpop");
  assertEquals(fields.length, 1);
  const { jti, ...claims } = getClaimsFromJWT(fields[0]![1]);
  assertEquals(claims, untyped({ htm: "POST", htu: TOKEN_ENDPOINT, iat: 5 }));
  assertEquals(typeof jti, "string");
});

function requireNonce(nonce: string, status = 400): Answer {
  const headers = { "DPoP-Nonce": nonce };
  return json({ error: "use_dpop_nonce" }, { status, headers });
}

const bound = (nonce: string) =>
  json({ access_token: "t", token_type: "DPoP" }, {
    headers: { "DPoP-Nonce": nonce },
  });

Deno.test("fetchToken() repeats a request once with a nonce, a fresh proof and a fresh assertion", async () => {
  const { privateKey } = await createSigningKeys();
  const client = privateKeyJwt("c1", privateKey, { issuer: AS });
  const dpop = await createDpop();
  const answers = [requireNonce("n1"), bound("n2"), bound("n3")];
  const answer: Answer = (request) => answers.shift()!(request);
  const { result, requests } = await requestToken(answer, { client, dpop });
  assertEquals(untyped(result).access_token, "t");
  assertEquals(requests.length, 2);
  const [first, second] = requests.map(({ headers, body }) => {
    const form = new URLSearchParams(body);
    const assertion = getClaimsFromJWT(form.get("client_assertion")!);
    return { proof: getClaimsFromJWT(headers.DPoP!), assertion, form };
  });
  assertEquals([first?.proof.nonce, second?.proof.nonce], [undefined, "n1"]);
  assertNotEquals(first?.proof.jti, second?.proof.jti);
  assertNotEquals(first?.assertion.jti, second?.assertion.jti);
  assertEquals(second?.form.getAll("client_assertion").length, 1);
  assertEquals(second?.form.get("a"), "1");
  // The nonce of a success is used for the next request.
  const next = await requestToken(answer, { dpop });
  assertEquals(getClaimsFromJWT(next.requests[0]!.headers.DPoP!).nonce, "n2");
});

Deno.test("fetchToken() repeats a request neither twice, nor without DPoP or a nonce", async () => {
  const status = 400;
  const headers = { "DPoP-Nonce": "n1" };
  const rows: [Answer, hasDpop: boolean, requests: number][] = [
    [requireNonce("n1"), true, 2],
    [requireNonce("n1", 401), true, 2],
    [requireNonce("n1"), false, 1],
    [json({ error: "use_dpop_nonce" }, { status }), true, 1],
    [json({ error: "invalid_dpop_proof" }, { status, headers }), true, 1],
  ];
  await eachRowInTurn(rows, async ([answer, hasDpop, expected]) => {
    const dpop = hasDpop ? await createDpop() : undefined;
    const { result, requests } = await requestToken(answer, { dpop });
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, requests.length], ["oauth_error", expected]);
  });
});

Deno.test("fetchToken() sends the credentials of a client to its own issuer only", async () => {
  using server = stubFetch({});
  const body = new URLSearchParams();
  const rows = [
    "https://other.example",
    `${AS}//`,
    "https://AS.example",
    `${AS}/t`,
  ];
  await eachRowInTurn(rows, async (issuer) => {
    const client = clientSecretPost("c1", "s3cret", { issuer });
    await assertRejectsCode(
      () => fetchToken(SERVER, body, { client, fetch: server.fetch }),
      "issuer_mismatch",
    );
  });
  assertEquals(server.urls, []);
});
