/**
 * The name of a session file stays the same in all versions, and is one on every file
 * system.
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileNameOf } from "../../../lib/cli/_session_file.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

Deno.test("fileNameOf() returns the same names in all versions", async () => {
  const rows: [url: string, account: string | undefined, name: string][] = [
    ["https://api.example/mcp", undefined, "api.example+mcp.json"],
    ["https://api.example/mcp", "work", "api.example+mcp@work.json"],
    ["https://api.example/MCP/", undefined, "api.example+_4d_43_50+.json"],
    [
      "http://127.0.0.1:8080/?a=b",
      "a@b.example/ü",
      "http_3a++127.0.0.1_3a8080+_3fa_3db@a_40b.example+_c3_bc.json",
    ],
  ];
  await eachRowInTurn(rows, async ([url, account, name]) => {
    assertEquals(await fileNameOf({ url, account }), name);
  });
});

Deno.test("fileNameOf() differs by URL and account, also where case is ignored", async () => {
  const long = `https://api.example/${"a".repeat(5_000)}`;
  const names = await Promise.all([
    { url: "https://api.example/mcp" },
    { url: "https://api.example/MCP" },
    { url: "https://api.example/mcp/" },
    { url: "https://api.example/mcp+" },
    { url: "http://api.example/mcp" },
    { url: "https://api.example/mcp", account: "work" },
    { url: "https://api.example/mcp", account: "Work" },
    { url: "https://api.example/mcp", account: "_57ork" },
    { url: "https://api.example/mcp@work" },
    { url: long },
    { url: `${long}b` },
    { url: long, account: "work" },
  ].map(fileNameOf));
  const ignoringCase = new Set(names.map((name) => name.toLowerCase()));
  assertEquals(ignoringCase.size, names.length);
});

Deno.test("fileNameOf() returns a name that every file system has", async () => {
  const rows = [
    `https://api.example/${"A".repeat(5_000)}`,
    "https://[::1]:8080/..%2f?a=b&c=/../x\\y:z*",
    "https://xn--bcher-kva.example/\u00fc",
  ];
  await eachRowInTurn(rows, async (url) => {
    for (const account of [undefined, "../\u202e", "a".repeat(300)]) {
      const name = await fileNameOf({ url, account });
      assertMatch(name, /^[a-z0-9_][a-z0-9_.+@~-]*\.json$/);
      assert(name.length <= 200);
    }
  });
});
