/**
 * Each method of authentication adds its credentials for its own issuer, and nothing
 * else.
 */

import { assert, assertEquals } from "@std/assert";
import {
  clientAssertion,
  type ClientAuthentication,
  clientSecretBasic,
  clientSecretPost,
  privateKeyJwt,
  publicClient,
} from "../../../mod.ts";
import { assertRejectsCode, pinThrown } from "../../support/fixtures.ts";
import { PRIVATE_JWK } from "../../support/keys.ts";
import { untyped } from "../../support/stub_fetch.ts";

const SECRET = "s3cret-Value";
const SERVER = {
  issuer: "https://as.example/t1",
  token_endpoint: "https://as.example/t1/token",
};

/** Returns the body and the added header fields of an authenticated request. */
async function authenticated(client: ClientAuthentication, form: string) {
  const body = new URLSearchParams(form);
  const headers: Record<string, string> = { Accept: "application/json" };
  await client.authenticate({ serverMetadata: SERVER, body, headers });
  const { Accept, ...added } = headers;
  assertEquals(Accept, "application/json");
  return { body, headers: added };
}

Deno.test("publicClient() adds client_id to the body and nothing else", async () => {
  const client = publicClient("c 1&");
  assertEquals([client.clientId, client.method], ["c 1&", "none"]);
  const { body, headers } = await authenticated(client, "a=b");
  assertEquals(body.toString(), "a=b&client_id=c+1%26");
  assertEquals(headers, {});
});

Deno.test("clientSecretPost() adds client_id and client_secret to the body", async () => {
  const client = clientSecretPost("c1", "s&=+ \u00fc");
  assertEquals([client.clientId, client.method], ["c1", "client_secret_post"]);
  const { body, headers } = await authenticated(client, "a=b");
  const secret = "client_secret=s%26%3D%2B+%C3%BC";
  assertEquals(body.toString(), `a=b&client_id=c1&${secret}`);
  assertEquals(headers, {});
});

Deno.test("clientSecretBasic() adds the Authorization header and nothing to the body", async () => {
  const client = clientSecretBasic("c1", "s1");
  assertEquals([client.clientId, client.method], ["c1", "client_secret_basic"]);
  const { body, headers } = await authenticated(client, "a=b");
  assertEquals(body.toString(), "a=b");
  assertEquals(headers, { Authorization: "Basic YzE6czE=" });
});

