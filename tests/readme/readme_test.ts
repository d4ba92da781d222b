/** The programs of README.md are in files, character for character, which are checked. */
import { assert, assertEquals } from "@std/assert";
import { getClaimsFromJWT, type Token } from "../../mod.ts";
import config from "../../deno.json" with { type: "json" };
import { reportLines } from "../../lib/cli/commands/_doctor_report.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { statusFor } from "../servers/_flow.ts";
import { startCrossApp } from "../servers/cross_app_access.ts";
import { getTokenForUser } from "../examples/cross_app_access.ts";

const root = new URL("../..", import.meta.url);

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, root));
}

Deno.test("README.md contains the first program, at the top, and the web server", () => {
  const blocks = [
    ...read("README.md").matchAll(/^```ts[^\n]*\n(.*?)^```$/gms),
  ].map(([, code = ""]) => code);
  assertEquals(blocks[0], read("tests/examples/first_program.ts"));
  assert(blocks.includes(read("tests/examples/web_server.ts")));
});

Deno.test("README.md contains the parts of tests/readme/parts.ts", () => {
  const readme = read("README.md");
  const parts = [
    ...read("tests/readme/parts.ts").matchAll(
      /^ *\/\/ part\n(.*?)^ *\/\/ end$/gms,
    ),
  ];
  assertEquals(parts.length, 1);
  for (const [, part = ""] of parts) {
    const code = part.replace(/^ {2}/gm, "");
    assert(readme.includes(code), `README.md lacks\n${code}`);
  }
});

Deno.test("the report in README.md has lines of the doctor's, in order", async () => {
  const servers = createTestServers({
    serverMetadata: { code_challenge_methods_supported: undefined },
  });
  const { resource, fetch } = servers;
  const diagnosis = await diagnose(resource, {
    fetch: (url, init) => fetch(url, init as RequestInit),
  });
  const lines = reportLines(diagnosis, { colour: false }).join("\n");
  const [, shown = ""] = /^\$ npx .*? doctor .*?\n(.*?)^```$/ms
    .exec(read("README.md")) ?? [];
  let start = 0;
  for (const line of shown.split("\n").filter((line) => line !== "")) {
    start = lines.indexOf(line, start);
    assert(start !== -1, `no line, or not in this order: ${line}`);
  }
  assert(shown.includes("pkce_not_listed"));
});

Deno.test("README.md has at most 12 kB", () => {
  assert(new TextEncoder().encode(read("README.md")).length <= 12_000);
});

Deno.test("the links of README.md lead to files that are published", () => {
  const targets = read("README.md").matchAll(/\]\((?!#|[a-z]+:)([^)#]+)/g);
  const links = [...targets].map(([, path = ""]) => path);
  assert(links.length > 20);
  for (const link of links) {
    assert(Deno.statSync(new URL(link, root)), link);
    const published = config.publish.include
      .some((path) => link === path || link.startsWith(`${path}/`));
    assert(published, `publish.include of deno.json lacks ${link}`);
  }
});

async function assertAccepted(resource: string, token: Token, sub: string) {
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
