import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { decodeProtectedHeader, jwtVerify } from "jose";
import {
  clientSecretBasic,
  clientSecretPost,
  type IAuthorizationServerMetadata,
  type IClientAuthentication,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
} from "../../../mod.ts";
import { createSigningKeys } from "../../support/fixtures.ts";

const SECRET = "s3cret-Value";
const server: IAuthorizationServerMetadata = {
  issuer: "https://as.example/t1",
  token_endpoint: "https://as.example/t1/token",
  response_types_supported: ["code"],
};
const { privateKey, publicKey } = await createSigningKeys();

/** What a client makes of a request whose body is given. */
async function authenticated(client: IClientAuthentication, form: string) {
  const body = new URLSearchParams(form);
  const headers: Record<string, string> = { Accept: "application/json" };
  await client.authenticate({ serverMetadata: server, body, headers });
  assertEquals(headers.Accept, "application/json");
  const { Accept: _, ...added } = headers;
  return { body, text: body.toString(), headers: added };
}

Deno.test("publicClient() puts client_id alone into the body", async () => {
  const client = publicClient("c 1&");
  assertEquals([client.clientId, client.method], ["c 1&", "none"]);
  for (const form of ["a=b", "a=b&client_id=other"]) {
    const { text, headers } = await authenticated(client, form);
    assertEquals(text, "a=b&client_id=c+1%26");
    assertEquals(headers, {});
  }
});

Deno.test("clientSecretPost() puts both credentials into the body", async () => {
  const client = clientSecretPost("c1", "s&=+ \u00fc");
  assertEquals([client.clientId, client.method], ["c1", "client_secret_post"]);
  for (
    const form of [
      "a=b",
      "a=b&client_id=x&client_secret=y",
      "a=b&client_id=x&client_secret=y&client_id=z&client_secret=z",
    ]
  ) {
    const { text, headers } = await authenticated(client, form);
    assertEquals(text, "a=b&client_id=c1&client_secret=s%26%3D%2B+%C3%BC");
    assertEquals(headers, {});
  }
});

Deno.test("clientSecretBasic() moves the credentials from the body to the header", async () => {
  const client = clientSecretBasic("c1", "s1");
  assertEquals([client.clientId, client.method], ["c1", "client_secret_basic"]);
  for (const form of ["a=b", "client_id=c1&a=b&client_secret=x&client_id=y"]) {
    const { text, headers } = await authenticated(client, form);
    assertEquals(text, "a=b");
    assertEquals(headers, { Authorization: "Basic YzE6czE=" });
  }
});

