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

/** Starts a server on loopback with this handler. */
function serve(handler: Deno.ServeHandler) {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    handler,
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const close = () => server.shutdown();
  return { origin, close, [Symbol.asyncDispose]: close };
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

Deno.test("runDemo() finds the server of a given URL and requests nothing else", async () => {
  await using server = await startAuthorizationServer({ path: "/tenant1" });
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
  });
  const { status, lines, text } = await run([protectedResource.resource]);
  assertEquals(status, 0);
  assertStringIncludes(text, `${server.issuer}/reg, not called`);
  assertMatch(lines.at(-1) ?? "", /^Result: discovery succeeded/);
  assertEquals(protectedResource.requests, [
    "GET /mcp",
    "GET /.well-known/oauth-protected-resource/mcp",
  ]);
  assertEquals(server.requests.length, 3);
  assert(server.requests.every((request) => request.startsWith("GET ")));

  const more = await run(["--register", protectedResource.resource]);
  assertEquals(more.status, 0);
  assertEquals(server.requests.at(-1), "POST /tenant1/reg");
  assertMatch(more.lines.at(-1) ?? "", /discovery and registration succeeded/);
});

Deno.test("runDemo() falls back to the origin of a given URL", async () => {
  await using server = await startAuthorizationServer();
  const { status, find } = await runJson([`${server.issuer}/some/page`]);
  assertEquals(status, 0);
  assertEquals(find("unauthorized")?.ok, false);
  assertEquals(find("challenge")?.ok, false);
  assertEquals(find("resource_metadata")?.failures?.length, 2);
  assertEquals(find("server_metadata")?.ok, true);
  assertEquals(find("end")?.ok, true);
});

Deno.test("runDemo() prints where it stops with a server that publishes nothing", async () => {
  await using server = serve(() =>
    new Response("Nothing here", { status: 404 })
  );
  const { status, lines } = await run([`${server.origin}/mcp`]);
  assertEquals(status, 1);
  const failed = lines.filter((line) => line.startsWith("    failed  "));
  assertEquals(failed.length, 5);
  for (const line of failed) {
    assertMatch(
      line,
      /http:\/\/\S+: 404 Nothing here \(expected 200 and JSON /,
    );
  }
  assert(lines.some((line) => line.includes("only a guess")));
  assertMatch(lines.at(-1) ?? "", /^Result: no authorization/);
});

Deno.test("runDemo() names the URL that does not respond", async () => {
  const server = serve(() => new Response());
  await server.close();
  const { status, text } = await run([`${server.origin}/mcp`]);
  assertEquals(status, 1);
  assertStringIncludes(text, `failed  ${server.origin}/mcp: no response, `);
});

Deno.test("runDemo() escapes control characters of a server", async () => {
  const evil = "\x1b[2J\x9b31m\u202e\u{e0001}";
  await using server = serve((request) => {
    const { origin, pathname } = new URL(request.url);
    if (pathname === "/mcp") {
      const named = 'Bearer resource_metadata="file:///etc/hostname\x9b"';
      const headers = { "WWW-Authenticate": named };
      return new Response(evil, { status: 401, headers });
    }
    if (pathname === "/.well-known/oauth-protected-resource/mcp") {
      const issuer = `${origin}/${evil}`;
      return Response.json({
        resource: `${origin}/mcp`,
        authorization_servers: [issuer, 1],
        scopes_supported: [evil, null],
      });
    }
    if (pathname.startsWith("/.well-known/openid-configuration")) {
      const endpoint = `${origin}/${evil}`;
      return Response.json({
        issuer: endpoint + evil,
        token_endpoint: endpoint,
        registration_endpoint: endpoint,
      });
    }
    return new Response(`<b>${evil}</b>\r\n\0`, { status: 500 });
  });
  for (const args of [[], ["--json"], ["--register"]]) {
    const { status, text } = await run([...args, `${server.origin}/mcp`]);
    assertEquals(status, 0);
    assertNotMatch(text, CONTROLS);
    assertNotMatch(text, /\p{Cf}/u);
    assertStringIncludes(text, "\\u001b[2J\\u009b31m\\u202e\\udb40\\udc01");
    assertStringIncludes(text, "expected an http or https URL");
    assertStringIncludes(
      text,
      "which must not be used (RFC 8414, section 3.3)",
    );
    assertEquals(
      text.includes(": its issuer is"),
      args.includes("--register"),
    );
  }
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
