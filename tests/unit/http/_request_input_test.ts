import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { mergeHeaders, requireOptions } from "../../../lib/http/_request.ts";
import { type IFetchResponse, OAuthClientError } from "../../../mod.ts";
import { never, untyped } from "../../support/stub_fetch.ts";

Deno.test("mergeHeaders() lets the later of two same names win", () => {
  type Source = Record<string, string> | undefined;
  const rows: [sources: Source[], merged: unknown][] = [
    [[], {}],
    [[undefined], {}],
    [[{ A: "1" }, undefined, { B: "2" }], { A: "1", B: "2" }],
    [[{ A: "1" }, { A: "2" }], { A: "2" }],
    [[{ Accept: "1" }, { accept: "2" }], { Accept: "2" }],
    [[{ A: "1" }, { a: "2", "X-B": "3" }], { A: "2", "X-B": "3" }],
    [[{ "X-A": "1", "x-a": "2" }], { "X-A": "2" }],
  ];
  for (const [sources, expected] of rows) {
    assertEquals(mergeHeaders(...sources), expected);
  }
});

Deno.test("mergeHeaders() gives a plain object and leaves its sources alone", () => {
  const first = JSON.parse('{"__proto__":"x"}');
  const second = { accept: "2" };
  const merged = mergeHeaders({ Accept: "1" }, first, second);
  assertEquals(Object.keys(merged), ["Accept", "__proto__"]);
  assertStrictEquals(Object.getPrototypeOf(merged), Object.prototype);
  assertEquals(second, { accept: "2" });
});

Deno.test("mergeHeaders() refuses what is no plain object of strings", () => {
  const sources = ["abc", 7, null, new Headers({ A: "1" }), { A: 1 }];
  for (const source of sources) {
    const error = assertThrows(
      () => mergeHeaders({ A: "1" }, untyped(source)),
      OAuthClientError,
      "headers must be a plain object of strings",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("requireOptions() hands options on and makes some of nothing", () => {
  const options = { fetch: () => never<IFetchResponse>() };
  assertStrictEquals(requireOptions(options), options);
  assertEquals(requireOptions(undefined), {});
  assertEquals(requireOptions(untyped(null)), {});
  const { signal } = new AbortController();
  assertStrictEquals(requireOptions({ signal }).signal, signal);
  assertEquals(requireOptions({ fetch: undefined }), { fetch: undefined });
  for (const limit of [0.5, 1, 2 ** 40, Infinity, undefined]) {
    const limits = { timeoutMs: limit, maxBytes: limit };
    assertStrictEquals(requireOptions(limits), limits);
  }
});

Deno.test("requireOptions() names what has the wrong type", () => {
  const rows: [options: unknown, message: string][] = [
    ["x", "options must be an object"],
    [7, "options must be an object"],
    [true, "options must be an object"],
    [() => {}, "options must be an object"],
    [{ fetch: "x" }, "options.fetch must be a function"],
    [{ fetch: {} }, "options.fetch must be a function"],
    [{ signal: {} }, "options.signal must be an AbortSignal"],
    [{ signal: "x" }, "options.signal must be an AbortSignal"],
    [
      { signal: new AbortController() },
      "options.signal must be an AbortSignal",
    ],
    ...[true, "x", {}, new URL("https://a.example")].map((
      allowUrl,
    ): [unknown, string] => [
      { allowUrl },
      "options.allowUrl must be a function",
    ]),
    ...["timeoutMs", "maxBytes"].flatMap((name) =>
      [0, -1, NaN, -Infinity, "10", true, {}, 10n].map((
        value,
      ): [unknown, string] => [
        { [name]: value },
        `options.${name} must be a positive number`,
      ])
    ),
  ];
  for (const [options, message] of rows) {
    const error = assertThrows(
      () => requireOptions(untyped(options)),
      OAuthClientError,
    );
    assertEquals([error.code, error.message], ["invalid_argument", message]);
  }
});
