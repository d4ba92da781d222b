/** The diagnosis of a client metadata document, and of a server for it. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { buildClientMetadata, type FetchLike } from "../../mod.ts";
import {
  diagnoseClientMetadata,
  type DiagnoseClientMetadataOptions,
} from "../../lib/doctor/mod.ts";
import { assertInvalidArgument } from "../support/fixtures.ts";
import { untyped } from "../support/stub_fetch.ts";
import { type Change, server } from "./_changes.ts";
import { remote, run, TARGET } from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

const ORIGIN = "https://client.example";
const URL_OF_IT = `${ORIGIN}/metadata.json`;
const JSON_TYPE = { "Content-Type": "application/json" };

const GOOD = {
  client_id: URL_OF_IT,
  client_name: "My client",
  redirect_uris: [
    `${ORIGIN}/callback`,
    "http://127.0.0.1/callback",
    "my.app:/",
  ],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "none",
};
/** A public key for ES256: the point of RFC 7515, appendix A.3. */
const KEY = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
};
const KEYS_URL = `${ORIGIN}/jwks.json`;

/** A response by URL: JSON with status 200, or as it is. */
type Responses = Record<string, unknown>;

const respond = (value: unknown) =>
  value instanceof Response
    ? value
    : new Response(JSON.stringify(value), { headers: JSON_TYPE });

async function diagnosed(
  document: unknown,
  { url = URL_OF_IT, others = {}, ...options }:
    & DiagnoseClientMetadataOptions
    & { url?: string; others?: Responses } = {},
) {
  const requests: string[] = [];
  const responses: Responses = {
    [url.replace(":443", "").split("#")[0]!]: document,
    ...others,
  };
  const fetch: FetchLike = (url, init) => {
    requests.push(url);
    if (url in responses) return Promise.resolve(respond(responses[url]));
    return options.fetch?.(url, init) ??
      Promise.reject(new TypeError("No such host"));
  };
  const { findings } = await diagnoseClientMetadata(url, { ...options, fetch });
  const ids = findings.map(({ severity, id }) => `${severity} ${id}`);
  return { ids, findings, requests };
}

Deno.test("diagnoseClientMetadata() finds nothing wrong with a right document", async () => {
  const { ids, requests } = await diagnosed(GOOD);
  assertEquals(ids, []);
  assertEquals(requests, [URL_OF_IT]);
  const more = new Response(JSON.stringify(GOOD), {
    headers: { "Content-Type": "Application/client+JSON; charset=utf-8" },
  });
  assertEquals((await diagnosed(more)).ids, []);
});

const text = (body: string, init: ResponseInit = {}) =>
  new Response(body, { headers: JSON_TYPE, ...init });
const METHOD = "token_endpoint_auth_method";
const WITH_KEYS = { [METHOD]: "private_key_jwt" };

