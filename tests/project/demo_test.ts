/**
 * Runs the demo as `deno task demo` does, but in this process, so that the
 * sanitizers find what it leaves open.
 */
import {
  assert,
  assertEquals,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { OAuthClientError } from "../../mod.ts";
import { createOutput, type IStepReport } from "../../scripts/demo/output.ts";
import { createProgress, runSteps } from "../../scripts/demo/steps.ts";
import { type IDemoOptions, runDemo } from "../../scripts/demo.ts";
import { createLoopbackReceiver } from "../../lib/native/loopback_receiver.ts";
import { createBrowser } from "../servers/browser.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

async function run(args: string[], options?: IDemoOptions) {
  const lines: string[] = [];
  const status = await runDemo(args, (line) => lines.push(line), options);
  return { status, lines, text: lines.join("\n") };
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

function unexpected(): never {
  throw new Error("No user is expected");
}

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/;

/** The requests of the discovery, as method, status and path. */
const DISCOVERY = [
  "GET 200 /.well-known/oauth-protected-resource/mcp",
  "GET 404 /.well-known/oauth-authorization-server/as",
  "GET 404 /.well-known/openid-configuration/as",
  "GET 200 /as/.well-known/openid-configuration",
];

Deno.test("runDemo() gets from a 401 to a 200 with its own servers", async () => {
  const { status, lines } = await run(["--json"]);
  const steps: IStepReport[] = lines.map((line) => JSON.parse(line));
  assertEquals(
    steps.map(({ step, requests = [] }) => [
      step,
      ...requests.map(({ method, status, url, grant_type = "" }) =>
        `${method} ${status} ${new URL(url).pathname} ${grant_type}`.trim()
      ),
    ]),
    [
      ["unauthorized", "GET 401 /mcp"],
      ["challenge"],
      ["discovery", ...DISCOVERY],
      ["registration", "POST 201 /as/reg"],
      ["token", "POST 200 /as/token client_credentials"],
      ["claims"],
      ["call", "GET 200 /mcp"],
      ["device_authorization", "POST 200 /as/device/auth"],
      [
        "device_token",
        "POST 400 /as/token device_code",
        "POST 200 /as/token device_code",
      ],
      ["device_call", "GET 200 /mcp"],
      ["authorization"],
      ["code_token", "POST 200 /as/token authorization_code"],
      ["code_call", "GET 200 /mcp"],
      [
        "authorized_fetch",
        "GET 401 /mcp",
        ...DISCOVERY,
        "POST 201 /as/reg",
        "POST 200 /as/token authorization_code",
        "GET 200 /mcp",
      ],
      [
        "authorized_fetch_refresh",
        "POST 200 /as/token refresh_token",
        "GET 200 /mcp",
      ],
      ["end"],
    ],
  );
  assertEquals(status, 0);
  assert(steps.every(({ ok, result, ms }) => ok && result !== "" && ms >= 0));
});

Deno.test("runDemo() prints lines of at most 80 characters without tokens, codes or secrets", async () => {
  using watch = watchSecrets();
  const plain = await run([]);
  const json = await run(["--json"]);
  assertEquals([plain.status, json.status], [0, 0]);
  // Two runs with five tokens each, of which four can be refreshed, and one is.
  assertEquals(
    [...watch.secrets].map(([name, values]) => [name, values.size]),
    [
      ["access_token", 10],
      ["client_secret", 2],
      ["code", 4],
      ["code_verifier", 4],
      ["device_code", 2],
      ["refresh_token", 8],
      ["state", 4],
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
  const lines = plain.text.split("\n");
  assertEquals(lines.filter((line) => line.length > 80), []);
  assertEquals(
    lines.filter((line) => /^ ?\d+ {2}.* ms$/.test(line)).length,
    15,
  );

  const { text } = await run([], { colour: true });
  assertStringIncludes(text, "\x1b[32m 1\x1b[0m  Call the resource");
  assert(!text.includes("\x1b[31m"));
});

Deno.test("runDemo() waits for the user's own browser with --browser", async () => {
  const opened: string[] = [];
  const open = async (url: string) => {
    opened.push(new URL(url).pathname);
    const back = await createBrowser().authorize(new URL(url));
    await (await fetch(back)).body?.cancel();
  };
  const { status, text } = await run(["--browser"], {
    createReceiver: () => createLoopbackReceiver({ open, print() {} }),
  });
  assertEquals([status, opened], [0, ["/as/auth"]], text);
  assertStringIncludes(text, "createAuthorizedFetch() with codeFlow()");
});

Deno.test("runSteps() prints the error of a step in red and stops", async () => {
  const reached: string[] = [];
  const print = async (json: boolean) => {
    const lines: string[] = [];
    const output = createOutput((line) => lines.push(line), {
      json,
      colour: true,
    });
    const step = { action: "Do", expected: "200" };
    const run = (error?: Error) => () => {
      reached.push(error?.name ?? "none");
      if (error) throw error;
      return { result: "done" };
    };
    const details = { url: "https://as.example/token", status: 400 };
    const error = new OAuthClientError("oauth_error", "No token", details);
    const ok = await runSteps(
      [
        { ...step, name: "one", run: run() },
        { ...step, name: "two", run: run(error) },
        { ...step, name: "three", run: run() },
      ],
      createProgress({
        target: "https://api.example/",
        machine: { id: "", secret: "" },
        receiver: { redirectUri: "", visit: unexpected },
      }),
      output,
    );
    assertEquals(ok, false);
    return lines;
  };
  assertStringIncludes(
    (await print(false)).join("\n"),
    "\x1b[31m    No token (expected 200)\x1b[0m",
  );
  const { step, ok, expected, error } = JSON.parse((await print(true))[1]!);
  assertEquals({ step, ok, expected, error }, {
    step: "two",
    ok: false,
    expected: "200",
    error: {
      name: "OAuthClientError",
      code: "oauth_error",
      message: "No token",
      url: "https://as.example/token",
      status: 400,
    },
  });
  assertEquals(reached, [
    "none",
    "OAuthClientError",
    "none",
    "OAuthClientError",
  ]);
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
    `ready: The metadata of ${server.issuer}`,
  );
  assert(server.requests.every((request) => !request.startsWith("POST ")));
});

Deno.test("runDemo() prints its help, and passes other arguments to the doctor", async () => {
  for (const args of [["--nonsense"], ["https://user:secret@host/path"]]) {
    const errors: string[] = [];
    const { status, lines } = await run(args, {
      printError: (line) => errors.push(line),
    });
    assertEquals([status, lines, errors.length], [2, [], 2]);
    assert(!errors.join().includes("secret"));
  }
  const { status, text } = await run(["--help"]);
  assertEquals(status, 0);
  assertStringIncludes(text, "Exit status: 0");
});
