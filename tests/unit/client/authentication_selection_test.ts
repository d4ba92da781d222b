/**
 * A registration, its secret and the server select one method of authentication, or an
 * error.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { KnownClient } from "../../../mod.ts";
import { authenticationOf } from "../../../lib/client/_authentication_selection.ts";
import { assertThrowsCode, pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const ISSUER = "https://as.example/t1";
const SECRET = "s3cret-Value";
const NONE = "none";
const BASIC = "client_secret_basic";
const POST = "client_secret_post";
const JWT = "private_key_jwt";

const server = (listed?: unknown) => ({
  issuer: ISSUER,
  token_endpoint_auth_methods_supported: untyped(listed),
});

const PUBLIC: KnownClient = { issuer: ISSUER, client_id: "c1" };
const CONFIDENTIAL: KnownClient = { ...PUBLIC, client_secret: SECRET };

// The list of the server, the method of the registration, whether it has a secret.
const ROWS: [
  listed: unknown,
  named: string | undefined,
  hasSecret: boolean,
  method: string,
][] = [
  [undefined, undefined, false, NONE],
  [undefined, undefined, true, BASIC],
  [[], undefined, false, NONE],
  // An empty list counts as none given.
  [[], undefined, true, BASIC],
  [[NONE], undefined, true, NONE],
  [[NONE, JWT], undefined, true, NONE],
  [[JWT], undefined, false, NONE],
  [[BASIC], undefined, false, NONE],
  [[BASIC], undefined, true, BASIC],
  [[POST], undefined, false, NONE],
  [[POST], undefined, true, POST],
  [[POST, BASIC], undefined, true, BASIC],
  [[BASIC, POST, NONE], undefined, true, BASIC],
  [[JWT, POST], undefined, true, POST],
  // The method of the registration is used, whatever the server lists.
  [[BASIC], NONE, true, NONE],
  [undefined, NONE, false, NONE],
  [[NONE], BASIC, true, BASIC],
  [[BASIC], POST, true, POST],
  [undefined, POST, true, POST],
  // A list of the wrong type counts as absent, and so does a member of it.
  [POST, undefined, true, BASIC],
  [{}, undefined, true, BASIC],
  [null, undefined, true, BASIC],
  [7, undefined, true, BASIC],
  [{ 0: POST, length: 1 }, undefined, true, BASIC],
  [[7, POST], undefined, true, POST],
  [[[BASIC], null, POST], undefined, true, POST],
  [[7], undefined, true, BASIC],
];

Deno.test("authenticationOf() selects the method by registration, secret and server", async () => {
  for (const [listed, named, hasSecret, method] of ROWS) {
    const serverMetadata = server(listed);
    const client = authenticationOf({
      ...(hasSecret ? CONFIDENTIAL : PUBLIC),
      ...(named && { token_endpoint_auth_method: named }),
    }, serverMetadata);
    assertEquals(client.method, method, JSON.stringify([listed, named]));
    assertEquals([client.clientId, client.issuer], ["c1", ISSUER]);
    const body = new URLSearchParams();
    const headers: Record<string, string> = {};
    await client.authenticate({ serverMetadata, body, headers });
    const basic = { Authorization: `Basic ${btoa(`c1:${SECRET}`)}` };
    assertEquals(headers, method === BASIC ? basic : {});
    const secret = method === POST ? `&client_secret=${SECRET}` : "";
    const expected = method === BASIC ? "" : `client_id=c1${secret}`;
    assertEquals(body.toString(), expected);
  }
});

Deno.test("authenticationOf() prefers the body for credentials that form-encoding changes", () => {
  const rows: [
    listed: string[] | undefined,
    members: Partial<KnownClient>,
    method: string,
  ][] = [
    [[BASIC, POST], {}, POST],
    [[BASIC, POST], { client_id: "a/b", client_secret: "s" }, POST],
    [[BASIC, POST], { client_id: "a:b", client_secret: "s" }, POST],
    [[BASIC, POST], { client_secret: "plain" }, BASIC],
    [[BASIC], {}, BASIC],
    // Servers without a list need not accept more than the default.
    [undefined, {}, BASIC],
    // The method that a response has named.
    [[BASIC, POST], { token_endpoint_auth_method: BASIC }, BASIC],
    [[POST], { token_endpoint_auth_method: BASIC }, BASIC],
    // The encoding is known.
    [[BASIC, POST], { formEncode: false }, BASIC],
    [[BASIC, POST], { formEncode: true }, BASIC],
  ];
  for (const [listed, members, method] of rows) {
    const client = { ...PUBLIC, client_secret: "s3cret/+ %", ...members };
    const authentication = authenticationOf(client, server(listed));
    assertEquals(authentication.method, method, JSON.stringify(members));
  }
});

Deno.test("authenticationOf() does not treat a client with a secret as public", () => {
  for (const listed of [[JWT], [JWT, NONE], ["tls_client_auth", JWT]]) {
    const call = () => authenticationOf(CONFIDENTIAL, server(listed));
    const error = pinThrown(call, "unsupported");
    assert(error.message.includes("https://as.example/t1"));
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("authenticationOf() rejects methods that need more than a registration", () => {
  const rows: [method: unknown, shown: string][] = [
    [JWT, `"${JWT}"`],
    ["client_secret_jwt", '"client_secret_jwt"'],
    ["tls_client_auth\u001b", '"tls_client_auth\\u001b"'],
    [{ a: 1 }, '{"a":1}'],
    [["none"], '["none"]'],
  ];
  eachRow(rows, ([method, shown]) => {
    const given = untyped({ token_endpoint_auth_method: method });
    const client = { ...CONFIDENTIAL, ...given };
    const call = () => authenticationOf(client, server());
    const { message } = assertThrowsCode(call, "unsupported");
    assertStringIncludes(message, shown);
    pinMessage(message.replace(shown, "METHOD"));
  });
});

Deno.test("authenticationOf() rejects a method without its secret", () => {
  for (const method of [BASIC, POST]) {
    for (const client_secret of [undefined, null, ""].map(untyped)) {
      const named = { token_endpoint_auth_method: method };
      const client = { ...PUBLIC, ...named, client_secret };
      pinThrown(() => authenticationOf(client, server()), "unsupported");
    }
  }
});

Deno.test("authenticationOf() rejects a client of another issuer", () => {
  const other = { ...CONFIDENTIAL, issuer: "https://as.example" };
  pinThrown(() => authenticationOf(other, server()), "issuer_mismatch");
});

Deno.test("authenticationOf() rejects arguments of the wrong type", () => {
  for (const [metadata, given] of [[{}, PUBLIC], [server(), {}]]) {
    const call = () => authenticationOf(untyped(given), untyped(metadata));
    pinThrown(call, "invalid_argument");
  }
});

Deno.test("authenticationOf() accepts a secret with the issuer that it belongs to", () => {
  const { issuer: _, ...unbound } = CONFIDENTIAL;
  pinThrown(
    () => authenticationOf(untyped(unbound), server()),
    "invalid_argument",
  );
  const { client_secret: __, ...isPublic } = unbound;
  assertEquals(authenticationOf(untyped(isPublic), server()).method, NONE);
  const slash = { ...CONFIDENTIAL, issuer: `${ISSUER}/` };
  assertEquals(authenticationOf(slash, server()).issuer, ISSUER);
});