const ROWS: [
  name: string,
  document: unknown,
  ids: string[],
  options?: Parameters<typeof diagnosed>[1],
][] = [
  // The response.
  ["http", {
    ...GOOD,
    client_id: "http://client.example/a",
    redirect_uris: ["my.app:/"],
  }, [
    "error document_url",
  ], { url: "http://client.example/a" }],
  ["no path", { ...GOOD, client_id: `${ORIGIN}/` }, ["error document_url"], {
    url: `${ORIGIN}/`,
  }],
  ["a fragment", GOOD, ["error document_url"], { url: `${URL_OF_IT}#a` }],
  ["a port that is the default one", GOOD, ["error document_url"], {
    url: "https://client.example:443/metadata.json",
  }],
  ["a query", { ...GOOD, client_id: `${URL_OF_IT}?a=1` }, [], {
    url: `${URL_OF_IT}?a=1`,
  }],
  ["no response", undefined, ["error document_unreadable"], {
    allowUrl: () => false,
  }],
  [
    "a body that breaks off",
    new Response(
      new ReadableStream({ start: (body) => body.error(new Error("Gone")) }),
      { headers: JSON_TYPE },
    ),
    ["error document_unreadable"],
  ],
  [
    "a redirect within the origin",
    new Response(null, { status: 302, headers: { Location: "/other" } }),
    ["error document_unreadable"],
    { others: { [`${ORIGIN}/other`]: GOOD } },
  ],
  [
    "a redirect to another origin",
    new Response(null, {
      status: 301,
      headers: { Location: "https://www.client.example/metadata.json" },
    }),
    ["error document_unreadable"],
  ],
  ["another status", text("{}", { status: 404 }), [
    "error document_unreadable",
  ]],
  ["status 203", new Response(JSON.stringify(GOOD), { status: 203 }), [
    "error document_unreadable",
  ]],
  [
    "another media type",
    text(JSON.stringify(GOOD), { headers: { "Content-Type": "text/plain" } }),
    ["error document_unreadable"],
  ],
  ["a page", text("<html>", { headers: { "Content-Type": "text/html" } }), [
    "error document_unreadable",
  ]],
  ["a list", [GOOD], ["error document_unreadable"]],
  ["5,121 bytes", text(JSON.stringify(GOOD).padEnd(5_121)), [
    "error document_unreadable",
  ]],
  ["5,120 bytes", text(JSON.stringify(GOOD).padEnd(5_120)), []],
  ["more than is read", text(JSON.stringify(GOOD).padEnd(9_000)), [
    "error document_unreadable",
  ], { maxBytes: 8_000 }],
  [
    "no-store",
    text(JSON.stringify(GOOD), {
      headers: { ...JSON_TYPE, "Cache-Control": "private, No-Store" },
    }),
    ["warning document_not_cached"],
  ],
  // The document.
  ["another client_id", { ...GOOD, client_id: `${URL_OF_IT}/` }, [
    "error client_id_differs",
  ]],
  ["no client_id", { ...GOOD, client_id: undefined }, [
    "error client_id_differs",
  ]],
  ["no redirect URIs", { ...GOOD, redirect_uris: undefined }, [
    "error redirect_uris_unusable",
  ]],
  ["an empty list of them", { ...GOOD, redirect_uris: [] }, [
    "error redirect_uris_unusable",
  ]],
  ["a string in its place", { ...GOOD, redirect_uris: `${ORIGIN}/callback` }, [
    "error redirect_uris_unusable",
  ]],
  ["a grant without a redirect", {
    ...GOOD,
    redirect_uris: undefined,
    grant_types: ["client_credentials"],
  }, []],
  ["redirect URIs that are refused", {
    ...GOOD,
    redirect_uris: ["/callback", `${ORIGIN}/#a`, "http://client.example/"],
  }, ["error redirect_uris_unusable", "warning other_origin"]],
  ["a secret", { ...GOOD, client_secret: "s3cret-of-client" }, [
    "error document_with_secret",
  ]],
  ["an access token", { ...GOOD, registration_access_token: "t0ken-of-it" }, [
    "error document_with_secret",
  ]],
  ["the expiry of one", { ...GOOD, client_secret_expires_at: 0 }, [
    "error document_with_secret",
  ]],
  ["a method with a secret", { ...GOOD, [METHOD]: "client_secret_post" }, [
    "error document_with_secret",
  ]],
  ["no method", { ...GOOD, [METHOD]: undefined }, [
    "warning document_with_secret",
  ]],
  ["keys", { ...GOOD, ...WITH_KEYS, jwks: { keys: [KEY] } }, []],
  ["no keys for private_key_jwt", { ...GOOD, ...WITH_KEYS }, [
    "error keys_unusable",
  ]],
  ["keys in both places", {
    ...GOOD,
    ...WITH_KEYS,
    jwks: { keys: [KEY] },
    jwks_uri: KEYS_URL,
  }, ["error keys_unusable"]],
  ["no list of keys", { ...GOOD, ...WITH_KEYS, jwks: [KEY] }, [
    "error keys_unusable",
  ]],
  ["an empty list of keys", { ...GOOD, ...WITH_KEYS, jwks: { keys: [] } }, [
    "error keys_unusable",
  ]],
  ["a coordinate that is too short", {
    ...GOOD,
    ...WITH_KEYS,
    jwks: { keys: [KEY, { ...KEY, y: "eQ" }] },
  }, ["error keys_unusable"]],
  ["a key type that runtimes need not know", {
    ...GOOD,
    ...WITH_KEYS,
    jwks: { keys: [{ ...KEY, crv: "secp256k1" }, { kty: "AKP", pub: "eA" }] },
  }, []],
  ["a private key", {
    ...GOOD,
    ...WITH_KEYS,
    jwks: { keys: [KEY, { ...KEY, d: "secret-of-the-key" }] },
  }, ["error keys_unusable"]],
  ["a symmetric key", {
    ...GOOD,
    ...WITH_KEYS,
    jwks: { keys: [{ kty: "oct", k: "secret-of-the-key" }] },
  }, ["error keys_unusable"]],
  ["a URL of keys", { ...GOOD, ...WITH_KEYS, jwks_uri: KEYS_URL }, [], {
    others: { [KEYS_URL]: { keys: [KEY] } },
  }],
  ["a URL of private keys", { ...GOOD, ...WITH_KEYS, jwks_uri: KEYS_URL }, [
    "error keys_unusable",
  ], { others: { [KEYS_URL]: { keys: [{ ...KEY, d: "ZA" }] } } }],
  ["a URL without keys", { ...GOOD, ...WITH_KEYS, jwks_uri: KEYS_URL }, [
    "error keys_unusable",
  ], { others: { [KEYS_URL]: text("", { status: 404 }) } }],
  [
    "a URL of keys on loopback",
    {
      ...GOOD,
      ...WITH_KEYS,
      jwks_uri: "http://127.0.0.1/jwks.json",
    },
    ["error keys_unusable"],
    {
      others: { "http://127.0.0.1/jwks.json": { keys: [KEY] } },
    },
  ],
  ["no name", { ...GOOD, client_name: " " }, ["warning client_name_missing"]],
  ["other origins", {
    ...GOOD,
    redirect_uris: ["https://www.client.example/callback", "my.app:/"],
    client_uri: "https://www.client.example/",
    logo_uri: "https://cdn.example/logo.png",
  }, ["warning other_origin"]],
  ["a logo with http", { ...GOOD, logo_uri: "http://client.example/logo" }, [
    "warning other_origin",
  ]],
  ["a port on loopback", {
    ...GOOD,
    redirect_uris: ["http://127.0.0.1:33418/callback", "http://[::1]:1/"],
  }, ["info loopback_port"]],
];

