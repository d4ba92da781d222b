/** A refused form names the options that may help. */

import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import {
  clientAssertion,
  type ClientAuthentication,
  clientSecretBasic,
  clientSecretPost,
  fetchDeviceAuthorization,
  fetchToken,
  OAuthClientError,
  publicClient,
  pushAuthorizationRequest,
  revokeToken,
} from "../../../mod.ts";
import { AS, CODE_SERVER, MCP } from "../../support/fixtures.ts";
import { pinMessage } from "../../support/pin_message.ts";
import { shown } from "../../support/shown.ts";
import {
  type Answer,
  json,
  stubFetch,
  text,
} from "../../support/stub_fetch.ts";

/** The options that a message names, or what else it does. */
const NAMED =
  /resourceIndicator|privateKeyJwt|formEncode|clientSecret\w+|clientMetadata|page/g;
const RESOURCE = "resourceIndicator";
const ASSERTION = "privateKeyJwt";
const BASIC = "clientSecretPost";
const ENCODING = "formEncode clientSecretBasic";
const BOTH = `${ENCODING} ${BASIC}`;
const POST = "clientSecretBasic";
const PAGE = "page";

const SIGNING = clientAssertion("c1", () => "jwt-of-the-user", { issuer: AS });
const basic = (id: string, secret: string, formEncode: boolean) =>
  clientSecretBasic(id, secret, { issuer: AS, formEncode });
const ENCODED = basic("c1", "s3cret/+ %", true);

type Send = (
  client: ClientAuthentication,
  resource: string | undefined,
  fetch: ReturnType<typeof stubFetch>["fetch"],
) => Promise<unknown>;

const REQUESTS: Record<string, Send> = {
  token: (client, resource, fetch) => {
    const form = new URLSearchParams({ code: "code-of-the-user" });
    if (resource) form.set("resource", resource);
    return fetchToken(CODE_SERVER, form, { client, fetch });
  },
  par: (client, resource, fetch) =>
    pushAuthorizationRequest(CODE_SERVER, {
      redirectUri: "http://127.0.0.1:8123/callback",
      state: "state-of-the-user",
      codeChallenge: "c".repeat(43),
      resource,
    }, { client, fetch }),
  device: (client, resource, fetch) =>
    fetchDeviceAuthorization(CODE_SERVER, { client, resource, fetch }),
};

async function hintOf(
  path: string,
  send: Send,
  answer: Answer,
  client: ClientAuthentication,
  resource?: string,
): Promise<string> {
  using server = stubFetch({ [`${AS}/${path}`]: answer });
  const call = () => send(client, resource, server.fetch);
  const error = await assertRejects(call, OAuthClientError);
  assertFalse(/s3cret|of-the-user/.test(shown(error)), shown(error));
  const hint = / \(.*$/.exec(error.message)?.[0] ?? "";
  if (hint) pinMessage(hint.trim());
  return hint.match(NAMED)?.join(" ") ?? "";
}

const refusal = (error: string | undefined, status = 400) =>
  json({ error }, { status });
const PUBLIC = publicClient("c1");

for (const [path, send] of Object.entries(REQUESTS)) {
  Deno.test(`a request to the ${path} endpoint that is refused for its resource names the option`, async () => {
    const rows: [answer: Answer, hint: string][] = [
      [refusal("invalid_target"), RESOURCE],
      [refusal("invalid_target", 200), RESOURCE],
      [refusal(undefined), RESOURCE],
      [text("", 404), RESOURCE],
      [text("No", 403), RESOURCE],
      // Temporary, or about something else.
      [refusal("invalid_target", 503), ""],
      [refusal(undefined, 429), ""],
      [refusal(undefined, 500), ""],
      [refusal("invalid_request"), ""],
    ];
    for (const [index, [answer, hint]] of rows.entries()) {
      const row = [index, await hintOf(path, send, answer, PUBLIC, MCP)];
      assertEquals(row, [index, hint]);
      assertEquals(await hintOf(path, send, answer, PUBLIC), "");
    }
  });

  Deno.test(`a request to the ${path} endpoint whose client is refused names its options`, async () => {
    const rows: [Answer, hint: string, ClientAuthentication][] = [
      [refusal("invalid_client", 401), ASSERTION, SIGNING],
      [refusal("invalid_client", 503), "", SIGNING],
      [refusal("invalid_grant"), "", SIGNING],
      [refusal("invalid_client", 401), "", PUBLIC],
      [refusal("invalid_client", 401), BOTH, ENCODED],
      [refusal("unauthorized_client"), ENCODING, ENCODED],
      [text("", 401), BOTH, ENCODED],
      [text("", 403), BOTH, ENCODED],
      [refusal("invalid_client"), BOTH, basic("c/1", "s3cret", true)],
      // GitHub.
      [refusal("incorrect_client_credentials", 200), BOTH, ENCODED],
      [refusal("invalid_client"), BOTH, basic("c1", "s3cret:1", false)],
      [refusal("invalid_client"), BOTH, basic("c1", "s3crét", true)],
      // Not about the client, or temporary.
      [text("<html>", 403), PAGE, ENCODED],
      [text("\n<!doctype html>", 200), PAGE, ENCODED],
      [text("<html>", 503), "", ENCODED],
      [text("", 404), "", ENCODED],
      [refusal("invalid_grant"), "", ENCODED],
      [refusal("invalid_client", 503), "", ENCODED],
      // The same in both forms, or not Basic.
      [refusal("invalid_client"), BASIC, basic("c-1.x_*", "s3cret", true)],
      [refusal("invalid_client"), POST, clientSecretPost("c1", "s3cret/+")],
      [text("", 401), POST, clientSecretPost("c1", "s3cret/+")],
      [refusal("invalid_scope"), "clientMetadata", PUBLIC],
    ];
    for (const [index, [answer, hint, client]] of rows.entries()) {
      const row = [index, await hintOf(path, send, answer, client)];
      assertEquals(row, [index, hint]);
    }
  });
}

Deno.test("a refused request names all options that may help", async () => {
  const { token } = REQUESTS;
  const hint = await hintOf("token", token!, text("", 401), ENCODED, MCP);
  assertEquals(hint, `${RESOURCE} ${BOTH}`);
});

Deno.test("a refused revocation names the options of the client", async () => {
  const send: Send = (client, _resource, fetch) =>
    revokeToken(CODE_SERVER, "token-of-the-user", { client, fetch });
  const answer = refusal("invalid_client", 401);
  assertEquals(await hintOf("revoke", send, answer, SIGNING), ASSERTION);
});
