/** An issuer is printable ASCII without query and fragment. */

import { assertEquals } from "@std/assert";
import { isIssuer } from "../../../lib/core/_issuer.ts";
import { AS } from "../../support/fixtures.ts";

Deno.test("isIssuer() accepts printable ASCII without query and fragment", () => {
  for (const issuer of [AS, `${AS}/`, `${AS}/t`, "http://[::1]:80"]) {
    assertEquals(isIssuer(issuer), true, issuer);
  }
  const ends = ["?", "?a=1", "#", "#a", "/t?a#b"];
  for (const end of [...ends, " ", "\n", "\u0000", "\u00fc", "\u202e"]) {
    assertEquals(isIssuer(AS + end), false, end);
  }
  assertEquals(isIssuer(""), false);
});
