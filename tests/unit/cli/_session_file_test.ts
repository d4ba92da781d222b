import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileNameOf } from "../../../lib/cli/_session_file.ts";

Deno.test("fileNameOf() differs by URL and account, also where case is ignored", async () => {
  const names = await Promise.all([
    { url: "https://api.example/mcp" },
    { url: "https://api.example/MCP" },
    { url: "https://api.example/mcp/" },
    { url: "http://api.example/mcp" },
    { url: "https://api.example/mcp", account: "work" },
    { url: "https://api.example/mcp", account: "Work" },
    { url: "https://api.example/mcp work" },
  ].map(fileNameOf));
  assertEquals(new Set(names.map((name) => name.toLowerCase())).size, 7);
  for (const name of names) {
    assertMatch(name, /^api\.example-mcp(-work)?-[a-z0-9]{32}\.json$/);
  }
});

Deno.test("fileNameOf() returns a name that every file system has", async () => {
  for (
    const url of [
      `https://api.example/${"a".repeat(5_000)}`,
      "https://[::1]:8080/..%2f?a=b&c=/../x",
      "https://xn--bcher-kva.example/\u00fc",
    ]
  ) {
    const name = await fileNameOf({ url, account: "../\u202e" });
    assertMatch(name, /^[a-z0-9][a-z0-9.-]*-[a-z0-9]{32}\.json$/);
    assert(name.length <= 100);
  }
});

Deno.test("fileNameOf() returns the same name in all versions", async () => {
  assertEquals(
    await fileNameOf({ url: "https://api.example/mcp", account: "work" }),
    "api.example-mcp-work-ytsdhg85tbbousmi8ne2z6nkzokuh9jn.json",
  );
});
