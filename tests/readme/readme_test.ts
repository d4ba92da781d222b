/** The examples in this folder are in README.md, character for character, and work. */
import { exportPKCS8 } from "jose";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { getClaimsFromJWT, type IToken, OAuthClientError } from "../../mod.ts";
import config from "../../deno.json" with { type: "json" };
import { findLinkedPaths } from "../../scripts/support/package_readme.ts";
import { startFlowServers, statusFor } from "../servers/_flow.ts";
import { startCrossApp } from "../servers/cross_app_access.ts";
import { ec, pairOf } from "../support/keys.ts";
import { getTokenForUser } from "../examples/cross_app_access.ts";
import { device, service, signed } from "./other_grants.ts";

const root = new URL("../..", import.meta.url);

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, root));
}

const EXAMPLES = [
  "tests/examples/command_line.ts",
  "tests/examples/service.ts",
  "tests/examples/page_popup.html",
  "tests/readme/other_grants.ts",
];

for (const path of EXAMPLES) {
  Deno.test(`README.md contains ${path}`, () => {
    const blocks = [
      ...read("README.md").matchAll(/^```(?:ts|html)[^\n]*\n(.*?)^```$/gms),
    ]
      .map(([, code = ""]) => code);
    assert(blocks.includes(read(path)), `no code block is ${path}`);
  });
}

Deno.test("the links of README.md lead to files that are published", () => {
  const links = findLinkedPaths(read("README.md"));
  assert(links.length > 20);
  for (const link of links) {
    assert(Deno.statSync(new URL(link, root)), link);
    const published = config.publish.include
      .some((path) => link === path || link.startsWith(`${path}/`));
    assert(published, `publish.include of deno.json lacks ${link}`);
  }
});

async function assertAccepted(resource: string, token: IToken, sub: string) {
  assertEquals(await statusFor(resource, token), 200);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.aud, claims.sub], [resource, sub]);
}

Deno.test("getTokenForUser() gets from an ID token to a 200", async () => {
  // The credentials of the example.
  const atIdp = { id: "id-at-the-idp", secret: "s3cret" };
  const atServer = { id: "id-at-the-as", secret: "0ther" };
  await using servers = await startCrossApp({
    credentials: { atIdp, atServer },
  });
  const { idpMetadata, context } = servers;
  const idToken = await servers.signInAtIdp("ada");
  const token = await getTokenForUser(idpMetadata, context, idToken);
  await assertAccepted(context.resource, token, "ada");
});

Deno.test("service and signed send their credentials to no other issuer", async () => {
  const pair = await pairOf(ec("P-256"), true);
  const pem = await exportPKCS8(pair.privateKey);
  await using servers = await startFlowServers();
  const { context } = servers;
  for (const authorize of [service, signed(pem)]) {
    const error = await assertRejects(
      () => authorize({ context, scopes: [] }),
      OAuthClientError,
    );
    assertEquals(error.code, "issuer_mismatch");
  }
});

Deno.test("device requires a server with a device authorization endpoint", async () => {
  await using servers = await startFlowServers();
  const { device_authorization_endpoint: _, ...serverMetadata } =
    servers.context.serverMetadata;
  const context = { ...servers.context, serverMetadata };
  const error = await assertRejects(
    () => device({ context, scopes: [] }),
    OAuthClientError,
  );
  assertEquals(error.code, "unsupported");
});
