import { assertEquals, assertThrows } from "@std/assert";
import { formOf, joinScopes } from "../../../lib/token/_form.ts";
import { OAuthClientError } from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

Deno.test("formOf() keeps the members that have a value, in their order", () => {
  const rows: [[string, string | undefined][], text: string][] = [
    [[], ""],
    [[["a", undefined], ["b", ""]], ""],
    [[["b", "1"], ["a", "2"]], "b=1&a=2"],
    [[["b", "1"], ["c", undefined], ["a", "2"], ["d", ""]], "b=1&a=2"],
    [[["a", "1"], ["a", "2"]], "a=1&a=2"],
    [[["a", "0"], ["b", " "], ["c", "false"]], "a=0&b=+&c=false"],
    // RFC 6749, appendix B.
    [[["a b", "1+1=2&\u00fc%"]], "a+b=1%2B1%3D2%26%C3%BC%25"],
    [[["__proto__", "1"]], "__proto__=1"],
  ];
  for (const [members, text] of rows) {
    const form = formOf(members);
    assertEquals(form instanceof URLSearchParams, true);
    assertEquals(form.toString(), text);
  }
});

Deno.test("joinScopes() puts one space between scopes", () => {
  const rows: [scopes: string[], text: string][] = [
    [[], ""],
    [["read"], "read"],
    [["b", "a"], "b a"],
    [["a", "a"], "a a"],
    [
      ["openid", "https://a.example/.default"],
      "openid https://a.example/.default",
    ],
  ];
  for (const [scopes, text] of rows) {
    assertEquals(joinScopes(Object.freeze(scopes)), text);
  }
});

Deno.test("joinScopes() refuses what is no list of texts", () => {
  const holes = ["a", , "b"];
  for (
    const scopes of [undefined, null, "read", 1, {}, [1], ["a", null], holes]
  ) {
    const error = assertThrows(
      () => joinScopes(untyped(scopes)),
      OAuthClientError,
      "scopes must be an array of strings",
    );
    assertEquals(error.code, "invalid_argument");
  }
});
