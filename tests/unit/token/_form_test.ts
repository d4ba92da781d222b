import { assertEquals, assertThrows } from "@std/assert";
import {
  formOf,
  type FormParameter,
  furtherParameters,
  joinScopes,
} from "../../../lib/token/_form.ts";
import { OAuthClientError } from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

Deno.test("formOf() keeps the parameters that are not undefined, in their order", () => {
  const rows: [FormParameter[], body: string][] = [
    [[], ""],
    [[["a", undefined], ["b", ""]], "b="],
    [[["b", "1"], ["c", undefined], ["a", "2"]], "b=1&a=2"],
    [[["a", "1"], ["a", "2"]], "a=1&a=2"],
    // RFC 6749, appendix B.
    [[["a b", "1+1=2&\u00fc%"]], "a+b=1%2B1%3D2%26%C3%BC%25"],
    [[["__proto__", "1"]], "__proto__=1"],
  ];
  for (const [parameters, body] of rows) {
    assertEquals(formOf(parameters).toString(), body);
  }
});

Deno.test("joinScopes() puts one space between scopes", () => {
  const rows: [scopes: string[], joined: string][] = [
    [[], ""],
    [["read"], "read"],
    [["b", "a", "b"], "b a b"],
  ];
  for (const [scopes, joined] of rows) {
    assertEquals(joinScopes(Object.freeze(scopes)), joined);
  }
});

Deno.test("joinScopes() rejects what is not a list of scope values", () => {
  for (const scopes of [undefined, null, "read", {}, [1], [""], ["a b"]]) {
    const error = assertThrows(
      () => joinScopes(untyped(scopes)),
      OAuthClientError,
      "scopes must be an array of ",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("furtherParameters() leaves out those without a value", () => {
  assertEquals(furtherParameters(undefined, ["a"]), []);
  const parameters = { x: "1", y: "", A: "2" };
  assertEquals(furtherParameters(parameters, ["a"]), [["x", "1"], ["A", "2"]]);
});
