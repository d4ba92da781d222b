/** The command: arguments, output and exit status. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import type { IDiagnosis } from "../../lib/doctor/mod.ts";
import { server } from "./_changes.ts";
import { report, SNAPSHOTS, snapshotUrl } from "./_snapshots.ts";
import { remote, run, startWorld, TARGET } from "./_world.ts";

/** A client stops whatever its options. */
const STOPS = ["broken", "unreachable"];

for (const [name, change] of Object.entries(SNAPSHOTS)) {
  Deno.test(`runDoctor() prints the report of the snapshot ${name}`, async () => {
    const { text, status } = await report(change);
    assertEquals(text, await Deno.readTextFile(snapshotUrl(name)));
    for (const line of text.split("\n")) assert(line.length <= 80, line);
    assertEquals(status, STOPS.includes(name) ? 1 : 0);
  });
}

Deno.test("runDoctor() returns 0 for a server that needs a client", async () => {
  const fetch = remote(server({ registration_endpoint: undefined }));
  assertEquals((await run([TARGET], { fetch })).status, 0);
});

Deno.test("runDoctor() prints colours only if it is told to", async () => {
  const { broken = () => {} } = SNAPSHOTS;
  const { text: plain } = await report(broken);
  const { text: coloured } = await report(broken, true);
  assert(!plain.includes("\x1b"));
  assertStringIncludes(coloured, "\x1b[31m");
  // deno-lint-ignore no-control-regex
  assertEquals(coloured.replaceAll(/\x1b\[\d+m/g, ""), plain);
});

Deno.test("runDoctor() returns 2 for invalid arguments", async () => {
  const rows: [args: string[], message: RegExp][] = [
    [[], /doctor requires a URL/],
    [["api.example"], /'api\.example' is not an http or https URL/],
    [["ftp://api.example/"], /is not an http or https URL/],
    [["https://user:pw@api.example/"], /without credentials/],
    [["https://a.example", "https://b.example"], /doctor takes one URL/],
    [["--jsn", "https://a.example"], /Unknown option '--jsn'/],
    [["--\u001b[2J"], /^Unknown option '--\ufffd\[2J'/],
    [["https://a.example", "--timeout"], /--timeout requires a value/],
    [["https://a.example", "--timeout=-1"], /a number of seconds/],
    [["https://a.example", "--header", "X"], /requires "Name: value"/],
    [["https://a.example", "--header", "X Y: z"], /header field/],
    [["\u001b[31mx"], /^'\ufffd\[31mx' is not/],
  ];
  for (const [args, message] of rows) {
    const { status, errors, text } = await run(args);
    assertEquals(status, 2, args.join(" "));
    assertMatch(errors[0] ?? "", message);
    assertEquals(text, "");
  }
});

Deno.test("runDoctor() prints JSON alone with --json", async () => {
  await using world = startWorld();
  const { text, errors } = await run(["--json", "--", world.target]);
  const diagnosis: IDiagnosis = JSON.parse(text);
  assertEquals(diagnosis.verdict, "ready");
  assertEquals(errors, []);
});

Deno.test("runDoctor() shows the request that is under way, and clears it", async () => {
  await using world = startWorld();
  const { progress } = await run([world.target]);
  assertEquals(progress[0], `GET ${world.target}`.slice(0, 79));
  assertEquals(progress.at(-1), "");
});

Deno.test("runDoctor() sends the header fields that it is given", async () => {
  const seen: unknown[] = [];
  await using world = startWorld(({ handlers }) => {
    handlers["/mcp"] = ({ headers }) => {
      seen.push(headers.get("X-A"), headers.get("X-B"));
      return new Response(null, { status: 401 });
    };
  });
  await run([world.target, "--header", "X-A: one: two", "--header=X-B:3"]);
  assertEquals(seen.slice(0, 2), ["one: two", "3"]);
});

Deno.test("runDoctor() says that it registers a client before it does", async () => {
  const log: string[] = [];
  await using world = startWorld(({ handlers }) => {
    handlers["POST /as/register"] = () => {
      log.push("registered");
      return Response.json({ client_id: "c1" }, { status: 201 });
    };
  });
  const printError = (line: string) => log.push(line);
  await run([world.target, "--register"], { printError });
  assertEquals(log, [
    `Registers a client at ${world.model.origin}/as/register`,
    "registered",
  ]);
});

Deno.test("runDoctor() accepts another resource for the URL, and names the option for it", async () => {
  const inside = "http://api.example/mcp";
  const fetch = remote((model) => {
    Object.assign(model.resourceMetadata, { resource: inside });
  });
  const option = `--trusted-resource ${TARGET}=${inside}`;
  const command = `try it: oauth-helper doctor --sign-in ${option} ${TARGET} `;
  const { status, text } = await run([TARGET], { fetch });
  const flat = text.replace(/\s+/g, " ");
  assertEquals(status, 0);
  assertMatch(flat, /^\S+ needs option: `oauth-helper` continues with `--tru/);
  assertStringIncludes(flat, `until then: \`${option}\`.`);
  assertStringIncludes(flat, command);
  const trusted = await run([TARGET, ...option.split(" ")], { fetch });
  assertEquals(trusted.status, 0);
  assertMatch(trusted.text, /\nready: /);
  const found = trusted.text.replace(/\s+/g, " ");
  assertStringIncludes(found, command);
  assertStringIncludes(found, `Given \`${option}\``);
});

Deno.test("runDoctor() names the command that tries what it has not tried, in words of the command", async () => {
  const fetch = remote(server({
    issuer: "https://other.example/a",
    registration_endpoint: undefined,
    code_challenge_methods_supported: undefined,
  }));
  const target = `${TARGET}?a=1&b='2'`;
  let page = "";
  const { text } = await run([target, "--html=x.html"], {
    fetch,
    files: {
      requireWritable: () => Promise.resolve(),
      writeTextFile: (_, text) => Promise.resolve(void (page = text)),
    },
  });
  const flat = text.replace(/\s+/g, " ");
  const options = "--trusted-issuer " +
    "https://api.example/as=https://other.example/a --assume-pkce";
  assertStringIncludes(
    flat,
    `Not tried: authorization endpoint, token endpoint. To try it: ` +
      `oauth-helper doctor --sign-in ${options} --client-id ID ` +
      `'${TARGET}?a=1&b=%272%27'`,
  );
  assertStringIncludes(flat, "With `oauth-helper`: `--assume-pkce`, if");
  assertStringIncludes(flat, "`oauth-helper` continues with `--trusted-issuer");
  assertNotMatch(text + page, /assumePkce|trustedIssuers/);
  assertStringIncludes(
    page,
    `doctor --sign-in ${options} --client-id ID &#39;${TARGET}?…&#39;`,
  );
  const { text: json } = await run([target, "--json"], { fetch });
  assertStringIncludes(json, "`assumePkce: true`");
  assertNotMatch(json, /--assume-pkce/);
});
