/** The command: arguments, output and exit status. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import type { Diagnosis } from "../../lib/doctor/mod.ts";
import {
  all,
  type Change,
  only,
  server,
  status,
  withoutCors,
} from "./_changes.ts";
import { absent } from "./_sign_in_world.ts";
import { report, SNAPSHOTS, snapshotUrl } from "./_snapshots.ts";
import { remote, run, startWorld, TARGET } from "./_world.ts";
import { REPOSITORY } from "../../lib/doctor/report/_repository.ts";
import { findingsPage } from "../../lib/doctor/report/_text.ts";
import { eachRowInTurn } from "../support/each_row.ts";

/** A file that has no header field. */
const SECRET = new URL("secret.txt", import.meta.url).pathname;

/** A client stops whatever its options. */
const STOPS = ["broken", "unreachable"];

for (const [name, change] of Object.entries(SNAPSHOTS)) {
  Deno.test(`runDoctor() prints the report of the snapshot ${name}`, async () => {
    const { text, status } = await report(change);
    const snapshot = await Deno.readTextFile(snapshotUrl(name));
    // The snapshots are of a time when the repository had no URL.
    const [page, unknown] = [REPOSITORY, undefined]
      .map((repository) => findingsPage(repository).join("\n"));
    assertEquals(
      text.replace(page!, unknown!),
      snapshot,
      "written by tests/doctor/_snapshots.ts",
    );
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
    [["https://a.example", "--header", "X"], /--header requires "Name: value"/],
    [
      ["https://a.example", `--header-file=${SECRET}`],
      /--header-file requires "Name: value"/,
    ],
    [["https://a.example", "--header", "X Y: z"], /\bX\b/],
    [["\u001b[31mx"], /^'\ufffd\[31mx' is not/],
  ];
  await eachRowInTurn(rows, async ([args, message]) => {
    const { status, errors, text } = await run(args);
    assertEquals(status, 2, args.join(" "));
    assertMatch(errors[0] ?? "", message);
    assertEquals(text, "");
  });
});

Deno.test("runDoctor() prints JSON alone with --json", async () => {
  await using world = startWorld();
  const { text, errors } = await run(["--json", "--", world.target]);
  const diagnosis: Diagnosis = JSON.parse(text);
  assertEquals(diagnosis.verdict, "ready");
  assertEquals(errors, []);
});

Deno.test("runDoctor() names the option for an API without metadata, and uses its file", async () => {
  const fetch = remote(all(status(401), only()));
  const { status: code, text } = await run([TARGET], { fetch });
  const flat = text.replace(/\s+/g, " ");
  assertEquals(code, 0);
  assertMatch(flat, / needs option: The authorization server is not known\. /);
  const sentence =
    "A client continues if it has the server's metadata from its documentation and has a " +
    "client ID from the operator of the API.";
  assertStringIncludes(flat, sentence);
  assertStringIncludes(
    flat,
    "--sign-in --server-metadata FILE --client-id ID " + TARGET,
  );
  assertStringIncludes(flat, "Issuer https://api.example (assumed)");
  const { pathname } = new URL("server.json", import.meta.url);
  const named = await run([TARGET, `--server-metadata=${pathname}`], { fetch });
  assertMatch(named.text, /\nneeds client: /);
  assertMatch(named.text, /Issuer +https:\/\/as\.example\n/);
  assertMatch(named.text, /Given +`--server-metadata`\n/);
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
      seen.push(...["X-A", "X-B", "X-C"].map((name) => headers.get(name)));
      return new Response(null, { status: 401 });
    };
  });
  const { pathname } = new URL("fields.txt", import.meta.url);
  await run([
    ...[world.target, "--header", "X-A: one: two", "--header=X-B:3"],
    `--header-file=${pathname}`,
  ]);
  assertEquals(seen.slice(0, 3), ["one: two", "3", "four"]);
});

