import { assert, assertEquals } from "@std/assert";
import * as mod from "../../../mod.ts";

// tests/support/public_api.txt has the values of the other constants.

Deno.test("DEFAULT_REDIRECT_URIS holds two hosted pages and two loopback URLs", () => {
  const [first, second, ...loopback] = mod.DEFAULT_REDIRECT_URIS;
  assert(first !== second);
  for (const hosted of [first, second]) {
    // RFC 2606, section 2: names below .example cannot be registered.
    const { protocol, hostname, pathname, search, hash } = new URL(hosted!);
    assertEquals(
      [protocol, hostname.split(".").at(-1), pathname, search, hash],
      ["https:", "example", "/redirect", "", ""],
    );
  }
  assertEquals(loopback, ["http://127.0.0.1/", "http://127.0.0.1:33418/"]);
});

Deno.test("DEFAULT_CLIENT_URI is an https URL with a reserved host name", () => {
  const { protocol, hostname } = new URL(mod.DEFAULT_CLIENT_URI);
  assertEquals([protocol, hostname.split(".").at(-1)], ["https:", "example"]);
});
