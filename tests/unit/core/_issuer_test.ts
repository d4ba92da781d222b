import { assertEquals, assertThrows } from "@std/assert";
import {
  isIssuer,
  isSameIssuer,
  requireSameIssuer,
} from "../../../lib/core/_issuer.ts";
import { OAuthClientError } from "../../../mod.ts";
import { AS } from "../../support/fixtures.ts";

Deno.test("isSameIssuer() ignores one slash at the end and nothing else", () => {
  const rows: [a: string, b: string, isSame: boolean][] = [
    [AS, AS, true],
    [AS, `${AS}/`, true],
    [`${AS}:8443`, `${AS}:8443/`, true],
    [`${AS}/t`, `${AS}/t`, true],
    [`${AS}/t`, `${AS}/t/`, true],
    [AS, `${AS}//`, false],
    [`${AS}/t`, `${AS}/t//`, false],
    [AS, `${AS}/?`, false],
    [AS, "https://AS.example", false],
    [AS, `${AS}:443`, false],
    [AS, "http://as.example", false],
    [AS, `${AS}/t`, false],
    [AS, "https://user@as.example", false],
    [AS, ` ${AS}`, false],
    [AS, `${AS}/\n`, false],
    [AS, "", false],
  ];
  for (const [a, b, isSame] of rows) {
    assertEquals(isSameIssuer(a, b), isSame, `${a} and ${b}`);
    assertEquals(isSameIssuer(b, a), isSame, `${b} and ${a}`);
  }
});

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

Deno.test("requireSameIssuer() accepts a slash at the end, and credentials without an issuer", () => {
  for (const registeredWith of [undefined, AS, `${AS}/`]) {
    requireSameIssuer(registeredWith, AS);
  }
  const error = assertThrows(
    () => requireSameIssuer("https://other.example", AS),
    OAuthClientError,
    "https://other.example",
  );
  assertEquals(error.code, "issuer_mismatch");
});
