/** The examples of tests/readme/: they stand in README.md as they are, and work. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
import {
  clientSecretBasic,
  discoverAuthorizationServer,
  getClaimsFromJWT,
  type IToken,
} from "../../mod.ts";
import { getToken } from "./code_flow.ts";
import { getTokenForUser } from "./cross_app_access.ts";
import { getDeviceToken } from "./device_flow.ts";
import {
  discoverFrom,
  REDIRECT_URI,
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import {
  startIdentityProvider,
  startRedeemingServer,
  type TrustedSigners,
} from "../servers/cross_app_access.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

const root = new URL("../..", import.meta.url);

/** The lines of a file, without the empty one behind its end. */
async function linesOf(path: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(path, root));
  return text.trimEnd().split("\n");
}

/** The lines between the braces of a file's only function. */
function bodyOf(lines: string[]): string[] {
  const start = lines.findIndex((line) => line.startsWith("export async"));
  const opened = lines.findIndex((line, n) => n >= start && / \{$/.test(line));
  const closed = lines.indexOf("}", opened);
  assert(start >= 0 && opened >= start && closed > opened);
  assertEquals(closed, lines.length - 1, "something follows the function");
  return lines.slice(opened + 1, closed);
}

/** The most lines of the function's body, and of the whole file. */
const EXAMPLES: [name: string, body: number, file: number][] = [
  ["code_flow", 40, 60],
  ["device_flow", 24, 24],
  ["cross_app_access", 24, 24],
];

for (const [name, maxBody, maxFile] of EXAMPLES) {
  Deno.test(`README.md shows ${name}.ts as it is`, async () => {
    const example = (await linesOf(`tests/readme/${name}.ts`)).join("\n");
    const readme = (await linesOf("README.md")).join("\n");
    const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)]
      .map(([, code = ""]) => code);
    assert(
      blocks.some((code) => code.includes(`${example}\n`)),
      `no block of README.md holds tests/readme/${name}.ts`,
    );
  });

  Deno.test(`${name}.ts is short`, async () => {
    const lines = await linesOf(`tests/readme/${name}.ts`);
    const { length } = bodyOf(lines);
    assert(length <= maxBody, `${length} lines in the function`);
    assert(lines.length <= maxFile, `${lines.length} lines in the file`);
  });
}

/** Changes the body of a reply. */
type Change = (url: string, body: string) => string | Promise<string>;

/**
 * Reads every reply to its end, as a program ends which shows examples only: they
 * leave the body of the 401 unread.
 */
function stubGlobalFetch(change: Change = (_url, body) => body) {
  const original = globalThis.fetch;
  return stub(globalThis, "fetch", async (input, init) => {
    const response = await original(input, init);
    const body = await change(String(input), await response.text());
    const { status, headers } = response;
    return new Response(body || null, { status, headers });
  });
}

async function assertTaken(resource: string, token: IToken, sub: string) {
  assertEquals(await statusFor(resource, token), 200);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.aud, claims.sub], [resource, sub]);
}

for (const path of ["", "/tenant1"]) {
  Deno.test(`getToken() leads from a 401 to a 200, issuer path "${path}"`, async () => {
    await using servers = await startFlowServers({ path });
    const { resource } = servers.context;
    const browser = createBrowser({ login: "ada" });
    using _fetch = stubGlobalFetch();
    const token = await getToken(
      resource,
      REDIRECT_URI,
      async (url) => (await browser.authorize(url)).href,
    );
    await assertTaken(resource, token, "ada");
    assert(token.refresh_token);
  });
}

Deno.test("getDeviceToken() leads from a context to a 200", async () => {
  await using servers = await startFlowServers();
  const { context } = servers;
  const { clientId } = await registerPublicClient(context);
  const shown: string[] = [];
  let code = "";
  // The user is quick, and so is the interval.
  using _fetch = stubGlobalFetch(async (url, body) => {
    const endpoint = context.serverMetadata.device_authorization_endpoint;
    if (url !== endpoint) return body;
    const { user_code, verification_uri, ...rest } = JSON.parse(body);
    code = user_code;
    const text = await createBrowser({ login: "ada" })
      .activate(verification_uri, user_code);
    assertStringIncludes(text, "Go back to your device.");
    return JSON.stringify({
      user_code,
      verification_uri,
      ...rest,
      interval: 0.001,
    });
  });
  const token = await getDeviceToken(
    context,
    clientId,
    (text) => shown.push(text),
  );
  assertEquals(shown.length, 1);
  assertStringIncludes(shown[0]!, code);
  assertStringIncludes(shown[0]!, `Open ${context.issuer}/device`);
  await assertTaken(context.resource, token, "ada");
});

Deno.test("getTokenForUser() leads from an ID token to a 200", async () => {
  // Who the client is, as the example has it.
  const redirectUri = REDIRECT_URI;
  const atIdp = { id: "id-at-the-idp", secret: "s3cret", redirectUri };
  const atServer = { id: "id-at-the-as", secret: "0ther", redirectUri };
  const clientIds = new Map<string, string>();
  const trusted: TrustedSigners = new Map();
  await using idp = await startIdentityProvider(atIdp, clientIds);
  await using server = await startRedeemingServer(atServer, trusted);
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
  });
  clientIds.set(server.issuer, atServer.id);
  trusted.set(idp.issuer, { signer: idp.signer, typ: "oauth-id-jag+jwt" });
  const { serverMetadata } = await discoverAuthorizationServer(idp.issuer);
  const context = await discoverFrom(protectedResource.resource);
  const { id_token = "" } = await signIn({ serverMetadata }, {
    client: clientSecretBasic(atIdp.id, atIdp.secret),
    browser: createBrowser({ login: "ada" }),
    scopes: ["openid"],
  });
  const token = await getTokenForUser(serverMetadata, context, id_token);
  await assertTaken(context.resource, token, "ada");
});
