import { assertEquals, assertInstanceOf, assertNotEquals } from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  getClaimsFromJWT,
  type IFormRequestOptions,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
} from "../../../mod.ts";
import {
  AS,
  createSigningKeys,
  postTokenRequest,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { type Answer, FORM, json, untyped } from "../../support/stub_fetch.ts";

Deno.test("postForm() puts the client's credentials in and leaves the form as it was", async () => {
  const rows: [IFormRequestOptions["client"], body: string, basic?: string][] =
    [
      [undefined, "a=1"],
      [publicClient("c1"), "a=1&client_id=c1"],
      [clientSecretPost("c1", "s&"), "a=1&client_id=c1&client_secret=s%26"],
      [clientSecretBasic("c1", "s"), "a=1", `Basic ${btoa("c1:s")}`],
    ];
  for (const [client, body, basic] of rows) {
    const form = new URLSearchParams({ a: "1" });
    const { requests } = await postTokenRequest(json({}), { client }, form);
    assertEquals(requests[0]?.body, body);
    assertEquals(requests[0]?.headers.Authorization, basic);
    assertEquals(form.toString(), "a=1");
  }
});

Deno.test("postForm() lets the caller's header fields win, but for Content-Type and credentials", async () => {
  const { requests } = await postTokenRequest(json({}), {
    client: clientSecretBasic("c1", "s"),
    headers: {
      "X-Trace": "1",
      AUTHORIZATION: "Bearer other",
      "content-type": "text/plain",
      accept: "text/html",
    },
  });
  const headers = Object.entries(requests[0]?.headers ?? {})
    .map(([name, value]) => [name.toLowerCase(), value]);
  assertEquals(Object.fromEntries(headers), {
    accept: "text/html",
    "content-type": FORM,
    authorization: `Basic ${btoa("c1:s")}`,
    "x-trace": "1",
  });
  assertEquals(headers.length, 4);
});

Deno.test("postForm() keeps the caller's Authorization for a client without its own", async () => {
  const { requests } = await postTokenRequest(json({}), {
    client: publicClient("c1"),
    headers: { Authorization: "Bearer other" },
  });
  assertEquals(requests[0]?.headers.Authorization, "Bearer other");
});

Deno.test("postForm() shows a client to no other issuer than its own", async () => {
  const others = [`${AS}/`, "https://AS.example", "https://evil.example"];
  for (const issuer of others) {
    const client = clientSecretPost("c1", "s3cret", { issuer });
    const { result, requests } = await postTokenRequest(json({}), { client });
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "issuer_mismatch");
    assertEquals(
      result.message,
      `The client of ${issuer} is not shown to ${AS}`,
    );
    assertEquals(requests, []);
  }
  const client = clientSecretPost("c1", "s3cret", { issuer: AS });
  const { requests } = await postTokenRequest(json({}), { client });
  assertEquals(requests.length, 1);
});

Deno.test("postForm() sends a DPoP proof of this request", async () => {
  const dpop = await createDpop({ now: () => 5_000 });
  const { requests } = await postTokenRequest(json({}), {
    dpop,
    headers: { dpop: "forged" },
  });
  const fields = Object.entries(requests[0]?.headers ?? {})
    .filter(([name]) => name.toLowerCase() === "dpop");
  assertEquals(fields.length, 1);
  const { jti, ...claims } = getClaimsFromJWT(fields[0]![1]);
  assertEquals(claims, untyped({ htm: "POST", htu: TOKEN_ENDPOINT, iat: 5 }));
  assertEquals(typeof jti, "string");
});

/** Refuses for the lack of a nonce. */
function wantNonce(nonce: string, status = 400): Answer {
  return json({ error: "use_dpop_nonce" }, {
    status,
    headers: { "DPoP-Nonce": nonce },
  });
}

Deno.test("postForm() makes one more request with a nonce, a fresh proof and a fresh assertion", async () => {
  const { privateKey } = await createSigningKeys();
  const client = privateKeyJwt("c1", privateKey);
  const dpop = await createDpop();
  const answers = [wantNonce("n1"), json({ x: 1 })];
  const { result, requests } = await postTokenRequest(
    (request) => answers.shift()!(request),
    { client, dpop },
  );
  assertEquals(result, { x: 1 });
  assertEquals(requests.length, 2);
  const [first, second] = requests.map(({ headers, body }) => ({
    proof: getClaimsFromJWT(headers.DPoP!),
    assertion: getClaimsFromJWT(
      new URLSearchParams(body).get("client_assertion")!,
    ),
    body: new URLSearchParams(body),
  }));
  assertEquals([first?.proof.nonce, second?.proof.nonce], [undefined, "n1"]);
  assertNotEquals(first?.proof.jti, second?.proof.jti);
  assertNotEquals(first?.assertion.jti, second?.assertion.jti);
  assertEquals(second?.body.getAll("client_assertion").length, 1);
  assertEquals(second?.body.get("a"), "1");
});

Deno.test("postForm() asks for a nonce once and no more", async () => {
  for (const status of [400, 401]) {
    let asked = 0;
    const { result, requests } = await postTokenRequest(
      (request) => wantNonce(`n${++asked}`, status)(request),
      { dpop: await createDpop() },
    );
    assertInstanceOf(result, OAuthClientError);
    assertEquals([result.code, result.error, result.status], [
      "oauth_error",
      "use_dpop_nonce",
      status,
    ]);
    assertEquals(requests.length, 2);
  }
});

Deno.test("postForm() does not repeat a request without DPoP or without a nonce", async () => {
  const rows: [Answer, IFormRequestOptions][] = [
    [wantNonce("n1"), {}],
    [json({ error: "use_dpop_nonce" }, { status: 400 }), {
      dpop: await createDpop(),
    }],
    [
      json({ error: "invalid_dpop_proof" }, {
        status: 400,
        headers: { "DPoP-Nonce": "n1" },
      }),
      { dpop: await createDpop() },
    ],
  ];
  for (const [answer, options] of rows) {
    const { result, requests } = await postTokenRequest(answer, options);
    assertInstanceOf(result, OAuthClientError);
    assertEquals(requests.length, 1);
  }
});

Deno.test("postForm() uses the nonce that an earlier reply brought", async () => {
  const dpop = await createDpop();
  const answer = json({}, { headers: { "DPoP-Nonce": "n2" } });
  await postTokenRequest(answer, { dpop });
  const { requests } = await postTokenRequest(answer, { dpop });
  assertEquals(requests.length, 1);
  assertEquals(getClaimsFromJWT(requests[0]!.headers.DPoP!).nonce, "n2");
});
