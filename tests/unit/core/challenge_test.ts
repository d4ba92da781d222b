/** The old parser of challenges follows its six rules. */

import { assert, assertEquals } from "@std/assert";
import { parseWWWAuthenticateHeader } from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";

type Plain = [scheme: string, params: Record<string, string>];

function plain(value: string): Plain[] {
  return parseWWWAuthenticateHeader(value)
    .map(({ scheme, params }) => [scheme, params]);
}

/** Checks header values against the challenges they must give. */
function check(rows: [value: string, expected: Plain[]][]): void {
  for (const [value, expected] of rows) {
    assertEquals(plain(value), expected, JSON.stringify(value));
  }
}

Deno.test("parseWWWAuthenticateHeader() splits on commas outside quotes and drops empty pieces (rule 1)", () => {
  check([
    ["A,B", [["A", {}], ["B", {}]]],
    ["  A  ,\tB\t", [["A", {}], ["B", {}]]],
    [",, ,A,\t,B,,", [["A", {}], ["B", {}]]],
    ['A x="1,2",y=3', [["A", { x: "1,2", y: "3" }]]],
    ['A x="1,B,2"', [["A", { x: "1,B,2" }]]],
    ['"A,B",C', [['"A,B"', {}], ["C", {}]]],
    // A quote opens anywhere, and only a quote ends it.
    ['A x=1"2,3"4', [["A", { x: '1"2,3"4' }]]],
    ['A x="1, B, y=2', [["A", { x: "1, B, y=2" }]]],
    ["A x='1,2'", [["A", { x: "'1" }], ["2'", {}]]],
    // A backslash is a character like any other.
    ['A x="1\\",B,y="2"', [["A", { x: "1\\" }], ["B", { y: "2" }]]],
    ['A x="1\\"2,3"', [["A", { x: '1\\"2' }], ['3"', {}]]],
  ]);
});

Deno.test("parseWWWAuthenticateHeader() starts a challenge at a piece without an equals sign (rule 2)", () => {
  check([
    ["Negotiate", [["Negotiate", {}]]],
    ["  Negotiate  ", [["Negotiate", {}]]],
    ["Basic QWxhZGRpbg", [["Basic QWxhZGRpbg", {}]]],
    ["A B C", [["A B C", {}]]],
    ["A x=1,B,y=2", [["A", { x: "1" }], ["B", { y: "2" }]]],
    ["bearer,BEARER,bearer", [["bearer", {}], ["BEARER", {}], ["bearer", {}]]],
    ['"', [['"', {}]]],
  ]);
});

Deno.test("parseWWWAuthenticateHeader() starts a challenge at a scheme with its first parameter (rule 3)", () => {
  check([
    ['Bearer realm="api"', [["Bearer", { realm: "api" }]]],
    ["A x=1,B y=2", [["A", { x: "1" }], ["B", { y: "2" }]]],
    ["A x=1, B y=2, z=3", [["A", { x: "1" }], ["B", { y: "2", z: "3" }]]],
    // The space that counts is the first one.
    ["A B x=1", [["A", { "B x": "1" }]]],
    ['A x="a b=c"', [["A", { x: "a b=c" }]]],
    // Whitespace before an equals sign makes its name a scheme.
    ['realm = "x"', [["realm", {}]]],
    ['realm ="x"', [["realm", {}]]],
    ['Bearer realm = "x"', [["Bearer", { realm: "x" }]]],
    ['Bearer realm="x", scope = "y"', [
      ["Bearer", { realm: "x" }],
      ["scope", {}],
    ]],
    // The equals sign must not be the first character after that space.
    ["Bearer =x", [["Bearer", {}]]],
    ["Bearer  =x", [["Bearer", { "": "x" }]]],
    ['Bearer  realm="x"', [["Bearer", { realm: "x" }]]],
    ["Bearer \trealm=x", [["Bearer", { realm: "x" }]]],
    // Scheme and token68 with padding.
    ["Basic QQ==", [["Basic", { QQ: "=" }]]],
  ]);
});

