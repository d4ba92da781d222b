/** What `events.md` shows is what `onEvent` is called with. */
import { assert, assertEquals } from "@std/assert";
import { codeFlow, createAuthorizedFetch } from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { replaceGlobals } from "../support/globals.ts";
import { pageAt } from "../support/markdown.ts";
import { log } from "./logger.ts";

const PAGE = pageAt("events.md");

Deno.test("events.md contains tests/readme/logger.ts, which has six lines", () => {
  const logger = Deno.readTextFileSync(new URL("logger.ts", import.meta.url));
  assert(PAGE.includes(`\`\`\`ts\n${logger}\`\`\`\n`));
  const [, code = ""] = logger.split("*/\n");
  assert(code.trimEnd().split("\n").length <= 6);
});

Deno.test("events.md shows what the logger prints", async () => {
  const { resource, fetch, now, receiver } = createTestServers({
    now: () => 1_795_000_000_000,
  });
  const printed: string[] = [];
  const error = (line: string) => void printed.push(line);
  using _replaced = replaceGlobals({ console: { error } });
  const authorize = codeFlow(receiver);
  const options = { fetch, now, flow: authorize, onEvent: log };
  await createAuthorizedFetch(resource, options)(resource);
  const lines = printed.map((line) =>
    line.replace(/durationMs=\d+/, "durationMs=3")
      .replace(/client_id=\S+/, "client_id=client-1")
  );
  const [, shown = ""] = /```text\n(.*?)```/s.exec(PAGE) ?? [];
  const isOwn = (line: string) => /request purpose=(?!resource )/.test(line);
  assertEquals(
    lines.filter((line) => !isOwn(line)),
    shown.trimEnd().split("\n"),
  );
});