/** The pair that the header carries, as UTF-8 text. */
async function basicPair(...args: Parameters<typeof clientSecretBasic>) {
  const { headers } = await authenticated(clientSecretBasic(...args), "");
  const [scheme, credentials] = headers.Authorization!.split(" ");
  assertEquals(scheme, "Basic");
  const bytes = Uint8Array.from(atob(credentials!), (c) => c.charCodeAt(0));
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

Deno.test("clientSecretBasic() form-encodes both parts unless told otherwise", async () => {
  for (
    const [id, secret, encoded] of [
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
    ] as const
  ) {
    assertEquals(await basicPair(id, secret), encoded);
    assertEquals(await basicPair(id, secret, { formEncode: true }), encoded);
    assertEquals(
      await basicPair(id, secret, { formEncode: undefined }),
      encoded,
    );
    if (id.includes(":")) continue;
    assertEquals(
      await basicPair(id, secret, { formEncode: false }),
      `${id}:${secret}`,
    );
  }
});

Deno.test("clientSecretBasic() takes a secret of any length", async () => {
  const secret = "s".repeat(200_000);
  // Not by assertEquals(), which would print both.
  assert(await basicPair("c1", secret) === `c1:${secret}`);
});

Deno.test("clientSecretBasic() without form encoding refuses a colon in the identifier", () => {
  for (const id of ["a:b", ":", "https://c.example/m"]) {
    const error = assertThrows(
      () => clientSecretBasic(id, SECRET, { formEncode: false }),
      OAuthClientError,
      "clientId must be without a colon",
    );
    assertEquals(error.code, "invalid_argument");
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("clientSecretBasic() can be read back whatever the credentials hold", async () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 });
  await fc.assert(fc.asyncProperty(text, text, async (id, secret) => {
    const parts = (await basicPair(id, secret)).split(":");
    assertEquals(parts.length, 2);
    assertEquals(
      parts.map((part) => new URLSearchParams(`x=${part}`).get("x")),
      [id, secret],
    );
  }));
});

Deno.test("privateKeyJwt() signs an assertion that jose accepts", async () => {
  const time = 1_700_000_000_999;
  const client = privateKeyJwt("c1", privateKey, {
    keyId: "k1",
    now: () => time,
  });
  assertEquals([client.clientId, client.method], ["c1", "private_key_jwt"]);
  const { body, headers } = await authenticated(
    client,
    "a=b&client_id=x&client_assertion=y&client_assertion_type=z",
  );
  assertEquals(headers, {});
  assertEquals([...body.keys()].sort(), [
    "a",
    "client_assertion",
    "client_assertion_type",
    "client_id",
  ]);
  assertEquals(body.get("client_id"), "c1");
  assertEquals(
    body.get("client_assertion_type"),
    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  );
  const { payload, protectedHeader } = await jwtVerify(
    body.get("client_assertion")!,
    publicKey,
    {
      issuer: "c1",
      subject: "c1",
      audience: "https://as.example/t1",
      currentDate: new Date(time),
      requiredClaims: ["jti", "iat", "exp"],
    },
  );
  assertEquals(protectedHeader, { alg: "ES256", typ: "JWT", kid: "k1" });
  const { jti, ...claims } = payload;
  assertEquals(claims, {
    iss: "c1",
    sub: "c1",
    aud: "https://as.example/t1",
    iat: 1_700_000_000,
    exp: 1_700_000_060,
  });
  assert(jti!.length >= 16);
});

Deno.test("privateKeyJwt() takes audience and lifetime, and leaves out kid", async () => {
  const client = privateKeyJwt("c1", privateKey, {
    audience: "https://as.example/t1/token",
    lifetimeSeconds: 300,
  });
  const { body } = await authenticated(client, "");
  const assertion = body.get("client_assertion")!;
  const { payload } = await jwtVerify(assertion, publicKey);
  assertEquals(payload.aud, "https://as.example/t1/token");
  assertEquals(payload.exp! - payload.iat!, 300);
  assertEquals(decodeProtectedHeader(assertion), { alg: "ES256", typ: "JWT" });
});

Deno.test("privateKeyJwt() refuses a lifetime that is no positive number", () => {
  for (const lifetime of [NaN, 0, -1, Infinity, -Infinity, null, "60", {}]) {
    const error = assertThrows(
      () =>
        privateKeyJwt("c1", privateKey, {
          lifetimeSeconds: lifetime as number,
        }),
      OAuthClientError,
      "lifetime must be a positive number of seconds",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("privateKeyJwt() makes a fresh assertion for every request", async () => {
  let time = 0;
  const client = privateKeyJwt("c1", privateKey, { now: () => time += 1_000 });
  const ids = new Set<unknown>();
  for (let second = 1; second <= 20; second++) {
    const { body } = await authenticated(client, "");
    const { payload } = await jwtVerify(
      body.get("client_assertion")!,
      publicKey,
      { currentDate: new Date(time) },
    );
    assertEquals(payload.iat, second);
    ids.add(payload.jti);
  }
  assertEquals(ids.size, 20);
});

Deno.test("privateKeyJwt() refuses what is no private signing key", async () => {
  const ecdh = await crypto.subtle.generateKey(
    { name: "ECDH", namedCurve: "P-256" },
    false,
    ["deriveBits"],
  ) as CryptoKeyPair;
  const hmac = await crypto.subtle.generateKey(
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  for (
    const key of [
      undefined,
      null,
      {},
      SECRET,
      publicKey,
      ecdh.privateKey,
      hmac,
      { kty: "EC", d: SECRET },
    ]
  ) {
    const error = assertThrows(
      () => privateKeyJwt("c1", key as CryptoKey),
      OAuthClientError,
      "key must be a private CryptoKey for signing",
    );
    assertEquals(error.code, "invalid_argument");
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("every client authentication refuses credentials of the wrong kind", () => {
  for (const wrong of [undefined, null, "", 1, {}, ["c1"]]) {
    const text = wrong as string;
    for (
      const [call, name] of [
        [() => publicClient(text), "clientId"],
        [() => clientSecretPost(text, SECRET), "clientId"],
        [() => clientSecretPost("c1", text), "clientSecret"],
        [() => clientSecretBasic(text, SECRET), "clientId"],
        [() => clientSecretBasic("c1", text), "clientSecret"],
        [() => privateKeyJwt(text, privateKey), "clientId"],
      ] as const
    ) {
      const error = assertThrows(
        call,
        OAuthClientError,
        `${name} must be a non-empty string`,
      );
      assertEquals(error.code, "invalid_argument");
    }
  }
});

Deno.test("every client authentication refuses options that are no object", () => {
  for (const wrong of [null, 1, "x"]) {
    for (
      const call of [
        () => publicClient("c1", wrong as never),
        () => clientSecretPost("c1", SECRET, wrong as never),
        () => clientSecretBasic("c1", SECRET, wrong as never),
        () => privateKeyJwt("c1", privateKey, wrong as never),
      ]
    ) {
      const error = assertThrows(
        call,
        OAuthClientError,
        "options must be an object",
      );
      assertEquals(error.code, "invalid_argument");
    }
  }
});

Deno.test("every client authentication leaves no credentials of another", async () => {
  const names = [
    "client_id",
    "client_secret",
    "client_assertion",
    "client_assertion_type",
  ];
  const rows: [IClientAuthentication, own: string[]][] = [
    [publicClient("c1"), ["client_id"]],
    [clientSecretBasic("c1", SECRET), []],
    [clientSecretPost("c1", SECRET), ["client_id", "client_secret"]],
    [
      privateKeyJwt("c1", privateKey),
      ["client_id", "client_assertion", "client_assertion_type"],
    ],
  ];
  const form = names.map((name) => `${name}=other&${name}=twice`).join("&");
  for (const [client, own] of rows) {
    const { body } = await authenticated(client, `a=b&${form}`);
    assertEquals([...body.keys()].sort(), ["a", ...own].sort(), client.method);
    assert(!/other|twice/.test(body.toString()), body.toString());
  }
});

Deno.test("every client authentication carries the issuer it is for", () => {
  const issuer = "https://as.example";
  const clients = (options?: { issuer: string }) => [
    publicClient("c1", options),
    clientSecretPost("c1", "s", options),
    clientSecretBasic("c1", "s", options),
    privateKeyJwt("c1", privateKey, options),
  ];
  for (const client of clients({ issuer })) assertEquals(client.issuer, issuer);
  for (const client of clients()) assertEquals(client.issuer, undefined);
});

Deno.test("every client authentication shows no secret when printed", () => {
  for (const make of [clientSecretPost, clientSecretBasic]) {
    const client = make("c1", SECRET);
    const encoded = btoa(`c1:${SECRET}`);
    const text = JSON.stringify(client) + Deno.inspect(client);
    assert(!text.includes(SECRET) && !text.includes(encoded), text);
  }
});