Deno.test("parseWWWAuthenticateHeader() gives any other piece with an equals sign to the current challenge (rule 4)", () => {
  check([
    ["x=1", []],
    ["x=1,y=2,A,z=3", [["A", { z: "3" }]]],
    ["x=1 y", []],
    ['A,x="1 2"', [["A", { x: "1 2" }]]],
    ["A,x= 1", [["A", { x: "1" }]]],
    // A tab is no space: this is one parameter, not a scheme with a parameter.
    ["Bearer\trealm=x", []],
    ["A,Bearer\trealm=x", [["A", { "Bearer\trealm": "x" }]]],
    ["A,x=1 y=2", [["A", { x: "1 y=2" }]]],
  ]);
});

Deno.test("parseWWWAuthenticateHeader() reads a parameter at its first equals sign and removes one quote from each end (rule 5)", () => {
  check([
    ["A,=x", [["A", {}]]],
    ["=x", []],
    ["=", []],
    ["A,==", [["A", {}]]],
    ["A,x=", [["A", { x: "" }]]],
    ["A,x==", [["A", { x: "=" }]]],
    ["A,x=1=2", [["A", { x: "1=2" }]]],
    ["A,x\t=\t1", [["A", { x: "1" }]]],
    ['A,x=""', [["A", { x: "" }]]],
    ['A,x="', [["A", { x: "" }]]],
    ['A,x="1', [["A", { x: "1" }]]],
    ['A,x=1"', [["A", { x: "1" }]]],
    ['A,x=""1""', [["A", { x: '"1"' }]]],
    ['A,x=1"2', [["A", { x: '1"2' }]]],
    ['A,x=" 1 "', [["A", { x: " 1 " }]]],
    ['A,x=\t" 1\t" ', [["A", { x: " 1\t" }]]],
    ['A,x="1\\2"', [["A", { x: "1\\2" }]]],
    ['A,"x"=1', [["A", { '"x"': "1" }]]],
    ["A,X=1,x=2", [["A", { X: "1", x: "2" }]]],
    ["A,x=1,x=2", [["A", { x: "2" }]]],
    ["A x=1,x=2,x=3", [["A", { x: "3" }]]],
  ]);
});

Deno.test("parseWWWAuthenticateHeader() completes the last challenge and returns none for an empty value (rule 6)", () => {
  check([
    ["", []],
    [" ", []],
    [" \t ", []],
    [",", []],
    [" , , ", []],
    ["A", [["A", {}]]],
    ["A,", [["A", {}]]],
    ["A x=1,", [["A", { x: "1" }]]],
    ["A,B x=1", [["A", {}], ["B", { x: "1" }]]],
  ]);
});

/** Runs with a setter of `__proto__`, which Deno lacks and other runtimes have. */
function withProtoSetter<T>(run: () => T): T {
  const before = Object.getOwnPropertyDescriptor(Object.prototype, "__proto__");
  const setter = { configurable: true, get: () => Object.prototype, set() {} };
  Object.defineProperty(Object.prototype, "__proto__", setter);
  try {
    return run();
  } finally {
    Reflect.deleteProperty(Object.prototype, "__proto__");
    if (before) Object.defineProperty(Object.prototype, "__proto__", before);
  }
}

Deno.test("parseWWWAuthenticateHeader() keeps any name as an own property of a plain object", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const value = "A " + names.map((name) => `${name}="${name}!"`).join();
  const challenges = withProtoSetter(() => parseWWWAuthenticateHeader(value));
  assertEquals(challenges.length, 1);
  const params = challenges[0]?.params ?? {};
  assertEquals(
    Object.entries(params),
    names.map((name) => [name, `${name}!`]),
  );
  assert(Object.getPrototypeOf(params) === Object.prototype);

  const [empty] = parseWWWAuthenticateHeader("A");
  assert(Object.getPrototypeOf(empty) === Object.prototype);
  assert(Object.getPrototypeOf(empty?.params) === Object.prototype);
  assertEquals(Object.keys(empty ?? {}).sort(), ["params", "scheme"]);
});

Deno.test("parseWWWAuthenticateHeader() rejects anything but a string", () => {
  const wrong: unknown[] = [
    ...[undefined, null, true, 42, 1n, Symbol("A"), []],
    ["A"],
    {},
    new String("A"),
    () => "A",
    new Headers({ "WWW-Authenticate": "A" }),
  ];
  for (const value of wrong) {
    const call = () => parseWWWAuthenticateHeader(value as string);
    const error = assertThrowsCode(call, "invalid_argument");
    assertEquals(error.message, "value must be a string");
  }
});
