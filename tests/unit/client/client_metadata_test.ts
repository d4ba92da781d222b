/** A client metadata document contains what servers accept, under its own URL. */

import { assertEquals } from "@std/assert";
import {
  buildClientMetadata,
  type BuildClientMetadataOptions,
} from "../../../mod.ts";
import { pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";

const MINIMAL = {
  url: "https://tool.example/client.json",
  clientName: "My tool",
  redirectUris: ["http://127.0.0.1:33418/callback"],
};
const KEY = { kty: "EC", crv: "P-256", x: "a".repeat(43), y: "b".repeat(43) };

Deno.test("buildClientMetadata() builds the document of a public native client", () => {
  assertEquals(buildClientMetadata(MINIMAL), {
    client_id: MINIMAL.url,
    response_types: ["code"],
    application_type: "native",
    client_name: "My tool",
    redirect_uris: MINIMAL.redirectUris,
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  });
});

Deno.test("buildClientMetadata() accepts URLs, keys and further members", () => {
  const document = buildClientMetadata({
    url: new URL(MINIMAL.url),
    clientName: "My tool",
    redirectUris: [new URL("https://tool.example/callback")],
    clientUri: new URL("https://tool.example/"),
    logoUri: "https://tool.example/logo.png",
    scopes: ["read", "write"],
    jwks: { keys: [KEY] },
    clientMetadata: { tos_uri: "https://tool.example/tos" },
  });
  assertEquals(document, {
    client_id: MINIMAL.url,
    client_name: "My tool",
    redirect_uris: ["https://tool.example/callback"],
    client_uri: "https://tool.example/",
    logo_uri: "https://tool.example/logo.png",
    scope: "read write",
    jwks: { keys: [KEY] },
    tos_uri: "https://tool.example/tos",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "private_key_jwt",
    application_type: "web",
  });
  const { jwks_uri, token_endpoint_auth_method } = buildClientMetadata({
    ...MINIMAL,
    jwksUri: new URL("https://tool.example/jwks.json"),
  });
  assertEquals(jwks_uri, "https://tool.example/jwks.json");
  assertEquals(token_endpoint_auth_method, "private_key_jwt");
});

Deno.test("buildClientMetadata() needs no redirect URI for other grants", () => {
  const grant_types = ["urn:ietf:params:oauth:grant-type:jwt-bearer"];
  const { redirect_uris, response_types } = buildClientMetadata({
    ...MINIMAL,
    redirectUris: [],
    clientMetadata: { grant_types },
  });
  assertEquals([redirect_uris, response_types], [[], []]);
});

Deno.test("buildClientMetadata() lets no member replace the client_id", () => {
  const clientMetadata = { client_id: "https://evil.example/client.json" };
  const { client_id } = buildClientMetadata({ ...MINIMAL, clientMetadata });
  assertEquals(client_id, MINIMAL.url);
});

Deno.test("buildClientMetadata() refuses what servers refuse", () => {
  const rows: Partial<BuildClientMetadataOptions>[] = [
    { url: "http://tool.example/client.json" },
    { url: "https://tool.example" },
    { url: "https://tool.example/a#b" },
    { url: "https://tool.example:443/a" },
    { url: "https://tool.example/a/../b" },
    { clientName: "" },
    { redirectUris: [] },
    { redirectUris: untyped(undefined) },
    { redirectUris: ["/callback"] },
    { redirectUris: ["https://tool.example/#a"] },
    { redirectUris: ["http://tool.example/"] },
    { redirectUris: ["javascript:alert(1)"] },
    { clientUri: "http://tool.example/" },
    { logoUri: "logo.png" },
    { jwks: { keys: [] } },
    { jwks: untyped([KEY]) },
    { jwks: { keys: [{ ...KEY, y: "eQ" }] } },
    { jwks: { keys: [{ ...KEY, d: "ZA" }] } },
    { jwks: { keys: [{ kty: "oct", k: "aw" }] } },
    { jwks: { keys: [KEY] }, jwksUri: MINIMAL.url },
    { jwksUri: "http://tool.example/jwks" },
    ...["client_secret", "registration_access_token"].map((name) => ({
      clientMetadata: { [name]: "s3cret" },
    })),
    { clientMetadata: { redirect_uris: ["a"] } },
    { redirectUris: {} as [] },
    { clientMetadata: { contacts: ["a".repeat(5_000)] } },
    ...["client_secret_basic", "client_secret_jwt", "private_key_jwt"].map((
      token_endpoint_auth_method,
    ) => ({ clientMetadata: { token_endpoint_auth_method } })),
  ];
  for (const changed of rows) {
    const call = () => buildClientMetadata({ ...MINIMAL, ...changed });
    pinThrown(call, "invalid_argument");
  }
});
