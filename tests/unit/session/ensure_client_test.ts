import { assertEquals, assertRejects } from "@std/assert";
import {
  ensureClient,
  type IEnsureClientOptions,
  OAuthClientError,
} from "../../../mod.ts";
import { type Answer, stubFetch, untyped } from "../../support/stub_fetch.ts";

const ISSUER = "https://as.example";
const REGISTER = "https://as.example/register";
const REDIRECT_URI = "http://127.0.0.1:8123/callback";
const SERVER = { issuer: ISSUER, registration_endpoint: REGISTER };
const clientMetadata = { client_name: "Test" };

const register: Answer = ({ body }) =>
  Response.json({ ...JSON.parse(body!), client_id: "new" }, { status: 201 });

/** Registers a client; returns the metadata that the server received. */
async function registered(server: object, options: IEnsureClientOptions) {
  using stub = stubFetch({ [REGISTER]: register });
  const client = await ensureClient({ ...SERVER, ...server }, {
    ...options,
    fetch: stub.fetch,
  });
  assertEquals([client.issuer, client.client_id], [ISSUER, "new"]);
  return JSON.parse(stub.requests[0]!.body!);
}

Deno.test("ensureClient() completes the metadata for the code flow", async () => {
  const metadata = await registered({
    token_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
  }, { clientMetadata, redirectUri: new URL(REDIRECT_URI) });
  assertEquals(metadata, {
    client_name: "Test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  });
});

Deno.test("ensureClient() completes the metadata for the device flow", async () => {
  const { redirect_uris, grant_types, response_types } = await registered(
    {},
    { clientMetadata },
  );
  assertEquals([redirect_uris, response_types], [[], []]);
  assertEquals(grant_types, [
    "urn:ietf:params:oauth:grant-type:device_code",
    "refresh_token",
  ]);
});

Deno.test("ensureClient() registers an authentication method that the server lists", async () => {
  for (
    const [listed, method] of [
      [undefined, undefined],
      [["client_secret_basic", "client_secret_post"], undefined],
      [["client_secret_post"], "client_secret_post"],
      [["none"], "none"],
      [["private_key_jwt", "none"], "none"],
    ] as const
  ) {
    const { token_endpoint_auth_method } = await registered({
      token_endpoint_auth_methods_supported: listed,
    }, { clientMetadata, redirectUri: REDIRECT_URI });
    assertEquals(token_endpoint_auth_method, method);
  }
});

Deno.test("ensureClient() leaves refresh_token out if the server lists grant types without it", async () => {
  const { grant_types } = await registered({
    grant_types_supported: ["authorization_code"],
  }, { clientMetadata, redirectUri: REDIRECT_URI });
  assertEquals(grant_types, ["authorization_code"]);
});

Deno.test("ensureClient() keeps the caller's metadata, and adds the redirect URI to it", async () => {
  const given = {
    client_name: "Test",
    redirect_uris: ["https://app.example/"],
    grant_types: ["authorization_code"],
    token_endpoint_auth_method: "client_secret_post",
    application_type: "web",
    logo_uri: "https://app.example/logo.png",
  };
  const metadata = await registered({}, {
    clientMetadata: given,
    redirectUri: REDIRECT_URI,
  });
  assertEquals(metadata, {
    ...given,
    redirect_uris: ["https://app.example/", REDIRECT_URI],
    response_types: ["code"],
  });
});

Deno.test("ensureClient() skips known clients that cannot be used", async () => {
  const usable = { issuer: ISSUER, client_id: "c1" };
  const knownClients = [
    { ...usable, client_id: "other", issuer: "https://other.example" },
    { ...usable, client_id: "uri", redirect_uris: ["http://127.0.0.1:1/"] },
    { ...usable, client_id: "expired", client_secret_expires_at: 1 },
    usable,
  ];
  const options = { knownClients, redirectUri: REDIRECT_URI };
  assertEquals(await ensureClient(SERVER, options), usable);
  const own = { ...usable, redirect_uris: ["https://x.example", REDIRECT_URI] };
  assertEquals(
    await ensureClient(SERVER, { ...options, knownClients: [own] }),
    own,
  );
  // Without a redirect URI, its registration does not matter.
  const { client_id } = await ensureClient(SERVER, { knownClients });
  assertEquals(client_id, "uri");
});

Deno.test("ensureClient() prefers a client metadata document to a registration", async () => {
  const clientMetadataUrl = "https://app.example/client.json";
  const { client_id } = await ensureClient({
    ...SERVER,
    client_id_metadata_document_supported: true,
  }, { clientMetadata, clientMetadataUrl });
  assertEquals(client_id, clientMetadataUrl);
});

Deno.test("ensureClient() fails if there is no client and none can be registered", async () => {
  for (
    const [server, options, code, message] of [
      [
        { issuer: ISSUER },
        { clientMetadata },
        "unsupported",
        `No client for authorization server ${ISSUER}: set client to one that ` +
        "you have, as the server offers no registration",
      ],
      [
        { issuer: ISSUER, client_id_metadata_document_supported: true },
        { clientMetadata },
        "unsupported",
        "set clientMetadataUrl, as the server accepts client metadata documents",
      ],
      [
        { issuer: ISSUER },
        { knownClients: [{ issuer: "https://x.example", client_id: "c1" }] },
        "unsupported",
        "knownClients has clients of https://x.example only; set client",
      ],
      [
        { issuer: ISSUER },
        {
          knownClients: [{
            issuer: `${ISSUER}/`,
            client_id: "c1",
            redirect_uris: ["https://app.example/other"],
          }],
          redirectUri: "https://app.example/callback",
        },
        "unsupported",
        "the one in knownClients has another redirect URI",
      ],
      [
        SERVER,
        {},
        "unsupported",
        "set clientMetadata to register one, or client",
      ],
      [SERVER, { clientMetadata: {} }, "invalid_argument", "client_name"],
    ] as const
  ) {
    const error = await assertRejects(
      () => ensureClient(server, untyped(options)),
      OAuthClientError,
      message,
    );
    assertEquals(error.code, code);
  }
});
