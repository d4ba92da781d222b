/** Basic credentials that form-encoding changes, at servers that do not decode them. */

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import {
  adviceFor,
  type Client,
  clientSecretBasic,
  clientSecretPost,
  createDpop,
  type FetchTokenOptions,
  getClaimsFromJWT,
  type KnownClient,
  OAuthClientError,
} from "../../../mod.ts";
import { AS } from "../../support/fixtures.ts";
import {
  GRANTED,
  requestToken,
  tokenErrorOf,
} from "../../support/request_token.ts";
import { type Answer, json, minimal, text } from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const SECRET = "s3cret/+ %";
const ENCODED = "Basic YzE6czNjcmV0JTJGJTJCKyUyNQ==";
const UNENCODED = `Basic ${btoa(`c1:${SECRET}`)}`;
const BOTH = [ENCODED, UNENCODED];
const JSON_CLIENT: KnownClient = {
  issuer: AS,
  client_id: "c1",
  client_secret: SECRET,
};

const basic = (options = {}) =>
  clientSecretBasic("c1", SECRET, { issuer: AS, ...options });

function refusal(error: string, status = 401): Answer {
  return json({ error }, { status });
}

/** A 401 of a framework that checks credentials, before a token endpoint. */
function challenge(scheme: string, body: string): Answer {
  const headers = { "WWW-Authenticate": `${scheme} realm="Users"` };
  return () => new Response(body, { status: 401, headers });
}

/** A server that compares the credentials as they are. */
function literal(
  granted: Answer = GRANTED,
  refused: Answer = refusal("invalid_client"),
): Answer {
  return (request) =>
    (request.headers.Authorization === UNENCODED ? granted : refused)(request);
}

/** The credentials of a token request, and the code of its error, if there is one. */
async function sent(answer: Answer, options: FetchTokenOptions) {
  const { result, requests } = await requestToken(answer, options);
  // Whatever is repeated has the same form.
  assertEquals(new Set(requests.map(({ body }) => body)).size, 1);
  return {
    credentials: requests.map(({ headers }) => headers.Authorization),
    error: result instanceof OAuthClientError ? result : undefined,
  };
}

Deno.test("fetchToken() repeats a request with credentials unencoded once the server has refused them", async () => {
  const rows: [refused: Answer, isRepeated: boolean][] = [
    [refusal("invalid_client"), true],
    [refusal("invalid_client", 400), true],
    [refusal("invalid_client", 200), true],
    [refusal("unauthorized_client", 400), true],
    [text("", 401), true],
    [text("", 403), true],
    [challenge("Basic", "Unauthorized"), true],
    [challenge("Basic", "<h1>Unauthorized</h1>"), true],
    [() => minimal({ status: 401, text: () => Promise.resolve("") }), true],
    // The status comes first: these say nothing about the client.
    [refusal("invalid_client", 503), false],
    [text("", 500), false],
    [text("", 400), false],
    [text("", 404), false],
    // Of a firewall, for example.
    [text("<h1>Forbidden</h1>", 403), false],
    [challenge("Bearer", "Unauthorized"), false],
    [challenge("Basic", '{"error":"invalid_grant"}'), false],
    [refusal("invalid_grant", 400), false],
    [refusal("access_denied", 403), false],
  ];
  await eachRowInTurn(rows, async ([refused, isRepeated]) => {
    for (const client of [basic(), { ...JSON_CLIENT }]) {
      const answer = literal(GRANTED, refused);
      const { credentials, error } = await sent(answer, { client });
      assertEquals(credentials, isRepeated ? BOTH : [ENCODED]);
      assertEquals(error === undefined, isRepeated);
    }
  });
});

Deno.test("fetchToken() never sends the same credentials twice", async () => {
  const rows: [client: Client, credentials: string[]][] = [
    [clientSecretBasic("c1", "plain-._*"), ["Basic YzE6cGxhaW4tLl8q"]],
    [{ ...JSON_CLIENT, client_secret: "plain" }, ["Basic YzE6cGxhaW4="]],
    // Unencoded, the secret would begin at the colon.
    [clientSecretBasic("c:1", "s"), ["Basic YyUzQTE6cw=="]],
    [basic({ formEncode: true }), [ENCODED]],
    [basic({ formEncode: false }), [UNENCODED]],
    [{ ...JSON_CLIENT, formEncode: true }, [ENCODED]],
    [{ ...JSON_CLIENT, formEncode: false }, [UNENCODED]],
    [clientSecretPost("c1", SECRET), ["none"]],
  ];
  await eachRowInTurn(rows, async ([client, expected]) => {
    const { credentials } = await sent(refusal("invalid_client"), { client });
    assertEquals(credentials.map((one) => one ?? "none"), expected);
  });
});

