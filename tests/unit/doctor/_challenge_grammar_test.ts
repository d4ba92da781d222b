/** The grammar of a `WWW-Authenticate` header: what is valid, and what is not. */

import { assert, assertEquals } from "@std/assert";
import { challengeProblem } from "../../../lib/doctor/_challenge_grammar.ts";
import { cpuTimeMs } from "../../support/cpu_time.ts";
import { hugeTexts } from "../../support/challenge_texts.ts";

Deno.test("challengeProblem() accepts schemes, parameters and token68", () => {
  const values = [
    "",
    " \t",
    ",, ,\t,",
    "Bearer",
    " Bearer ",
    "Negotiate, Bearer",
    ",Negotiate,,\t,Bearer,",
    "Bearer a=b",
    "bEaReR ReAlM=X",
    'Bearer a="b", c=d',
    "Bearer a=b,c=d , e=f",
    "Bearer a=b,,\t, c=d,",
    "Bearer   a=b",
    "Bearer a \t=\t b , c= d",
    'Bearer a = "b"',
    "Bearer ,a=b",
    "Negotiate YII=",
    "X a",
    "X a==",
    "X -._~+/09azAZ==",
    "X abc , Y",
    "A b=c, D e=f",
    "A b=c, D e",
    "A b=c, d =e",
    "A constructor=b",
    "A b=c, A b=d",
    "!#$%&'*+-.^_`|~ a=b",
    "X !#$%&'*+-.^_`|~=1",
    'Negotiate YII=, bearer Scope = "a \\"b\\""',
    'Basic realm="x, y", DPoP algs="ES256 PS256", Bearer',
    ...[
      '""',
      '" "',
      '"a,b=c"',
      '"\\""',
      '"\\\\"',
      '"\\a"',
      '"a\tb"',
      '"\u00ff"',
    ]
      .map((quoted) => `X a=${quoted}, b=c, Y`),
  ];
  for (const value of values) {
    assertEquals(challengeProblem(value), undefined, value);
  }
});

Deno.test("challengeProblem() rejects what the grammar does not allow", () => {
  const values = [
    ...["=", "=a", '"a"', "a=b", "Bearer a b", "Bearer a=b c=d"],
    ...["Bearer a=b c", 'Bearer a="b" c="d"', 'Bearer a="b"c'],
    ...['Bearer a=b"c"', 'Bearer a="b', 'Bearer a="b\\', 'Bearer a="b\\"'],
    ...['Bearer "a"="b"', 'Bearer "a"', "Bearer a=b;c=d e", "Bearer a:b"],
    ...["Bearer =b", "Bear(er a=b", "B\u00e9arer", "Bearer a\u00e9=b"],
    ...["Bearer a=b\u00a0c", "Bearer\u00a0a=b", "Bearer a=b, /"],
    ...["Bearer\na=b", "@"],
    // One or more spaces follow a scheme, and no tab.
    "Bearer\ta=b",
    "Bearer\tYII=",
    "Bearer \ta=b",
    // Only a quoted value can be empty.
    "Bearer realm=, scope=read",
    "Bearer a=b, c=",
    "Bearer a=b, c= , d=e",
    // Parameters follow a scheme, not a comma or a token68.
    "Basic, a=b",
    "Basic\t, a=b",
    "Negotiate YII=, a=b",
    "Negotiate YII, a=b",
    "X a==, b=c",
    "X a= , b=c",
    // Section 5.6.4: neither control characters nor more than one octet.
    'Bearer a="\u0000"',
    'Bearer a="b\nc"',
    'Bearer a="\u007f"',
    'Bearer a="\\\u0000"',
    'Bearer a="\u0100"',
    'Bearer a="\u20ac"',
    'Bearer a="\u{1f600}"',
    ...["https://api.example/m?a=b", "a==b", "a/b", "a:b", "\u00e9"]
      .map((unquoted) => `Bearer a=b, c=${unquoted}, d=e`),
  ];
  for (const value of values) {
    assert(challengeProblem(value)?.startsWith("not as in"), value);
  }
  assertEquals(
    challengeProblem("Bearer a=https://api.example/m"),
    "not as in the grammar from character 0",
  );
});

Deno.test("challengeProblem() rejects a parameter that occurs twice", () => {
  for (const value of ["X a=1, a=2", "X a=1, A=1", 'X a="1", b=2, a=1']) {
    assertEquals(challengeProblem(value), "the parameter a occurs twice");
  }
  assertEquals(challengeProblem("X a=1, Y a=2"), undefined);
});

Deno.test("challengeProblem() needs linear time for 64 kB of repeated patterns", () => {
  const start = cpuTimeMs();
  for (const text of hugeTexts()) challengeProblem(text);
  // In quadratic time it is minutes.
  assert(cpuTimeMs() - start < 20_000);
});
