import { assertEquals, assertRejects } from "@std/assert";
import {
  clientSecretBasic,
  OAuthClientError,
  publicClient,
  revokeToken,
} from "../../../mod.ts";
import {
  json,
  minimal,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { assertRejectsCode } from "../../support/fixtures.ts";

const ENDPOINT = "https://as.example/revoke";
const SERVER = {
  issuer: "https://as.example",
  revocation_endpoint: ENDPOINT,
};
const client = publicClient("c1");

Deno.test("revokeToken() posts the token, its type, and the client", async () => {
  using stub = stubFetch({ [ENDPOINT]: text("", 200) });
  const { fetch } = stub;
  await revokeToken(SERVER, "t0ken", { fetch, client });
  const secret = clientSecretBasic("c1", "s3cret");
  await revokeToken(SERVER, "t0ken", {
    fetch,
    client: secret,
    tokenTypeHint: "access_token",
  });
  const [first, second] = stub.requests;
  assertEquals(first!.method, "POST");
  assertEquals(first!.body, "token=t0ken&client_id=c1");
  assertEquals(second!.body, "token=t0ken&token_type_hint=access_token");
  assertEquals(second!.headers.Authorization, `Basic ${btoa("c1:s3cret")}`);
});

Deno.test("revokeToken() ignores the content of a success", async () => {
  for (
    const answer of [
      json({}),
      text("<html>", 200),
      () => new Response(null, { status: 204 }),
      () => minimal({ status: 200 }),
      text("x".repeat(20), 200),
    ]
  ) {
    using stub = stubFetch({ [ENDPOINT]: answer });
    const { fetch } = stub;
    await revokeToken(SERVER, "t0ken", { fetch, client, maxBytes: 10 });
  }
});

Deno.test("revokeToken() asks allowUrl with the purpose revocation", async () => {
  using stub = stubFetch({ [ENDPOINT]: text("", 200) });
  const asked: unknown[] = [];
  await revokeToken(SERVER, "t0ken", {
    fetch: stub.fetch,
    client,
    allowUrl: (url, purpose) => asked.push([url.href, purpose]) > 0,
  });
  assertEquals(asked, [[ENDPOINT, "revocation"]]);
});

for (
  const { name, answer, members } of [
    {
      name: "the error of the server, without the token",
      answer: json({
        error: "unsupported_token_type",
        error_description: "cannot revoke secret-token-1",
      }, { status: 400 }),
      members: {
        code: "oauth_error",
        error: "unsupported_token_type",
        message:
          `The revocation request to ${ENDPOINT} failed: 400 unsupported_token_type`,
      },
    },
    {
      name: "a status that is not 2xx",
      answer: () =>
        new Response("", { status: 503, headers: { "Retry-After": "5" } }),
      members: {
        code: "unexpected_status",
        retryAfter: 5,
        message:
          `The revocation request to ${ENDPOINT} failed: expected status 2xx, got 503`,
      },
    },
    {
      name: "a redirect",
      answer: () =>
        new Response("", { status: 307, headers: { Location: "/other" } }),
      members: { code: "redirect_refused" },
    },
  ]
) {
  Deno.test(`revokeToken() fails with ${name}`, async () => {
    using stub = stubFetch({ [ENDPOINT]: answer });
    const { fetch } = stub;
    const error = await assertRejects(
      () => revokeToken(SERVER, "secret-token-1", { fetch, client }),
      OAuthClientError,
    );
    for (const [member, value] of Object.entries(members)) {
      assertEquals(error[member as "code"], value);
    }
    assertEquals(JSON.stringify(error).includes("secret-token-1"), false);
  });
}

Deno.test("revokeToken() keeps a description that names the type of token", async () => {
  const error_description = "refresh_token is not supported";
  using stub = stubFetch({
    [ENDPOINT]: json({ error: "unsupported_token_type", error_description }, {
      status: 400,
    }),
  });
  const { fetch } = stub;
  const tokenTypeHint = "refresh_token";
  const error = await assertRejects(
    () => revokeToken(SERVER, "t0ken-value", { fetch, client, tokenTypeHint }),
    OAuthClientError,
  );
  assertEquals(error.error_description, error_description);
});

Deno.test("revokeToken() fails before the request for what must not be sent", async () => {
  const refuses = async (
    code: string,
    server: unknown,
    token: unknown,
    options: unknown,
  ) => {
    await assertRejectsCode(
      () => revokeToken(untyped(server), untyped(token), untyped(options)),
      code,
    );
  };
  const { issuer } = SERVER;
  const http = { issuer, revocation_endpoint: "http://as.example/revoke" };
  const bound = publicClient("c1", { issuer: "https://other.example" });
  await refuses("unsupported", { issuer }, "t", { client });
  await refuses("url_refused", http, "t", { client });
  await refuses("issuer_mismatch", SERVER, "t", { client: bound });
  for (const token of ["", undefined, 1]) {
    await refuses("invalid_argument", SERVER, token, { client });
  }
  await refuses("invalid_argument", SERVER, "t", "options");
});
