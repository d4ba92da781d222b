import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type IAuthorizationServerMetadata,
  type IClientCredentials,
  OAuthClientError,
  selectClientAuthentication,
} from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

const SECRET = "s3cret-Value";
const NONE = "none";
const BASIC = "client_secret_basic";
const POST = "client_secret_post";
const JWT = "private_key_jwt";

/** A server that lists these methods; undefined for none. */
function server(listed?: unknown): IAuthorizationServerMetadata {
  return untyped({
    issuer: "https://as.example/t1",
    token_endpoint: "https://as.example/t1/token",
    response_types_supported: ["code"],
    ...(listed !== undefined && {
      token_endpoint_auth_methods_supported: listed,
    }),
  });
}

/** A registration that names this method, with a secret or not. */
function registration(
  named: string | undefined,
  hasSecret: boolean,
): IClientCredentials {
  return {
    client_id: "c1",
    ...(hasSecret && { client_secret: SECRET }),
    ...(named && { token_endpoint_auth_method: named }),
  };
}

// Listed by the server, named by the registration, with a secret or not.
const ROWS: [
  listed: unknown,
  named: string | undefined,
  hasSecret: boolean,
  method: string,
][] = [
  [undefined, undefined, false, NONE],
  [undefined, undefined, true, BASIC],
  [[], undefined, false, NONE],
  [[], undefined, true, NONE],
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
  // What the registration says decides, whatever the server lists.
  [[BASIC], NONE, true, NONE],
  [undefined, NONE, false, NONE],
  [[NONE], BASIC, true, BASIC],
  [[BASIC], POST, true, POST],
  [undefined, POST, true, POST],
  // A list of the wrong kind is none, and so is a member of it.
  [POST, undefined, true, BASIC],
  [{}, undefined, true, BASIC],
  [null, undefined, true, BASIC],
  [7, undefined, true, BASIC],
  [{ 0: POST, length: 1 }, undefined, true, BASIC],
  [[7, POST], undefined, true, POST],
  [[[BASIC], null, POST], undefined, true, POST],
  [[7], undefined, true, NONE],
];

Deno.test("selectClientAuthentication() follows its decision table", async () => {
  for (const [listed, named, hasSecret, method] of ROWS) {
    const serverMetadata = server(listed);
    const client = selectClientAuthentication(
      serverMetadata,
      registration(named, hasSecret),
    );
    assertEquals(client.method, method, JSON.stringify([listed, named]));
    assertEquals(
      [client.clientId, client.issuer],
      ["c1", serverMetadata.issuer],
    );
    const body = new URLSearchParams();
    const headers: Record<string, string> = {};
    await client.authenticate({ serverMetadata, body, headers });
    const basic = { Authorization: `Basic ${btoa(`c1:${SECRET}`)}` };
    assertEquals(headers, method === BASIC ? basic : {});
    const secret = method === POST ? `&client_secret=${SECRET}` : "";
    assertEquals(
      body.toString(),
      method === BASIC ? "" : `client_id=c1${secret}`,
    );
  }
});

Deno.test("selectClientAuthentication() does not take a client with a secret for a public one", () => {
  for (
    const listed of [
      [JWT],
      [JWT, NONE],
      ["client_secret_jwt"],
      ["tls_client_auth", JWT],
    ]
  ) {
    const error = assertThrows(
      () => selectClientAuthentication(server(listed), registration("", true)),
      OAuthClientError,
      listed[0],
    );
    assertEquals(error.code, "unsupported");
    assert(error.message.includes("https://as.example/t1"));
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("selectClientAuthentication() refuses what it cannot do", () => {
  for (
    const [method, secret, code, text, issuer] of [
      [JWT, SECRET, "unsupported", JWT],
      ["client_secret_jwt", SECRET, "unsupported", "client_secret_jwt"],
      ["tls_client_auth", undefined, "unsupported", "https://as.example/t1"],
      [BASIC, undefined, "invalid_argument", "clientSecret"],
      [BASIC, "", "invalid_argument", "clientSecret"],
      [POST, undefined, "invalid_argument", "clientSecret"],
      [NONE, "x", "issuer_mismatch", "as.example/t1", "https://as.example/t1/"],
    ] as const
  ) {
    const error = assertThrows(
      () =>
        selectClientAuthentication(
          server(),
          untyped({
            client_id: "c1",
            client_secret: secret,
            token_endpoint_auth_method: method,
            issuer,
          }),
        ),
      OAuthClientError,
      text,
    );
    assertEquals(error.code, code);
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("selectClientAuthentication() refuses a method that is no text", () => {
  for (const method of [{ toString: 1, valueOf: 1 }, {}, ["none"], 7, true]) {
    const error = assertThrows(
      () =>
        selectClientAuthentication(
          server(),
          untyped({ client_id: "c1", token_endpoint_auth_method: method }),
        ),
      OAuthClientError,
      "Client authentication needs more than a registration",
    );
    assertEquals(error.code, "unsupported");
  }
});

Deno.test("selectClientAuthentication() names an argument that is of no use", () => {
  for (const wrong of [undefined, null, 1, "x"]) {
    for (
      const [call, name] of [
        [
          () =>
            selectClientAuthentication(untyped(wrong), registration("", false)),
          "serverMetadata",
        ],
        [
          () => selectClientAuthentication(server(), untyped(wrong)),
          "registration",
        ],
      ] as const
    ) {
      const error = assertThrows(
        call,
        OAuthClientError,
        `${name} must be an object`,
      );
      assertEquals(error.code, "invalid_argument");
    }
  }
});
