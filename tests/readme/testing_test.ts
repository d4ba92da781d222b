/** `testing.md` has the endpoints and the switches of the servers for tests. */
import { assert, assertEquals } from "@std/assert";
import { createTestServers } from "../../lib/testing/mod.ts";
import { pageAt, rowsOf, sectionOf } from "../support/markdown.ts";

const PAGE = pageAt("testing.md");

Deno.test("testing.md has the name of each endpoint, and the URLs of both servers", () => {
  const types = new URL("../../lib/testing/request.ts", import.meta.url);
  const [, union = ""] = /type TestEndpoint =(.*?);/s
    .exec(Deno.readTextFileSync(types)) ?? [];
  const [list = ""] = /^- [^]*/m.exec(sectionOf(PAGE, "## The endpoints")) ??
    [];
  const named = (text: string, quote: string) =>
    text.split(quote).filter((_, index) => index % 2 === 1).sort();
  assertEquals(named(list, "`"), named(union, '"'));
  const { resource, issuer } = createTestServers();
  assert(PAGE.includes(`\`${resource}\``) && PAGE.includes(`\`${issuer}\``));
});

Deno.test("testing.md has each switch with its default", () => {
  const rows = rowsOf(sectionOf(PAGE, "## The switches"));
  const servers = createTestServers();
  const events = ["advance", "expireAccessTokens", "revoke", "forgetClients"];
  const others = ["resource", "issuer", "fetch", "now", "receiver", "requests"];
  const log = ["received", "accessTokens", "failNext"];
  const switches = Object.keys(servers)
    .filter((name) => ![...events, ...others, ...log].includes(name));
  assertEquals(rows.map(([name]) => name).sort(), switches.sort());
  for (const [name, , text = ""] of rows) {
    const value: unknown = Reflect.get(servers, name!);
    if (/^[`\d]/.test(text)) {
      assertEquals(text.replaceAll("`", ""), JSON.stringify(value), name);
    } else if (text === "none") {
      assertEquals(Object.keys(Object(value)), [], name);
    }
  }
});

Deno.test("testing.md has each member of the test servers", () => {
  for (const name of Object.keys(createTestServers())) {
    assert(new RegExp(`\\b${name}\\b`).test(PAGE), name);
  }
});
