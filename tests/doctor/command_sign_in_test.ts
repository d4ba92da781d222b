/** The command with a sign-in, and the report as a file. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { Failure } from "../../lib/cli/_failure.ts";
import type { Diagnosis } from "../../lib/doctor/mod.ts";
import { handler, members, startSignInWorld, user } from "./_sign_in_world.ts";
import { run as runPlain } from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

const run = (
  args: readonly string[],
  io: Parameters<typeof runPlain>[1] = {},
) =>
  runPlain(args, {
    createReceiver(print) {
      print("Open the browser");
      return user;
    },
    ...io,
  });

const SECRET = new URL("secret.txt", import.meta.url).pathname;

Deno.test("runDoctor() signs in with --sign-in, and prints what came of it", async () => {
  await using world = startSignInWorld();
  const { status, text, errors } = await run([world.target, "--sign-in"]);
  assertEquals(status, 0);
  const { origin } = world.model;
  assertEquals(errors, [
    "Open the browser",
    `Registers a client at ${origin}/as/register`,
  ]);
  for (const line of text.split("\n")) assert(line.length <= 80, line);
  const flat = text.replace(/\s+/g, " ");
  assertStringIncludes(flat, `ready: A user has signed in at ${origin}/as:`);
  assertStringIncludes(flat, "Client client-1 (registered)");
  assertStringIncludes(
    flat,
    "Token Bearer, valid for 60 minutes, scope read, refresh token",
  );
  assertStringIncludes(flat, "Revocation done");
  assertMatch(text, /POST {4}\/as\/token · code +200 token +\d/);
  assertMatch(text, /GET {5}\/as\/authorize +- came back/);
  for (const value of world.model.tokens.issued) assert(!text.includes(value));
});

Deno.test("runDoctor() prints the code of --device", async () => {
  await using world = startSignInWorld(
    members("/as/device", { user_code: "WDJB-MJHT", interval: 0.1 }),
  );
  const { target, model: { origin } } = world;
  const { status, text, errors } = await run([target, "--device", "--json"]);
  const diagnosis: Diagnosis = JSON.parse(text);
  assertEquals([status, diagnosis.signIn?.flow], [0, "device"]);
  assertEquals(errors.at(-1), `Open ${origin}/as/activate and enter WDJB-MJHT`);
  assert(!text.includes("WDJB-MJHT"));
});

Deno.test("runDoctor() signs in with the client of --client-id, and its secret from a file", async () => {
  await using world = startSignInWorld();
  const { target, model: { origin, forms } } = world;
  const { text, errors } = await run([
    ...[target, "--sign-in", "--json", "--client-id=c2"],
    ...["--client-secret-file", SECRET, "--issuer", `${origin}/as`],
    ...["--scope", "read write", "--user-agent", "Doctor/1"],
  ]);
  const { signIn }: Diagnosis = JSON.parse(text);
  assertEquals(signIn?.client, { client_id: "c2", source: "option" });
  assertEquals(signIn?.requestedScopes, ["read", "write"]);
  assertEquals(errors, ["Open the browser"]);
  // The first method that the server lists is that of the header field.
  assert(forms.length > 0 && forms.every((form) => !form.has("client_secret")));
  assert(!text.includes("s3cret-in-a-file"));
});

Deno.test("runDoctor() says first what the sign-in with a given client has reached", async () => {
  await using world = startSignInWorld(({ serverMetadata }) => {
    delete serverMetadata.registration_endpoint;
  });
  const { target, model: { origin } } = world;
  const before = await run([target]);
  assertMatch(before.text, /\nneeds client: /);
  const { status, text } = await run([target, "--sign-in", "--client-id=c1"]);
  const flat = text.replace(/\s+/g, " ");
  assertEquals(status, 0);
  assertStringIncludes(
    flat,
    `${target} ready: A user has signed in at ${origin}/as with the client ` +
      "that was given: the resource accepts the token, and the refresh succeeds.",
  );
});

Deno.test("runDoctor() sends a secret to no issuer but that of --issuer", async () => {
  await using world = startSignInWorld();
  const { text, status } = await run([
    ...[world.target, "--sign-in", "--json", "--client-id=c2"],
    ...["--client-secret-file", SECRET, "--issuer=https://as.example"],
  ]);
  const { findings }: Diagnosis = JSON.parse(text);
  assertEquals([status, findings.map(({ id }) => id)], [1, ["request_failed"]]);
  assertEquals(world.model.forms, []);
});

Deno.test("runDoctor() writes a report with --html", async () => {
  await using world = startSignInWorld();
  const log: string[] = [];
  const note = (...words: string[]) => Promise.resolve(void log.push(...words));
  const { status, errors } = await run([world.target, "--html", "x.html"], {
    files: { requireWritable: note, writeTextFile: note },
  });
  assertEquals([status, errors], [0, ["The report is in x.html"]]);
  assertEquals(log.slice(0, 2), ["x.html", "x.html"]);
  assertMatch(log[2] ?? "", /^<!DOCTYPE html>/);
});

Deno.test("runDoctor() tries with --browser and --client-id what a page with that client needs", async () => {
  await using world = startSignInWorld();
  const args = ["--browser", "--client-id=c1", world.target];
  const { status, text } = await run(args);
  assertEquals(status, 0);
  assertMatch(text, /Given +`--client-id`/);
  assert(!/register/.test(text), text);
  assertStringIncludes(
    text.replace(/\s+/g, " "),
    `oauth-helper doctor --sign-in --client-id ID ${world.target}`,
  );
});

Deno.test("runDoctor() returns 2 for options that do not fit", async () => {
  await using world = startSignInWorld();
  const rows: [args: string[], message: RegExp][] = [
    [["--scope=a"], /--scope requires --sign-in/],
    [["--client-id=c"], /--client-id requires --sign-in/],
    [
      ["--browser", "--client-id=c", "--client-secret-file=f"],
      /--client-secret-file requires --sign-in/,
    ],
    [
      ["--client-metadata=https://c.example/", "--html=f"],
      /--client-metadata with --html requires --sign-in/,
    ],
    [["--param=a=b"], /--param requires --sign-in/],
    [
      ["--redirect-uri=http://127.0.0.1:1/callback"],
      /--redirect-uri requires --sign-in/,
    ],
    [["--sign-in", "--client-secret-file=f"], /requires --client-id/],
    [
      ["--sign-in", "--client-id=c", "--client-secret-file=f"],
      /--client-secret-file requires --issuer/,
    ],
    [["--sign-in", "--issuer=https://as.example"], /requires --client-id/],
    [["--sign-in", "--html"], /--html requires a value/],
    [["--trusted-issuer=https://as.example"], /EXPECTED_URL=CLAIMED_URL/],
  ];
  await eachRowInTurn(rows, async ([args, message]) => {
    const { status, errors } = await run([world.target, ...args]);
    assertEquals(status, 2, args.join(" "));
    assertMatch(errors[0] ?? "", message);
  });
});

Deno.test("runDoctor() returns 1 for a file that it cannot use, before any request", async () => {
  await using world = startSignInWorld();
  const secret = ["--client-id=c", "--issuer=https://as.example"];
  const rows: [args: string[], message: RegExp][] = [
    [["--html=/no/such/x.html"], /^--html: .*\/no\/such\/x\.html/],
    [["--client-secret-file=/no/f", ...secret], /^--client-secret-file: /],
  ];
  await eachRowInTurn(rows, async ([args, message]) => {
    const { status, errors } = await run([world.target, "--sign-in", ...args]);
    assertEquals(status, 1);
    assertMatch(errors.at(-1) ?? "", message);
  });
  assertEquals(world.requests, []);
});

Deno.test("runDoctor() passes on the options that a person decides on", async () => {
  const CLAIMED = "https://as.example/?a=b";
  await using world = startSignInWorld((model) => {
    Object.assign(model.serverMetadata, {
      issuer: CLAIMED,
      code_challenge_methods_supported: undefined,
    });
    members("/as/authorize", { iss: CLAIMED })(model);
  });
  const { target, model: { origin } } = world;
  const { status, text } = await run([
    ...[target, "--sign-in", "--json", "--allow-http", "--assume-pkce"],
    ...["--trusted-issuer", `${origin}/as=${CLAIMED}`],
  ]);
  const { verdict, signIn }: Diagnosis = JSON.parse(text);
  assertEquals([status, verdict, signIn?.callStatus], [0, "ready", 200]);
});

Deno.test("runDoctor() returns 130 when it is interrupted, with the tokens revoked", async () => {
  const controller = new AbortController();
  const ended = new Failure(130, "Ended by SIGINT");
  await using world = startSignInWorld(
    handler("GET /mcp", (request, usual) => {
      if (request.headers.has("Authorization")) controller.abort(ended);
      return usual(request);
    }),
  );
  const { target, model: { tokens } } = world;
  const { signal } = controller;
  const { status, text, errors } = await run([target, "--sign-in"], { signal });
  assertEquals([status, text, errors.at(-1)], [130, "", ended.message]);
  assertEquals([tokens.access(), tokens.refresh.size], [[], 0]);
});
