/** Hostile servers: the diagnosis ends, and prints nothing that controls a terminal. */

import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import { cpuTimeMs } from "../support/cpu_time.ts";
import { LIMIT_MS } from "../support/within.ts";
import {
  all,
  challenge,
  type Change,
  documents,
  only,
  resource,
  responding,
  server,
} from "./_changes.ts";
import {
  diagnosed,
  idsOf,
  type Model,
  remote,
  RESOURCE_PATH,
  run,
  served,
  SERVER_PATH,
  startWorld,
  TARGET,
} from "./_world.ts";

const UNSAFE =
  // deno-lint-ignore no-control-regex
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]|\p{Cf}/u;

function endless(): Response {
  const chunk = new TextEncoder().encode(`{"a":"${"x".repeat(60_000)}"`);
  return new Response(
    new ReadableStream({ pull: (controller) => controller.enqueue(chunk) }),
    { headers: { "Content-Type": "application/json" } },
  );
}

/** A response that comes once the client has gone. */
function silent(request: Request): Promise<Response> {
  return new Promise((resolve) =>
    request.signal.addEventListener("abort", () => resolve(new Response(null)))
  );
}

const silence = responding(silent, "/mcp");

const redirect = (location: string) => () =>
  new Response(null, { status: 302, headers: { Location: location } });

/** Puts characters that control a terminal into everything that JSON can carry. */
function poison({ resourceMetadata, serverMetadata, resource }: Model) {
  const text =
    "\u001b[2J\u001b]0;title\u0007\u202eevil\u200b\u{e0001}\u2066\u0085\r\n\u0000x";
  Object.assign(resourceMetadata, {
    resource: `https://${text}.example/`,
    scopes_supported: [text, "none"],
    bearer_methods_supported: [text],
    [text]: null,
  });
  Object.assign(serverMetadata, {
    issuer: `https://as.example/${text}`,
    code_challenge_methods_supported: [text],
    response_modes_supported: [text],
    token_endpoint_auth_methods_supported: [text],
    [`x${text}`]: [],
  });
  resource.headers["WWW-Authenticate"] =
    'Bearer error="\u009b31m\u0085", scope="\u009b, x" error="y"';
}

const HOSTILE: Record<string, Change> = {
  "control characters in every string": poison,
  "characters that cannot be seen in a URL": ({ serverMetadata }) => {
    serverMetadata.registration_endpoint += "?\u200b\u{e0001}\u00ad";
  },
  "control characters in place of JSON": ({ documents }) => {
    for (const document of Object.values(documents)) {
      document.body = "\u001b[31m\u202e<script>\u0000";
      document.headers = { "Content-Type": "text/\u009bplain" };
    }
  },
  "endless bodies": responding(endless, "/mcp", RESOURCE_PATH, SERVER_PATH),
  "silence at the resource": silence,
  "silence at the metadata": responding(silent, SERVER_PATH),
  "silence at preflight requests": responding(silent, "OPTIONS /mcp"),
  "redirects to itself": responding(
    redirect(SERVER_PATH),
    "/mcp",
    SERVER_PATH,
  ),
  "redirects to data and file URLs": all(
    responding(redirect("file:///etc/passwd"), "/mcp"),
    responding(redirect("data:application/json,{}"), RESOURCE_PATH),
  ),
  "deep and large documents": documents(() => ({
    [SERVER_PATH]: served("[".repeat(200_000)),
    [RESOURCE_PATH]: served({ resource: "x".repeat(900_000) }),
  })),
  "members of every wrong type": ({ resourceMetadata, serverMetadata }) => {
    for (const metadata of [resourceMetadata, serverMetadata]) {
      Object.keys(metadata).forEach((name, index) => {
        const values = [7, {}, [[]], true, "", [null], "x"];
        if (name !== "resource" && name !== "issuer") {
          metadata[name] = values[index % values.length];
        }
      });
    }
  },
  "members named as those of objects": ({ resourceMetadata, documents }) => {
    const json = JSON.stringify(resourceMetadata).slice(0, -1);
    documents[RESOURCE_PATH] = served(
      `${json},"__proto__":{"x":1},"constructor":null,"toString":1}`,
    );
  },
};

for (const [name, change] of Object.entries(HOSTILE)) {
  Deno.test(`runDoctor() ends and prints plain lines for ${name}`, async () => {
    await using world = startWorld(change);
    const start = performance.now();
    const statuses: number[] = [];
    const timeout = name.startsWith("silence") ? "--timeout=1" : "--timeout=9";
    for (const format of ["--browser", "--json"]) {
      const args = [world.target, "--browser", timeout, format];
      const { status, text, errors, progress } = await run(args);
      statuses.push(status);
      const lines = [...text.split("\n"), ...errors, ...progress];
      assertNotMatch(lines.join("\n"), UNSAFE);
      if (format === "--json") assert(text.startsWith("{"));
      else for (const line of lines) assert(line.length <= 80, line);
    }
    assert(["0,0", "1,1"].includes(`${statuses}`), `${statuses}`);
    assert(performance.now() - start < LIMIT_MS, "It took too long");
  });
}

Deno.test("diagnose() ends at a challenge of 1 MB", async () => {
  const challenge = 'Bearer a="'.padEnd(1_048_576, 'b", c="d\u001b') + "\u0000";
  const diagnosis = await diagnose(TARGET, {
    // HTTP stacks refuse such a header field before a client sees it.
    fetch: (url) =>
      Promise.resolve({
        status: url === TARGET ? 401 : 404,
        statusText: "",
        headers: {
          get: (name) => name === "WWW-Authenticate" ? challenge : null,
        },
        body: null,
        text: () => Promise.resolve(""),
        json: () => Promise.resolve(""),
      }),
  });
  const text = JSON.stringify(diagnosis);
  assertNotMatch(text, UNSAFE);
  assert(text.length < 20_000);
});

/** A number of different strings, slightly less than 1 MB of JSON. */
const many = (prefix: string) =>
  Array.from({ length: 100_000 }, (_, i) => `${prefix}-${i.toString(36)}`);

/** Documents that once took time in proportion to the square of their size. */
const LARGE: [name: string, finding: string, change: Change][] = [
  [
    "many scopes of the resource and of the server",
    "warning scope_not_listed",
    all(
      challenge("Bearer"),
      resource({ scopes_supported: many("r") }),
      server({ scopes_supported: many("s") }),
    ),
  ],
];

for (const [name, finding, change] of LARGE) {
  Deno.test(`diagnose() needs less than 5 s for ${name}`, async () => {
    const fetch = remote(change);
    const start = cpuTimeMs();
    const diagnosis = await diagnose(TARGET, { fetch });
    assert(cpuTimeMs() - start < 5_000, "It took too long");
    assert(idsOf(diagnosis).includes(finding), "The rule did not apply");
  });
}

Deno.test("diagnose() makes no further request to a host that is silent", async () => {
  const { steps, verdict, ids } = await diagnosed(all(silence, only()), {
    timeoutMs: 200,
  });
  // The resource, and two URLs for each document of discovery.
  assertEquals(steps.length, 5);
  assertEquals([ids, verdict], [["error no_response"], "unreachable"]);
});
