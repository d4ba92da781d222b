/**
 * Runs the demo as `deno task demo` does, but in this process, so that the
 * sanitizers find what it leaves open.
 */
import { assert, assertEquals, assertNotMatch } from "@std/assert";
import type { StepReport } from "../../scripts/demo/output.ts";
import { runDemo } from "../../scripts/demo.ts";

async function run(args: string[]) {
  const lines: string[] = [];
  const status = await runDemo(args, (line) => lines.push(line));
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

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/;

Deno.test("runDemo() gets from a 401 to a 200, and prints 80 columns without tokens, codes or secrets", async () => {
  using watch = watchSecrets();
  const plain = await run([]);
  const json = await run(["--json"]);
  assertEquals([plain.status, json.status], [0, 0]);
  for (const { text } of [plain, json]) {
    assertNotMatch(text, CONTROLS);
    assertNotMatch(text, /eyJ/);
    for (const [name, values] of watch.secrets) {
      assert(values.size > 0, `no ${name} was sent`);
      for (const value of values) assert(!text.includes(value), name);
    }
  }
  const steps: StepReport[] = json.lines.map((line) => JSON.parse(line));
  assert(steps.every(({ ok }) => ok));
  const { url, status } = steps.at(-2)!.requests!.at(-1)!;
  assertEquals([new URL(url).pathname, status], ["/mcp", 200]);
  assertEquals(
    plain.lines.flatMap((text) => text.split("\n"))
      .filter((line) => line.length > 80),
    [],
  );
});

Deno.test("the demo ends with what to do next: a section of README.md, and a page", async () => {
  const { lines } = await run([]);
  const next = lines.at(-1)!.trim().split("\n");
  const [title, , program = "", guides = ""] = next;
  assertEquals([title, next.length], ["What next:", 4]);
  const read = (path: string) =>
    Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));
  const [, heading] = /"(.+)" in README\.md/.exec(program) ?? [];
  assert(read("README.md").includes(`\n## ${heading}\n`), program);
  assert(read(/\S+$/.exec(guides)![0]), guides);
});