for (const [name, document, ids, options] of ROWS) {
  Deno.test(`diagnoseClientMetadata() finds in a document: ${name}`, async () => {
    const result = await diagnosed(document, options);
    assertEquals(result.ids, ids);
    // No secret is repeated.
    assert(!JSON.stringify(result.findings).includes("secret-of-the-key"));
    assert(!JSON.stringify(result.findings).includes("s3cret-of-client"));
  });
}

const ACCEPTS = { client_id_metadata_document_supported: true };
const METHODS = "token_endpoint_auth_methods_supported";

const TARGETS: [
  name: string,
  change: Change,
  ids: string[],
  members?: object,
][] = [
  ["a server in common", server(ACCEPTS), []],
  ["no documents", () => {}, ["error documents_not_accepted"]],
  [
    "no method",
    server({ ...ACCEPTS, [METHODS]: ["private_key_jwt"] }),
    ["error nothing_in_common"],
  ],
  [
    "no list of methods",
    server({ ...ACCEPTS, [METHODS]: undefined }),
    ["warning nothing_in_common"],
  ],
  [
    "a grant in common",
    server({ ...ACCEPTS, grant_types_supported: ["authorization_code"] }),
    [],
  ],
  [
    "no grant",
    server({ ...ACCEPTS, grant_types_supported: ["client_credentials"] }),
    ["error nothing_in_common"],
  ],
  [
    "no default grant",
    server({ ...ACCEPTS, grant_types_supported: undefined }),
    ["error nothing_in_common"],
    { grant_types: ["refresh_token"] },
  ],
  [
    "no discovery",
    server({ issuer: "https://other.example" }),
    ["error documents_not_accepted"],
  ],
];

for (const [name, change, ids, members] of TARGETS) {
  Deno.test(`diagnoseClientMetadata() says whether a server can use it: ${name}`, async () => {
    const result = await diagnosed({ ...GOOD, ...members }, {
      target: TARGET,
      fetch: remote(change),
    });
    assertEquals(result.ids, ids);
  });
}

Deno.test("diagnoseClientMetadata() sends header fields to the target only", async () => {
  const seen: string[] = [];
  const fetch = remote(server(ACCEPTS));
  await diagnoseClientMetadata(URL_OF_IT, {
    target: TARGET,
    headers: { "X-Key": "the-key-of-the-target" },
    fetch(url, init) {
      if (new Headers(init.headers).has("X-Key")) {
        seen.push(new URL(url).origin);
      }
      return url === URL_OF_IT
        ? Promise.resolve(respond(GOOD))
        : fetch(url, init);
    },
  });
  assertEquals(new Set(seen), new Set([new URL(TARGET).origin]));
});

