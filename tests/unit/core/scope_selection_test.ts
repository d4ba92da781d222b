import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  type IAuthenticationChallenge,
  type ISelectScopesOptions,
  mergeScopes,
  missingScopes,
  OAuthClientError,
  type ScopeList,
  selectScopes,
} from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

Deno.test("mergeScopes() unites lists in the order of first appearance", () => {
  const rows: [lists: ScopeList[], expected: string[]][] = [
    [[], []],
    [[undefined], []],
    [["", []], []],
    [["a"], ["a"]],
    [["a b"], ["a", "b"]],
    [["  a   b "], ["a", "b"]],
    [[["a", "", "b"]], ["a", "b"]],
    [["b a", ["a", "c"], undefined, "c d"], ["b", "a", "c", "d"]],
    [["a a a"], ["a"]],
    [["a A"], ["a", "A"]],
    // Only a space separates (RFC 6749, section 3.3).
    [["a,b a\tb"], ["a,b", "a\tb"]],
    [["__proto__ constructor"], ["__proto__", "constructor"]],
    [["openid https://a.example/.default"], [
      "openid",
      "https://a.example/.default",
    ]],
  ];
  for (const [lists, expected] of rows) {
    assertEquals(mergeScopes(...lists), expected, JSON.stringify(lists));
  }
});

Deno.test("mergeScopes() holds every value of every list once", () => {
  const scope = fc.string({
    unit: fc.constantFrom(..."ab:/."),
    minLength: 1,
    maxLength: 3,
  });
  const lists = fc.array(fc.array(scope, { maxLength: 5 }), { maxLength: 4 });
  fc.assert(fc.property(lists, (arrays) => {
    const merged = mergeScopes(...arrays);
    assertEquals(merged.toSorted(), [...new Set(arrays.flat())].sort());
    assertEquals(new Set(merged).size, merged.length);
    assertEquals(merged, mergeScopes(...arrays.map((one) => one.join(" "))));
    assertEquals(merged, mergeScopes(merged, ...arrays));
    for (const one of arrays) assertEquals(missingScopes(one, merged), []);
  }));
});

Deno.test("mergeScopes() leaves its arguments as they were", () => {
  const held = Object.freeze(["b", "a", "b"]);
  const merged = mergeScopes(held, Object.freeze(["c"]));
  assertEquals(held, ["b", "a", "b"]);
  merged.push("d");
  assertEquals(mergeScopes(held), ["b", "a"]);
});

Deno.test("missingScopes() names what was required and not granted", () => {
  const rows: [required: ScopeList, granted: ScopeList, string[]][] = [
    [undefined, undefined, []],
    ["", "a", []],
    ["a", undefined, ["a"]],
    ["a b", "b a", []],
    ["a b", "b", ["a"]],
    ["b a c", ["c"], ["b", "a"]],
    [["a", "a"], [], ["a"]],
    ["a", "A", ["a"]],
    ["a", "ab", ["a"]],
    ["ab", "a b", ["ab"]],
    [["a", "b"], "a  b", []],
    ["a", ["a b"], ["a"]],
  ];
  for (const [required, granted, expected] of rows) {
    assertEquals(
      missingScopes(required, granted),
      expected,
      JSON.stringify([required, granted]),
    );
  }
});

Deno.test("missingScopes() and mergeScopes() refuse what is no scope list", () => {
  for (const value of [1, true, {}, [1], ["a", null], new Set(["a"])]) {
    const list = value as unknown as ScopeList;
    for (
      const [call, name] of [
        [() => mergeScopes("a", list), "scopes"],
        [() => missingScopes("a", list), "granted"],
        [() => missingScopes(list, "a"), ""],
      ] as const
    ) {
      const error = assertThrows(
        call,
        OAuthClientError,
        `${name} must be an array of strings`,
      );
      assertEquals(error.code, "invalid_argument");
    }
  }
});

const challenge = (scope?: string): IAuthenticationChallenge => ({
  scheme: "Bearer",
  params: scope === undefined ? {} : { scope },
});
const resource = (scopes_supported?: string[]) => ({
  resource: "https://api.example",
  ...(scopes_supported && { scopes_supported }),
});
const server = (scopes_supported?: string[]) => ({
  issuer: "https://as.example",
  response_types_supported: ["code"],
  ...(scopes_supported && { scopes_supported }),
});

