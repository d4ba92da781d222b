import {
  assertEquals,
  assertInstanceOf,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  fetchIdJag,
  type IIdJag,
  type IRedeemIdJagOptions,
  OAuthClientError,
  redeemIdJag,
} from "../../../mod.ts";
import {
  AS,
  ID_JAG_CLAIMS,
  idJagReply,
  IDP,
  metadataOf,
  NOW,
  SERVER,
  signIdJag,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";

const ID_JAG: IIdJag = {
  assertion: "head.claims.signature",
  claims: ID_JAG_CLAIMS,
  audience: AS,
  expires_at: NOW + 300,
};

/** Redeems an ID-JAG and gives what came of it, with what was sent. */
async function redeem(
  answer: Answer,
  idJag: Partial<IIdJag> = {},
  options: IRedeemIdJagOptions = {},
  metadata = SERVER,
) {
  using stubbed = stubFetch({ [`${metadata.issuer}/token`]: answer });
  const result = await redeemIdJag(metadata, { ...ID_JAG, ...idJag }, {
    fetch: stubbed.fetch,
    now: () => NOW * 1000,
    ...options,
  }).catch((error) => error);
  return { result, requests: stubbed.requests };
}

const granted = json({ access_token: "t", token_type: "Bearer" });

Deno.test("redeemIdJag() sends the assertion, and Basic credentials in the header only", async () => {
  const { result, requests } = await redeem(granted, {}, {
    client: clientSecretBasic("c-at-as", "s2"),
    resource: "https://api.example/mcp",
    scopes: ["read"],
    parameters: { x: "1" },
  });
  assertEquals(result, { access_token: "t", token_type: "Bearer" });
  assertEquals(requests.length, 1);
  assertEquals([...new URLSearchParams(requests[0]?.body)], [
    ["grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
    ["assertion", "head.claims.signature"],
    ["resource", "https://api.example/mcp"],
    ["scope", "read"],
    ["x", "1"],
  ]);
  const basic = `Basic ${btoa("c-at-as:s2")}`;
  assertEquals(requests[0]?.headers.Authorization, basic);
});

Deno.test("redeemIdJag() sends nothing to another server than the ID-JAG is for", async () => {
  const others = [`${AS}/`, `${AS}/t`, "https://AS.example", IDP];
  for (const issuer of others) {
    const { result, requests } = await redeem(
      granted,
      {},
      {},
      metadataOf(issuer),
    );
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "issuer_mismatch");
    assertStringIncludes(result.message, AS);
    assertStringIncludes(result.message, issuer);
    assertEquals(requests, []);
  }
});

Deno.test("redeemIdJag() sends nothing for another client than the ID-JAG is for", async () => {
  for (const client of [clientSecretBasic, clientSecretPost]) {
    const { result, requests } = await redeem(granted, {}, {
      client: client("c-at-idp", "s1"),
    });
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_id_jag");
    assertStringIncludes(result.message, "c-at-idp");
    assertEquals(requests, []);
  }
});

Deno.test("redeemIdJag() sends nothing by another key than the ID-JAG is for", async () => {
  const dpop = await createDpop();
  const other = await createDpop();
  const bound = json({ access_token: "t", token_type: "DPoP" });
  const rows: [cnf: unknown, isSent: boolean][] = [
    [{ jkt: dpop.thumbprint }, true],
    [{ jkt: other.thumbprint }, false],
    [{ jkt: "" }, false],
    [{}, false],
    [dpop.thumbprint, false],
    [null, false],
    [undefined, false],
  ];
  for (const [cnf, isSent] of rows) {
    const claims = { ...ID_JAG_CLAIMS, ...(cnf !== undefined && { cnf }) };
    const { result, requests } = await redeem(bound, { claims }, { dpop });
    assertEquals(requests.length, isSent ? 1 : 0);
    if (isSent) {
      assertEquals(result.access_token, "t");
      continue;
    }
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_id_jag");
    assertStringIncludes(result.message, "cnf.jkt");
  }
});

Deno.test("redeemIdJag() sends nothing after the end of the ID-JAG", async () => {
  const rows: [expires_at: number, isSent: boolean][] = [
    [NOW + 1, true],
    [NOW, false],
    [NOW - 1, false],
    [0, false],
  ];
  for (const [expires_at, isSent] of rows) {
    const { result, requests } = await redeem(granted, { expires_at });
    assertEquals(requests.length, isSent ? 1 : 0);
    if (isSent) continue;
    assertInstanceOf(result, OAuthClientError);
    assertEquals(result.code, "invalid_id_jag");
    assertStringIncludes(result.message, "expired");
  }
});

Deno.test("redeemIdJag() goes by the claims of an ID-JAG without expires_at", async () => {
  const rows: [exp: number, isSent: boolean][] = [
    [NOW + 1, true],
    [NOW, false],
    [NOW - 1, false],
  ];
  for (const expires_at of [undefined, null]) {
    for (const [exp, isSent] of rows) {
      const { result, requests } = await redeem(granted, {
        expires_at: untyped(expires_at),
        claims: { ...ID_JAG_CLAIMS, exp },
      });
      assertEquals(requests.length, isSent ? 1 : 0);
      if (isSent) continue;
      assertInstanceOf(result, OAuthClientError);
      assertEquals(result.code, "invalid_id_jag");
      assertStringIncludes(result.message, "expired");
    }
  }
});

Deno.test("redeemIdJag() sends nothing with another issuer's client", async () => {
  const client = clientSecretBasic("c-at-as", "s", { issuer: IDP });
  const { result, requests } = await redeem(granted, {}, { client });
  assertInstanceOf(result, OAuthClientError);
  assertEquals(result.code, "issuer_mismatch");
  assertEquals(requests, []);
});

Deno.test("redeemIdJag() asks once, and tells a refusal", async () => {
  const answer = json({ error: "invalid_grant" }, { status: 400 });
  const { result, requests } = await redeem(answer);
  assertInstanceOf(result, OAuthClientError);
  assertEquals([result.code, result.error], ["oauth_error", "invalid_grant"]);
  assertEquals(requests.length, 1);
});

Deno.test("redeemIdJag() takes an answer without a refresh token, and stamps it", async () => {
  const answer = json({ access_token: "t", expires_in: "60" });
  const { result } = await redeem(answer);
  assertEquals(result, {
    access_token: "t",
    token_type: "Bearer",
    expires_in: 60,
    expires_at: NOW + 60,
  });
});

Deno.test("redeemIdJag() redeems an ID-JAG of fetchIdJag(), twice, each leg with its own client", async () => {
  const assertion = await signIdJag();
  let issued = 0;
  using stubbed = stubFetch({
    [`${IDP}/token`]: idJagReply(assertion),
    [TOKEN_ENDPOINT]: () => Response.json({ access_token: `t${++issued}` }),
  });
  const shared = { fetch: stubbed.fetch, now: () => NOW * 1000 };
  const idJag = await fetchIdJag(metadataOf(IDP), {
    ...shared,
    client: clientSecretPost("c-at-idp", "s1", { issuer: IDP }),
    subjectToken: "id.to.ken",
    audience: AS,
    resourceClientId: "c-at-as",
  });
  const client = clientSecretBasic("c-at-as", "s2", { issuer: AS });
  const first = await redeemIdJag(SERVER, idJag, { ...shared, client });
  const second = await redeemIdJag(SERVER, idJag, { ...shared, client });
  assertEquals(first.access_token, "t1");
  assertNotEquals(first.access_token, second.access_token);
  const [exchange, ...redemptions] = stubbed.requests;
  const body = new URLSearchParams(exchange?.body);
  assertEquals(body.get("client_id"), "c-at-idp");
  assertEquals(body.get("client_secret"), "s1");
  assertEquals("Authorization" in exchange!.headers, false);
  assertEquals(redemptions.length, 2);
  for (const { url, headers, body } of redemptions) {
    assertEquals(url, TOKEN_ENDPOINT);
    assertEquals(headers.Authorization, `Basic ${btoa("c-at-as:s2")}`);
    const sent = new URLSearchParams(body);
    assertEquals(sent.get("assertion"), assertion);
    assertEquals([...sent.keys()], ["grant_type", "assertion"]);
  }
});

Deno.test("redeemIdJag() names an argument that is of no use", async () => {
  const rows: [args: unknown[], name: string][] = [
    [[SERVER, ID_JAG, null], "options"],
    [[SERVER, ID_JAG], "options"],
    [[SERVER, null, {}], "idJag"],
    [[SERVER, "head.claims.signature", {}], "idJag"],
    [[SERVER, { ...ID_JAG, claims: undefined }, {}], "idJag.claims"],
    [[SERVER, { ...ID_JAG, claims: null }, {}], "idJag.claims"],
    [[SERVER, { ...ID_JAG, claims: "x" }, {}], "idJag.claims"],
    [[null, ID_JAG, {}], "serverMetadata"],
    [[SERVER, { ...ID_JAG, assertion: "" }, { now: () => 0 }], "assertion"],
  ];
  for (const [args, name] of rows) {
    const error = await assertRejects(
      () => untyped(redeemIdJag)(...args),
      OAuthClientError,
    );
    assertEquals(error.code, "invalid_argument");
    assertStringIncludes(error.message, `${name} must be `);
  }
});
