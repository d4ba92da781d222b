/** What people suffer from in cross-app access; the numbers are ROAD.md's. */

import { assertEquals, assertRejects } from "@std/assert";
import { generateKeyPair, jwtVerify } from "jose";
import {
  clientSecretBasic,
  fetchIdJag,
  OAuthClientError,
  privateKeyJwt,
  redeemIdJag,
} from "../../mod.ts";
import {
  AS,
  idJagReply,
  IDP,
  MCP,
  metadataOf,
  SERVER,
  signIdJag,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import { stubFetch, text } from "../support/stub_fetch.ts";

/** An ID-JAG for these claims, and an identity provider that gives it. */
async function idpGiving(claims: Record<string, unknown>) {
  const assertion = await signIdJag({ iat: 0, exp: 300, ...claims });
  return { assertion, answer: idJagReply(assertion) };
}

Deno.test("redeemIdJag() is another client than fetchIdJag(), by Basic alone (pain 15)", async () => {
  const { assertion, answer } = await idpGiving({});
  using stubbed = stubFetch({
    [`${IDP}/token`]: ({ headers, ...request }) =>
      headers.Authorization === `Basic ${btoa("c-at-idp:s1")}`
        ? answer({ headers, ...request })
        : Response.json({ error: "invalid_client" }, { status: 401 }),
    [TOKEN_ENDPOINT]: ({ headers, body }) => {
      const form = new URLSearchParams(body);
      return headers.Authorization === `Basic ${btoa("c-at-as:s2")}` &&
          form.get("assertion") === assertion && !form.has("client_secret")
        ? Response.json({ access_token: "t" })
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    },
  });
  const shared = { fetch: stubbed.fetch, now: () => 0 };
  const idJag = await fetchIdJag(metadataOf(IDP), {
    ...shared,
    client: clientSecretBasic("c-at-idp", "s1"),
    subjectToken: "id.to.ken",
    audience: AS,
  });
  assertEquals(idJag.claims.client_id, "c-at-as");
  const token = await redeemIdJag(SERVER, idJag, {
    ...shared,
    client: clientSecretBasic("c-at-as", "s2"),
  });
  assertEquals(token.access_token, "t");
  const error = await assertRejects(
    () =>
      redeemIdJag(SERVER, idJag, {
        ...shared,
        client: clientSecretBasic("c-at-idp", "s1"),
      }),
    OAuthClientError,
  );
  assertEquals(error.code, "invalid_id_jag");
  assertEquals(stubbed.urls, [`${IDP}/token`, TOKEN_ENDPOINT]);
});

Deno.test("fetchIdJag() checks audience and resource of what it got (pain 15)", async () => {
  const wrong = [
    { aud: "https://other.example" },
    { resource: "https://other.example" },
  ];
  for (const claims of wrong) {
    const { answer } = await idpGiving(claims);
    using stubbed = stubFetch({ [`${IDP}/token`]: answer });
    const error = await assertRejects(
      () =>
        fetchIdJag(metadataOf(IDP), {
          fetch: stubbed.fetch,
          now: () => 0,
          subjectToken: "id.to.ken",
          audience: AS,
          resource: MCP,
        }),
      OAuthClientError,
    );
    assertEquals(error.code, "invalid_id_jag");
  }
});

Deno.test("fetchIdJag() authenticates by private_key_jwt, and keeps what a step-up wants (pain 15)", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  using stubbed = stubFetch({
    async [`${IDP}/token`]({ body }) {
      const form = new URLSearchParams(body);
      const { payload } = await jwtVerify(
        form.get("client_assertion") ?? "",
        publicKey,
        { audience: IDP, issuer: "c-at-idp", currentDate: new Date(0) },
      );
      assertEquals(payload.sub, form.get("client_id") ?? "");
      return Response.json({
        error: "insufficient_user_authentication",
        max_age: 0,
        acr_values: "phr",
      }, { status: 400 });
    },
  });
  const error = await assertRejects(
    () =>
      fetchIdJag(metadataOf(IDP), {
        fetch: stubbed.fetch,
        client: privateKeyJwt("c-at-idp", privateKey as CryptoKey, {
          now: () => 0,
        }),
        subjectToken: "r1",
        subjectTokenType: "urn:ietf:params:oauth:token-type:refresh_token",
        audience: AS,
      }),
    OAuthClientError,
  );
  assertEquals(error.error, "insufficient_user_authentication");
  assertEquals(error.errorResponse, {
    error: "insufficient_user_authentication",
    max_age: 0,
    acr_values: "phr",
  });
});

Deno.test("redeemIdJag() neither retries nor takes another grant after a refusal (pain 15)", async () => {
  const { answer } = await idpGiving({});
  using stubbed = stubFetch({
    [`${IDP}/token`]: answer,
    [TOKEN_ENDPOINT]: text("Unavailable", 503),
  });
  const shared = { fetch: stubbed.fetch, now: () => 0 };
  const idJag = await fetchIdJag(metadataOf(IDP), {
    ...shared,
    subjectToken: "id.to.ken",
    audience: AS,
  });
  await assertRejects(
    () => redeemIdJag(SERVER, idJag, shared),
    OAuthClientError,
  );
  assertEquals(stubbed.urls, [`${IDP}/token`, TOKEN_ENDPOINT]);
});