Deno.test("selectScopes() takes the challenge, then the resource, then nothing", () => {
  const rows: [ISelectScopesOptions, string[] | undefined][] = [
    [{}, undefined],
    [{ challenge: challenge("a b") }, ["a", "b"]],
    [{ challenge: challenge("a  a b ") }, ["a", "b"]],
    [
      { challenge: challenge("a"), resourceMetadata: resource(["b"]) },
      ["a"],
    ],
    [{ challenge: challenge(), resourceMetadata: resource(["b", "c", "b"]) }, [
      "b",
      "c",
    ]],
    [{ challenge: challenge(""), resourceMetadata: resource(["b"]) }, ["b"]],
    [{ challenge: challenge(" "), resourceMetadata: resource(["b"]) }, ["b"]],
    [{ resourceMetadata: resource(["b", "c"]) }, ["b", "c"]],
    [{ resourceMetadata: resource([]) }, undefined],
    // What is no text is no scope.
    [{ resourceMetadata: resource(["b", untyped(1)]) }, ["b"]],
    [{ resourceMetadata: resource([untyped(1)]) }, undefined],
    [{ resourceMetadata: resource(untyped("b c")) }, undefined],
    [{ resourceMetadata: resource(untyped({})) }, undefined],
    [{ resourceMetadata: resource() }, undefined],
    [{ challenge: challenge(), resourceMetadata: resource() }, undefined],
    // The server's own list is never asked for.
    [{ serverMetadata: server(["x", "y"]) }, undefined],
    [
      { serverMetadata: server(["x"]), resourceMetadata: resource(["b"]) },
      ["b"],
    ],
  ];
  for (const [options, expected] of rows) {
    assertEquals(selectScopes(options), expected, JSON.stringify(options));
  }
});

Deno.test("selectScopes() adds offline_access where it is wanted and listed", () => {
  const offline = server(["openid", "offline_access"]);
  const rows: [ISelectScopesOptions, string[] | undefined][] = [
    [{ offlineAccess: true, serverMetadata: offline }, [
      "a",
      "offline_access",
    ]],
    [{ offlineAccess: false, serverMetadata: offline }, ["a"]],
    [{ serverMetadata: offline }, ["a"]],
    [{ offlineAccess: true }, ["a"]],
    [{ offlineAccess: true, serverMetadata: server() }, ["a"]],
    [{ offlineAccess: true, serverMetadata: server(["openid"]) }, ["a"]],
    ...["offline_access", "no_offline_access", {}, [["offline_access"]]].map(
      (listed): typeof rows[0] => [
        { offlineAccess: true, serverMetadata: server(untyped(listed)) },
        ["a"],
      ],
    ),
  ];
  for (const [options, expected] of rows) {
    const text = JSON.stringify(options);
    const named = { ...options, challenge: challenge("a") };
    assertEquals(selectScopes(named), expected, text);
    const listed = { ...options, resourceMetadata: resource(["a"]) };
    assertEquals(selectScopes(listed), expected, text);
    // Alone it would narrow what the server chooses.
    assertEquals(selectScopes(options), undefined, text);
  }
});

Deno.test("selectScopes() never names offline_access twice", () => {
  assertEquals(
    selectScopes({
      challenge: challenge("offline_access a"),
      serverMetadata: server(["offline_access"]),
      offlineAccess: true,
    }),
    ["offline_access", "a"],
  );
});

Deno.test("selectScopes() hands out a list of its own", () => {
  const scopes = ["a"];
  selectScopes({ resourceMetadata: resource(scopes) })?.push("b");
  assertEquals(scopes, ["a"]);
});

Deno.test("selectScopes() refuses options that are no object", () => {
  for (const options of [undefined, null, 1, "a"]) {
    const error = assertThrows(
      () => selectScopes(untyped(options)),
      OAuthClientError,
      "options must be an object",
    );
    assertEquals(error.code, "invalid_argument");
  }
});
