import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import {
  clientSecretBasic,
  clientSecretPost,
  type IFormRequestOptions,
  OAuthClientError,
} from "../../../mod.ts";
import { postTokenRequest, TOKEN_ENDPOINT } from "../../support/fixtures.ts";
import { type Answer, json } from "../../support/stub_fetch.ts";

/** The error of a request with this form. */
async function errorOf(
  form: Record<string, string>,
  answer: Answer,
  client?: IFormRequestOptions["client"],
): Promise<OAuthClientError> {
  const { result: error } = await postTokenRequest(
    answer,
    { client },
    new URLSearchParams(form),
  );
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "oauth_error");
  return error;
}

const SECRETS = [
  "actor_token",
  "assertion",
  "client_assertion",
  "client_secret",
  "code",
  "code_verifier",
  "device_code",
  "refresh_token",
  "subject_token",
];

for (const name of SECRETS) {
  Deno.test(`postForm() redacts the request's ${name} in an error`, async () => {
    const secret = "s3/cr:et==";
    const encoded = encodeURIComponent(secret);
    const read = "read-all";
    const said = `${secret} and ${encoded} and ${secret}`;
    const error = await errorOf(
      { [name]: secret, scope: "read-all" },
      json({
        error: `bad ${secret}`,
        error_description: said,
        error_uri: `https://as.example/?x=${encoded}`,
        more: said,
        deep: { list: [secret, [encoded], null, true], read },
        count: 7,
      }, { status: 400 }),
    );
    const redacted = "[redacted] and [redacted] and [redacted]";
    assertEquals(
      error.message,
      `Request to ${TOKEN_ENDPOINT} was refused: bad [redacted]: ${redacted}`,
    );
    assertEquals({ ...error }, {
      name: "OAuthClientError",
      code: "oauth_error",
      url: TOKEN_ENDPOINT,
      status: 400,
      error: "bad [redacted]",
      error_description: redacted,
      error_uri: "https://as.example/?x=[redacted]",
      errorResponse: {
        error: "bad [redacted]",
        error_description: redacted,
        error_uri: "https://as.example/?x=[redacted]",
        more: redacted,
        deep: { list: ["[redacted]", ["[redacted]"], null, true], read },
        count: 7,
      },
    });
  });
}

Deno.test("postForm() redacts the credentials of its client in an error", async () => {
  const secret = "s3cret-Value";
  const echo: Answer = ({ body, headers }) =>
    Response.json({
      error: "invalid_client",
      error_description: `${body} ${headers.Authorization}`,
    }, { status: 401 });
  const rows: [IFormRequestOptions["client"], description: string][] = [
    [
      clientSecretPost("c1", secret),
      "a=1&client_id=c1&client_secret=[redacted] undefined",
    ],
    [clientSecretBasic("c1", secret), "a=1 Basic [redacted]"],
  ];
  for (const [client, description] of rows) {
    const error = await errorOf({ a: "1" }, echo, client);
    assertEquals(error.error_description, description);
    assert(error.message.endsWith(`invalid_client: ${description}`));
  }
});

Deno.test("postForm() redacts a secret as a form writes it", async () => {
  // A form writes these otherwise than encodeURIComponent() does.
  const secret = "s3 cr!et~('x')*";
  const form = new URLSearchParams({ code: secret }).toString();
  const error = await errorOf(
    { code: secret },
    ({ body }) =>
      Response.json({ error: "x", error_description: `${form} or ${body}` }),
  );
  assertEquals(
    error.error_description,
    "code=[redacted] or code=[redacted]",
  );
});

Deno.test("postForm() redacts the longer of two secrets that begin alike first", async () => {
  for (const [code, device_code] of [["s3cr", "s3cret"], ["s3cret", "s3cr"]]) {
    const error = await errorOf(
      { code: code!, device_code: device_code! },
      json({ error: "x", error_description: "s3cret, s3cr" }),
    );
    assertEquals(error.error_description, "[redacted], [redacted]");
  }
});

Deno.test("postForm() redacts the secret of Basic credentials as it was before encoding", async () => {
  const secret = "s3 cr:et%ü+";
  const client = clientSecretBasic("c1", secret);
  const forms = [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ "": secret }).toString().slice(1),
  ];
  for (const form of forms) {
    const error = await errorOf(
      { a: "1" },
      json({ error: "x", error_description: `No ${form} of c1`, a: [form] }),
      client,
    );
    assertEquals(error.error_description, "No [redacted] of c1");
    assertEquals(error.errorResponse?.a, ["[redacted]"]);
  }
});

Deno.test("postForm() leaves secrets shorter than 4 characters in an error", async () => {
  const rows: [code: string, shown: string][] = [
    ["", "The code in the code"],
    ["the", "The code in the code"],
    ["code", "The [redacted] in the [redacted]"],
  ];
  for (const [code, shown] of rows) {
    const error = await errorOf(
      { code },
      json({ error: "x", error_description: "The code in the code" }),
    );
    assertEquals(error.error_description, shown);
  }
});

Deno.test("postForm() leaves in an error what is no secret of the request", async () => {
  const body = { error: "invalid_scope", error_description: "read-all of c1" };
  const error = await errorOf(
    { scope: "read-all", client_id: "c1", grant_type: "invalid_scope" },
    json(body),
  );
  assertEquals(error.errorResponse, body);
});
