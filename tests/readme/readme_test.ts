/** The examples in this folder are in README.md, character for character, and work. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
import { getClaimsFromJWT, type IToken } from "../../mod.ts";
import { getToken } from "./code_flow.ts";
import { getTokenForUser } from "./cross_app_access.ts";
import { getDeviceToken } from "./device_flow.ts";
import {
  REDIRECT_URI,
  registerPublicClient,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { startCrossApp } from "../servers/cross_app_access.ts";

const root = new URL("../..", import.meta.url);

/** Returns the lines of a file. */
async function linesOf(path: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(path, root));
  return text.trimEnd().split("\n");
}

/** Returns the lines of the body of a file's only function. */
function bodyOf(lines: string[]): string[] {
  const start = lines.findIndex((line) => line.startsWith("export async"));
  const opened = lines.findIndex((line, n) => n >= start && / \{$/.test(line));
  const closed = lines.indexOf("}", opened);
  assert(start >= 0 && opened >= start && closed > opened);
  assertEquals(closed, lines.length - 1, "expected nothing after the function");
  return lines.slice(opened + 1, closed);
}

/** The limits of lines: of the body of the function, and of the file. */
const EXAMPLES: [name: string, body: number, file: number][] = [
  ["code_flow", 40, 60],
  ["device_flow", 24, 24],
  ["cross_app_access", 24, 24],
];

for (const [name, maxBody, maxFile] of EXAMPLES) {
  Deno.test(`README.md contains ${name}.ts`, async () => {
    const example = (await linesOf(`tests/readme/${name}.ts`)).join("\n");
    const readme = (await linesOf("README.md")).join("\n");
    const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)]
      .map(([, code = ""]) => code);
    assert(
      blocks.some((code) => code.includes(`${example}\n`)),
      `no code block of README.md contains tests/readme/${name}.ts`,
    );
  });

  Deno.test(`${name}.ts is short`, async () => {
    const lines = await linesOf(`tests/readme/${name}.ts`);
    const { length } = bodyOf(lines);
    assert(length <= maxBody, `${length} lines in the function`);
    assert(lines.length <= maxFile, `${lines.length} lines in the file`);
  });
}

/** Returns what a response has as its body in place of `body`. */
type Change = (url: string, body: string) => string | Promise<string>;

/** Replaces the global `fetch` by one that changes the bodies of responses. */
function stubGlobalFetch(change: Change) {
  const original = globalThis.fetch;
  return stub(globalThis, "fetch", async (input, init) => {
    const response = await original(input, init);
    const body = await change(String(input), await response.text());
    const { status, headers } = response;
    return new Response(body || null, { status, headers });
  });
}

async function assertAccepted(resource: string, token: IToken, sub: string) {
  assertEquals(await statusFor(resource, token), 200);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.aud, claims.sub], [resource, sub]);
}

for (const path of ["", "/tenant1"]) {
  Deno.test(`getToken() gets from a 401 to a 200, issuer path "${path}"`, async () => {
    await using servers = await startFlowServers({ path });
    const { resource } = servers.context;
    const browser = createBrowser({ login: "ada" });
    const token = await getToken(
      resource,
      REDIRECT_URI,
      async (url) => (await browser.authorize(url)).href,
    );
    await assertAccepted(resource, token, "ada");
    assert(token.refresh_token);
  });
}

Deno.test("getDeviceToken() gets from discovery to a 200", async () => {
  await using servers = await startFlowServers();
  const { context } = servers;
  const { clientId } = await registerPublicClient(context);
  const messages: string[] = [];
  let code = "";
  // The user enters the code before the first poll, and the interval is short.
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
    (text) => messages.push(text),
  );
  assertEquals(messages.length, 1);
  assertStringIncludes(messages[0]!, code);
  assertStringIncludes(messages[0]!, `Open ${context.issuer}/device`);
  await assertAccepted(context.resource, token, "ada");
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