Deno.test("runDoctor() says that it registers a client before it does", async () => {
  const log: string[] = [];
  await using world = startWorld(({ handlers }) => {
    handlers["POST /as/register"] = async (request) => {
      const { scope } = await request.json();
      log.push(scope ? "refused" : "registered");
      return Response.json({ client_id: "c1" }, { status: scope ? 400 : 201 });
    };
  });
  const printError = (line: string) => log.push(line);
  const createReceiver = () => absent;
  await run([world.target, "--sign-in"], { printError, createReceiver });
  assertEquals(log, [
    `Registers a client at ${world.model.origin}/as/register`,
    "refused",
    "registered",
  ]);
});

/** Replaces the file system; `page` is the report that was written. */
function pageFiles() {
  const written = { page: "" };
  const files = {
    requireWritable: () => Promise.resolve(),
    writeTextFile: (_: string, text: string) =>
      Promise.resolve(void (written.page = text)),
  };
  return { files, written };
}

Deno.test("runDoctor() proposes no command with an option that decides who receives a token", async () => {
  const other = "https://other.example";
  const rows: [args: string[], Change, caution: RegExp][] = [
    [
      ["--trusted-issuer", `https://api.example/as=${other}`],
      server({ issuer: other }),
      /A server that claims another server's identity may be trying to steal its codes and tokens/,
    ],
    [
      ["--allow-http"],
      server({ revocation_endpoint: "http://as.example/revoke" }),
      /use --allow-http, on a network that no one else can read/,
    ],
  ];
  await eachRowInTurn(rows, async ([given, change, caution]) => {
    const { files, written } = pageFiles();
    const fetch = remote(change);
    const { text } = await run([TARGET, "--html=x.html"], { fetch, files });
    const flat = text.replace(/\s+/g, " ");
    assertNotMatch(text + written.page, /try it/i);
    assertMatch(flat, caution);
    // Its value stands beside the caution alone.
    assertNotMatch(flat.split("Not tried:")[0] ?? "", /other\.example/);
    const trusted = await run([TARGET, ...given], { fetch });
    assertStringIncludes(
      trusted.text.replace(/\s+/g, " "),
      `try it: oauth-helper doctor --sign-in ${given.join(" ")} ${TARGET} `,
    );
  });
});

Deno.test("runDoctor() tells the author of a page what the page sets, not the command", async () => {
  const { text } = await run([TARGET, "--browser"], {
    fetch: remote(withoutCors("/as/register")),
  });
  assertStringIncludes(
    text.replace(/\s+/g, " "),
    "Client A page needs the `issuer` and the `client_id` of a client that",
  );
});

Deno.test("runDoctor() names the command that tries what it has not tried, in words of the command", async () => {
  const fetch = remote(server({
    registration_endpoint: undefined,
    code_challenge_methods_supported: undefined,
  }));
  const target = `${TARGET}?a=1&b='2'`;
  const { files, written } = pageFiles();
  const { text } = await run([target, "--html=x.html"], { fetch, files });
  const flat = text.replace(/\s+/g, " ");
  assertStringIncludes(
    flat,
    `Not tried: authorization endpoint, token endpoint. To try it: ` +
      `oauth-helper doctor --sign-in --assume-pkce --client-id ID ` +
      `'${TARGET}?a=1&b=%272%27'`,
  );
  assertStringIncludes(
    flat,
    "Hint use --assume-pkce if it is known to support PKCE",
  );
  assertStringIncludes(flat, "Options `--assume-pkce`, `--client-id`");
  assertNotMatch(text + written.page, /assumePkce/);
  assertStringIncludes(
    written.page,
    `doctor --sign-in --assume-pkce --client-id ID &#39;${TARGET}?…&#39;`,
  );
  const { text: json } = await run([target, "--json"], { fetch });
  assertStringIncludes(json, "set assumePkce: true if the server is known");
  assertNotMatch(json, /--assume-pkce/);
});
