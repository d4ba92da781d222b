/** The examples in this folder are in README.md, character for character, and work. */
import { exportPKCS8 } from "jose";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  getClaimsFromJWT,
  type ISession,
  type IToken,
  OAuthClientError,
} from "../../mod.ts";
import config from "../../deno.json" with { type: "json" };
import {
  findLinkedPaths,
  replaceLinks,
} from "../../scripts/support/package_readme.ts";
import { startFlowServers, statusFor } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { startCrossApp } from "../servers/cross_app_access.ts";
import { ec, generate } from "../support/keys.ts";
import { getTokenForUser } from "./cross_app_access.ts";
import { device, known, service, signed } from "./other_grants.ts";
import { callback, login } from "./web_server.ts";

const root = new URL("../..", import.meta.url);

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, root));
}

const EXAMPLES = [
  "tests/examples/cli_login.ts",
  "tests/readme/other_grants.ts",
  "tests/readme/cross_app_access.ts",
  "tests/readme/web_server.ts",
];

for (const path of EXAMPLES) {
  Deno.test(`README.md contains ${path}`, () => {
    const blocks = [
      ...read("README.md").matchAll(/^```ts[^\n]*\n(.*?)^```$/gms),
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

Deno.test("findLinkedPaths() and replaceLinks() leave URLs and sections as they are", () => {
  const markdown = "[a](lib/a.ts#b) [c](https://x.example/y) [d](#e) [f](g/h)";
  assertEquals(findLinkedPaths(markdown), ["lib/a.ts", "g/h"]);
  assertEquals(
    replaceLinks(markdown, (path) => `p/${path}`),
    "[a](p/lib/a.ts#b) [c](https://x.example/y) [d](#e) [f](p/g/h)",
  );
});

async function assertAccepted(resource: string, token: IToken, sub: string) {
  assertEquals(await statusFor(resource, token), 200);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.aud, claims.sub], [resource, sub]);
}

Deno.test("login() and callback() share a sign-in by the storage of the user", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.context;
  const user = new Map<string, string>();
  const redirect = await login(servers.context, user);
  assertEquals([redirect.status, user.size], [302, 1]);
  const url = redirect.headers.get("Location") ?? "";
  const target = await createBrowser({ login: "ada" }).authorize(url);
  assertEquals((await callback(new Request(target), user)).status, 302);
  assertEquals([...user.keys()], ["session"]);
  const session: ISession = JSON.parse(user.get("session") ?? "");
  await assertAccepted(resource, session.token, "ada");
  assertEquals((await callback(new Request(target), user)).status, 400);
});

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

Deno.test("known, service and signed send their credentials to no other issuer", async () => {
  const pair = await generate(ec("P-256"), true);
  const pem = await exportPKCS8(pair.privateKey);
  await using servers = await startFlowServers();
  const { context } = servers;
  for (const authorize of [known, service, signed(pem)]) {
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
