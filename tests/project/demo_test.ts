/**
 * Runs the demo as `deno task demo` does, but in this process, so that the
 * sanitizers find what it leaves open.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import type { OAuthClientError } from "../../mod.ts";
import type { IStepReport } from "../../scripts/demo/output.ts";
import { type IDemoOptions, runDemo } from "../../scripts/demo.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

async function run(args: string[], options?: IDemoOptions) {
  const lines: string[] = [];
  const status = await runDemo(args, (line) => lines.push(line), options);
  return { status, lines, text: lines.join("\n") };
}

type IJsonLine = Omit<IStepReport, "failures"> & {
  failures?: OAuthClientError[];
};

async function runJson(args: string[]) {
  const { status, lines } = await run([...args, "--json"]);
  const steps: IJsonLine[] = lines.map((line) => JSON.parse(line));
  const find = (name: string) => steps.find(({ step }) => step === name);
  return { status, steps, find };
}

const SECRETS = [
  "access_token",
  "client_secret",
  "code",
  "code_verifier",
  "device_code",
  "refresh_token",
  "state",
  "user_code",
];

/** Collects the secrets of all requests and responses while this is in use. */
function watchSecrets(): Disposable & { secrets: Map<string, Set<string>> } {
  const { fetch } = globalThis;
  const secrets = new Map(SECRETS.map((name) => [name, new Set<string>()]));
  const note = (members: Iterable<[string, unknown]>) => {
    for (const [name, value] of members) {
      if (value) secrets.get(name)?.add(String(value));
    }
  };
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const { body } = init ?? {};
    // The library's own forms, and no registration.
    if (typeof body === "string" && !body.startsWith("{")) {
      note(new URLSearchParams(body));
    }
    if (response.headers.get("Content-Type")?.includes("json")) {
      note(Object.entries(await response.clone().json()));
    }
    const location = response.headers.get("Location") ?? "";
    if (URL.canParse(location)) note(new URL(location).searchParams);
    return response;
  };
  const restore = () => void (globalThis.fetch = fetch);
  return { secrets, [Symbol.dispose]: restore };
}

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/;

Deno.test("runDemo() gets from a 401 to a 200 with its own servers", async () => {
  const { status, steps, find } = await runJson([]);
  assertEquals(
    steps.map(({ step, ok, status }) => [step, ok, status]),
    [
      ["unauthorized", true, 401],
      ["challenge", true, undefined],
      ["discovery", true, undefined],
      ["registration", true, undefined],
      ["id_jag_exchange", true, undefined],
      ["id_jag_redemption", true, undefined],
      ["token", true, undefined],
      ["claims", true, undefined],
      ["call", true, 200],
      ["scopes", true, undefined],
      ["device_authorization", true, undefined],
      ["device_token", true, undefined],
      ["device_call", true, 200],
      ["authorization", true, undefined],
      ["code_token", true, undefined],
      ["code_call", true, 200],
      ["end", true, undefined],
    ],
  );
  assertEquals(status, 0);
  for (const { action, result, ms } of steps) {
    assert(action !== "" && result !== "" && ms >= 0);
  }
  const { failures = [], details } = find("discovery") ?? {};
  assertEquals(
    failures.map(({ url, status }) => [new URL(url ?? "").pathname, status]),
    [
      ["/.well-known/oauth-authorization-server/tenant1", 404],
      ["/.well-known/openid-configuration/tenant1", 404],
    ],
  );
  const url = details?.found_at ?? "";
  assertMatch(url, /\/tenant1\/\.well-known\/openid-configuration$/);
  assertMatch(find("device_token")?.details?.polls ?? "", /^1: .*, 2: /);
  const { received } = find("authorization")?.details ?? {};
  assertEquals(received, "code, state, iss");
});

Deno.test("runDemo() prints plain lines without a token, code or secret", async () => {
  using watch = watchSecrets();
  const plain = await run([]);
  const json = await run(["--json"]);
  assertEquals([plain.status, json.status], [0, 0]);
  // Two runs with three tokens each, of which two can be refreshed.
  assertEquals(
    [...watch.secrets].map(([name, values]) => [name, values.size]),
    [
      ["access_token", 6],
      ["client_secret", 2],
      ["code", 2],
      ["code_verifier", 2],
      ["device_code", 2],
      ["refresh_token", 4],
      ["state", 2],
      ["user_code", 2],
    ],
  );
  for (const { text } of [plain, json]) {
    assertNotMatch(text, CONTROLS);
    assertNotMatch(text, /eyJ/);
    for (const [name, values] of watch.secrets) {
      for (const value of values) assert(!text.includes(value), name);
    }
  }
  const { lines } = plain;
  const steps = lines.filter((line) => /^ ?\d+ {2}.* ms$/.test(line));
  assertEquals(steps.length, 16);
  const failed = lines.filter((line) => line.startsWith("    failed  "));
  assertEquals(failed.length, 2);
  for (const line of failed) {
    assertMatch(line, /http:\S+: 404 .*\(expected 200 and JSON that names/);
  }
  assertMatch(lines.at(-1) ?? "", /both servers are stopped/);

  const { text } = await run([], { colour: true });
  assertStringIncludes(text, "\x1b[32m 1\x1b[0m  GET ");
});

Deno.test("runDemo() runs the doctor for a given URL", async () => {
  await using server = await startAuthorizationServer({ path: "/tenant1" });
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
  });
  const { status, lines, text } = await run([protectedResource.resource]);
  assertEquals([status, lines[0]], [0, protectedResource.resource]);
  assertStringIncludes(
    text,
    `ready: A client can register at ${server.issuer}`,
  );
  assert(server.requests.every((request) => !request.startsWith("POST ")));

  const more = await run(["--register", protectedResource.resource]);
  assertEquals(more.status, 0);
  assertEquals(server.requests.at(-1), "POST /tenant1/reg");
  assertStringIncludes(more.text, "A client is registered at ");
});

Deno.test("runDemo() rejects invalid arguments", async () => {
  for (
    const args of [
      ["--nonsense"],
      ["host/path"],
      ["ftp://host/path"],
      ["https://user:secret@host/path"],
      ["https://host/", "https://other/"],
      ["--register"],
    ]
  ) {
    const errors: string[] = [];
    const { status, lines } = await run(args, {
      printError: (line) => errors.push(line),
    });
    assertEquals([status, lines], [2, []]);
    assertEquals(errors.length, 2);
    assert(!errors.join().includes("secret"));
  }
  const { status, text } = await run(["--help"]);
  assertEquals(status, 0);
  assertStringIncludes(text, "Exit status: 0");
});