Deno.test("fetchToken() remembers that a server has accepted credentials unencoded only", async () => {
  const accepting: [granted: Answer, isRemembered: boolean][] = [
    [GRANTED, true],
    // What comes after the check of the credentials.
    [refusal("authorization_pending", 400), true],
    [refusal("invalid_grant", 400), true],
    [refusal("invalid_client", 200), false],
    [refusal("unauthorized_client", 400), false],
    [refusal("server_error", 500), false],
    [text("", 403), false],
    [text("Not Found", 404), false],
  ];
  for (const [granted, isRemembered] of accepting) {
    for (const client of [basic(), { ...JSON_CLIENT }]) {
      const { credentials, error } = await sent(literal(granted), { client });
      assertEquals(credentials, BOTH);
      // What is said about credentials is for an error about them.
      const isSaid = error?.message.includes("formEncode") ?? false;
      const isRefused = /_client$/.test(error?.error ?? "") ||
        error?.status === 403;
      assertEquals(isSaid, isRefused);
      const again = await sent(literal(), { client });
      assertEquals(again.credentials, isRemembered ? [UNENCODED] : BOTH);
    }
  }
});

Deno.test("fetchToken() begins anew where a server no longer accepts credentials unencoded", async () => {
  const decoding: Answer = (request) =>
    (request.headers.Authorization === ENCODED
      ? GRANTED
      : refusal("invalid_client"))(request);
  for (const client of [basic(), { ...JSON_CLIENT }]) {
    await sent(literal(), { client });
    const once = await sent(decoding, { client });
    assertEquals(once.error?.error, "invalid_client");
    const { credentials, error } = await sent(decoding, { client });
    assertEquals([credentials, error], [[ENCODED], undefined]);
  }
});

Deno.test("fetchToken() fails with the second refusal, and says what was sent", async () => {
  const answer = json({
    error: "invalid_client",
    error_description: `Not ${SECRET}, s3cret%2F%2B+%25 or ${btoa(SECRET)}`,
  }, { status: 401 });
  const { credentials, error } = await sent(answer, { client: basic() });
  assertEquals(credentials, BOTH);
  assertInstanceOf(error, OAuthClientError);
  assertEquals([error.code, error.error], ["oauth_error", "invalid_client"]);
  pinMessage(error);
  assert(!JSON.stringify(error).includes("s3cret"));
});

Deno.test("fetchToken() fails as after invalid_client where a 401 has a Basic challenge", async () => {
  const bodies = ["Unauthorized", "<h1>Unauthorized</h1>", ""];
  const forms = ["a=1", `resource=${AS}`, "grant_type=refresh_token"];
  for (const form of forms.map((one) => new URLSearchParams(one))) {
    for (const body of bodies) {
      const options = { client: basic() };
      const answer = challenge("Basic", body);
      const failure = await tokenErrorOf(answer, options, form);
      const { code, status, error } = pinMessage(failure);
      assertEquals([code, status, error], [
        "oauth_error",
        401,
        "invalid_client",
      ]);
      assertEquals(adviceFor(failure), { action: "reregister" });
    }
  }
});

Deno.test("fetchToken() repeats for the nonce and for the credentials, in either order", async () => {
  const nonce = json({ error: "use_dpop_nonce" }, {
    status: 400,
    headers: { "DPoP-Nonce": "n1" },
  });
  const bound = json({ access_token: "t", token_type: "DPoP" });
  const hasNonce = (proof = "") => getClaimsFromJWT(proof).nonce === "n1";
  const nonceFirst = (then: Answer): Answer => (request) =>
    (hasNonce(request.headers.DPoP) ? then : nonce)(request);
  const servers: [answer: Answer, credentials: string[]][] = [
    [literal(nonceFirst(bound)), [ENCODED, UNENCODED, UNENCODED]],
    [nonceFirst(literal(bound)), [ENCODED, ENCODED, UNENCODED]],
  ];
  for (const [answer, expected] of servers) {
    const options = { client: basic(), dpop: await createDpop() };
    const { credentials, error } = await sent(answer, options);
    assertEquals([credentials, error], [expected, undefined]);
  }
});