Deno.test("diagnoseClientMetadata() finds nothing wrong with what buildClientMetadata() builds", async () => {
  const logoUri = `${ORIGIN}/logo.png`;
  const common = { url: URL_OF_IT, clientName: "My client", logoUri };
  const rows = [
    { redirectUris: GOOD.redirect_uris },
    { redirectUris: [`${ORIGIN}/callback`], jwks: { keys: [KEY] } },
    {
      redirectUris: ["my.app:/callback"],
      scopes: ["read"],
      jwksUri: KEYS_URL,
    },
    {
      redirectUris: [],
      clientMetadata: { grant_types: ["client_credentials"] },
      jwks: { keys: [KEY] },
    },
  ];
  const change = server({
    ...ACCEPTS,
    [METHODS]: ["none", "private_key_jwt"],
    grant_types_supported: ["authorization_code", "client_credentials"],
  });
  await eachRowInTurn(rows, async (row) => {
    const { ids } = await diagnosed(
      buildClientMetadata({ ...common, ...row }),
      {
        target: TARGET,
        fetch: remote(change),
        others: { [KEYS_URL]: { keys: [KEY] } },
      },
    );
    assertEquals(ids, []);
  });
});

Deno.test("diagnoseClientMetadata() shows hostile text without control characters", async () => {
  const hostile = "\u001b[2J\u202e" + "a".repeat(1_000);
  const { findings } = await diagnosed({
    ...GOOD,
    client_id: hostile,
    redirect_uris: [hostile, 1],
    [METHOD]: `client_secret_${hostile}`,
    jwks: { keys: [{ [hostile]: 1, kty: hostile, d: 1 }] },
    logo_uri: `https://${hostile}`,
    grant_types: { ["__proto__"]: hostile },
  });
  assert(findings.length > 3);
  for (const { message } of findings) {
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x1f\u202e]/.test(message), message);
    assert(message.length < 500, message);
  }
});

Deno.test("diagnoseClientMetadata() throws nothing that a server does, and what the caller does", async () => {
  for (
    const url of [
      "client.example",
      "ftp://a.example/b",
      "https://a:b@c.example/",
    ]
  ) {
    await assertInvalidArgument(() => diagnoseClientMetadata(url), "url");
  }
  await assertInvalidArgument(
    () => diagnoseClientMetadata(URL_OF_IT, { target: untyped(1) }),
    "target",
  );
  const names = ["headers", "serverMetadataHeaders"];
  for (const name of [...names, "trustedIssuers"]) {
    await assertInvalidArgument(
      () => diagnoseClientMetadata(URL_OF_IT, { [name]: untyped({ a: 1 }) }),
      name,
    );
  }
  const reason = new Error("Stopped");
  const signal = AbortSignal.abort(reason);
  const error = await diagnosed(GOOD, { signal }).catch((error) => error);
  assertEquals(error, reason);
});

Deno.test("diagnoseClientMetadata() says which document is meant", async () => {
  const { findings: [first] } = await diagnosed({ ...GOOD, client_id: "c1" });
  assertEquals(first?.url, URL_OF_IT);
  assertStringIncludes(first?.message ?? "", '"c1"');
  assertStringIncludes(first?.standard ?? "", "section 4");
});

Deno.test("runDoctor() diagnoses a client metadata document, and has the exit status of its errors", async () => {
  const documents: Responses = { [URL_OF_IT]: GOOD };
  const fetch = remoteWith(documents, server(ACCEPTS));
  const option = `--client-metadata=${URL_OF_IT}`;
  const { status, text, errors } = await run([option], { fetch });
  assertEquals([status, errors], [0, []]);
  assertEquals(text.split("\n"), [
    URL_OF_IT,
    "ready: servers that accept client metadata documents can use the document.",
  ]);
  const json = await run([option, "--json", TARGET], { fetch });
  assertEquals(JSON.parse(json.text), { url: URL_OF_IT, findings: [] });

  documents[URL_OF_IT] = { ...GOOD, client_id: "c1", client_name: "" };
  const report = await run([option, TARGET], { fetch });
  assertEquals(report.status, 1);
  assertEquals(report.text.split("\n").slice(0, 10), [
    URL_OF_IT,
    `broken: the server of ${TARGET} cannot use the document.`,
    "",
    "1 error: servers reject it",
    "",
    "  client_id_differs",
    '    The client_id is "c1", and not the URL of the document.',
    "    Document  Set client_id to exactly the URL of the document.",
    "    OAuth Client ID Metadata Document, section 4;",
    `    ${URL_OF_IT}`,
  ]);
  for (const line of report.text.split("\n")) assert(line.length <= 80, line);

  documents[URL_OF_IT] = GOOD;
  const refused = await run([option, TARGET], { fetch: remoteWith(documents) });
  assertEquals(refused.status, 1);
  assertStringIncludes(refused.text, "documents_not_accepted");
  assertStringIncludes(refused.text, "    Server    Accept client metadata");
});

function remoteWith(
  documents: Responses,
  change: Change = () => {},
): FetchLike {
  const target = remote(change);
  return (url, init) =>
    url in documents
      ? Promise.resolve(respond(documents[url]))
      : target(url, init);
}