async function basicPair(...args: Parameters<typeof clientSecretBasic>) {
  const { headers } = await authenticated(clientSecretBasic(...args), "");
  const [scheme, credentials] = headers.Authorization!.split(" ");
  assertEquals(scheme, "Basic");
  const bytes = Uint8Array.from(atob(credentials!), (c) => c.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

Deno.test("clientSecretBasic() form-encodes both parts by default", async () => {
  const rows = [
    ["c1", "s1", "c1:s1"],
    ["my client", "my secret", "my+client:my+secret"],
    ["a:b", "c:d", "a%3Ab:c%3Ad"],
    ["50%", "%41", "50%25:%2541"],
    ["a+b", "c+d", "a%2Bb:c%2Bd"],
    ["b\u00fccher", "gr\u00fc\u00dfe", "b%C3%BCcher:gr%C3%BC%C3%9Fe"],
    ["\u{1f600}", "\u65e5", "%F0%9F%98%80:%E6%97%A5"],
    ["a&b=c", "=&", "a%26b%3Dc:%3D%26"],
    ["-._*", "~!'()", "-._*:%7E%21%27%28%29"],
    ["https://c.example/m", "/?#", "https%3A%2F%2Fc.example%2Fm:%2F%3F%23"],
  ] as const;
  for (const [id, secret, encoded] of rows) {
    assertEquals(await basicPair(id, secret), encoded);
    assertEquals(await basicPair(id, secret, { formEncode: true }), encoded);
    if (id.includes(":")) continue;
    const pair = await basicPair(id, secret, { formEncode: false });
    assertEquals(pair, `${id}:${secret}`);
  }
});

Deno.test("clientSecretBasic() rejects a colon in a clientId that is not form-encoded", () => {
  for (const id of ["a:b", ":", "https://c.example/m"]) {
    const error = pinThrown(
      () => clientSecretBasic(id, SECRET, { formEncode: false }),
      "invalid_argument",
    );
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("clientSecretBasic() has unencoded credentials as well, where it may try both", async () => {
  const { issuer } = SERVER;
  const rows = [
    ["c1", "a/b", undefined, true],
    ["c/1", "s", undefined, true],
    ["c1", "~", undefined, true],
    ["c1", "-._*aZ9", undefined, false],
    ["c:1", "a/b", undefined, false],
    ["c1", "a/b", true, false],
    ["c1", "a/b", false, false],
  ] as const;
  for (const [id, secret, formEncode, isOpen] of rows) {
    const { unencoded } = clientSecretBasic(id, secret, { issuer, formEncode });
    assertEquals(unencoded !== undefined, isOpen, `${id}:${secret}`);
    if (!unencoded) continue;
    assertEquals(
      [unencoded.clientId, unencoded.method, unencoded.issuer],
      [id, "client_secret_basic", issuer],
    );
    const { headers } = await authenticated(unencoded, "");
    assertEquals(headers.Authorization, `Basic ${btoa(`${id}:${secret}`)}`);
  }
});

type Options = { issuer?: string };

/** Every authentication method, with the parameters that it adds to the body. */
const METHODS: [
  create: (clientId: string, options?: Options) => ClientAuthentication,
  parameters: string[],
][] = [
  [publicClient, ["client_id"]],
  [
    (clientId, options) => clientSecretPost(clientId, SECRET, options),
    ["client_id", "client_secret"],
  ],
  [(clientId, options) => clientSecretBasic(clientId, SECRET, options), []],
  [
    (clientId, options = { issuer: SERVER.issuer }) =>
      privateKeyJwt(clientId, PRIVATE_JWK, options),
    ["client_id", "client_assertion", "client_assertion_type"],
  ],
  [
    (clientId, options) => clientAssertion(clientId, () => "a.b.c", options),
    ["client_id", "client_assertion", "client_assertion_type"],
  ],
];

Deno.test("every client authentication rejects a clientId that is not a non-empty string", () => {
  for (const clientId of [undefined, null, "", 1, {}, ["c1"]].map(untyped)) {
    for (const [create] of METHODS) {
      pinThrown(() => create(clientId), "invalid_argument");
    }
  }
});

Deno.test("clientSecretPost() and clientSecretBasic() reject an unusable secret", () => {
  for (const secret of [undefined, null, "", 1, {}, ["s"]].map(untyped)) {
    for (const create of [clientSecretPost, clientSecretBasic]) {
      pinThrown(() => create("c1", secret), "invalid_argument");
    }
  }
});

Deno.test("every client authentication rejects options that are not an object", () => {
  for (const options of [1, "x"].map(untyped)) {
    for (const [create] of METHODS) {
      const call = () => create("c1", options);
      pinThrown(call, "invalid_argument");
    }
  }
});

Deno.test("every client authentication replaces the credentials of another method", async () => {
  const names = "id secret assertion assertion_type".split(" ");
  const form = names.map((name) => `client_${name}=other&client_${name}=twice`);
  for (const [create, parameters] of METHODS) {
    const client = create("c1");
    const { body } = await authenticated(client, `a=b&${form.join("&")}`);
    const keys = [...body.keys()].sort();
    assertEquals(keys, ["a", ...parameters].sort(), client.method);
    assert(!/other|twice/.test(body.toString()), body.toString());
  }
});

Deno.test("every client authentication adds nothing to a request for another issuer", async () => {
  const serverMetadata = { ...SERVER, issuer: "https://other.example" };
  const unsigned = () => Promise.reject(new Error("getJwt was called"));
  const clients = [
    clientAssertion("c1", unsigned, { issuer: SERVER.issuer }),
    ...METHODS.map(([create]) => create("c1", { issuer: SERVER.issuer })),
  ];
  for (const client of clients) {
    const body = new URLSearchParams("a=b");
    const headers = {};
    const request = { serverMetadata, body, headers };
    const call = async () => await client.authenticate(request);
    await assertRejectsCode(call, "issuer_mismatch");
    assertEquals([`${body}`, headers], ["a=b", {}], client.method);
  }
});

Deno.test("every client authentication has its issuer as a member, and its secret in none", () => {
  const issuer = "https://as.example";
  for (const [create] of METHODS) {
    const client = create("c1", { issuer });
    assertEquals(client.issuer, issuer);
    const members = JSON.stringify(client);
    assert(!members.includes(SECRET), members);
    assert(!members.includes(btoa(`c1:${SECRET}`)), members);
  }
});
