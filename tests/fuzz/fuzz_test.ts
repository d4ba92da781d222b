import { assert, assertEquals, assertThrows } from "@std/assert";
import { getClaimsFromJWT } from "../../mod.ts";
import { referenceDecodeJwt, strictDecodeJwt } from "./_claims_reference.ts";
import {
  assertClaimsError,
  PROPERTIES,
  runProperty,
  seedFrom,
} from "./properties.ts";

const INPUTS = 100_000;
const seed = seedFrom(Deno.env.get("FUZZ_SEED"));
console.log(
  `Fuzzing with ${INPUTS} inputs; FUZZ_SEED=${seed} repeats them`,
);

for (const one of PROPERTIES) {
  Deno.test(one.name, () => {
    const inputs = runProperty(one, INPUTS, seed);
    assertEquals(inputs, INPUTS * one.percent / 100);
  });
}

Deno.test("the properties share all of the fuzzer's inputs", () => {
  const percents = PROPERTIES.map(({ percent }) => percent);
  assertEquals(percents.reduce((sum, percent) => sum + percent, 0), 100);
});

Deno.test("runProperty() reports the seed of a failure", () => {
  const error = assertThrows(() => {
    const name = PROPERTIES[0]!.name;
    const property = PROPERTIES[0]!.property;
    const run = () => ({ error: new Error("wrong") });
    const failing = Object.create(property, { run: { value: run } });
    runProperty({ name, percent: 100, property: failing }, 100, 4711);
  }, Error);
  assert(error.message.includes("FUZZ_SEED=4711 "), error.message);
});

Deno.test("seedFrom() accepts a seed or creates one, and rejects anything else", () => {
  assertEquals(seedFrom("0"), 0);
  assertEquals(seedFrom("2147483647"), 2_147_483_647);
  for (const none of [undefined, ""]) assert(seedFrom(none) >= 0);
  for (const wrong of ["2147483648", "-1", "1e3", "x", "1.5", " "]) {
    assertThrows(() => seedFrom(wrong));
  }
});

Deno.test("referenceDecodeJwt() reads the token of RFC 7519, section 3.1, strictly too", () => {
  const token =
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  const jwt = {
    header: { typ: "JWT", alg: "HS256" },
    claims: {
      iss: "joe",
      exp: 1300819380,
      "http://example.com/is_root": true,
    },
  };
  assertEquals(referenceDecodeJwt(token), jwt);
  assertEquals(strictDecodeJwt(token), jwt);
  // Padding is an error of the issuer; whitespace is never accepted.
  assertEquals(strictDecodeJwt("e30=.e30."), undefined);
  assertEquals(referenceDecodeJwt("e30=.e30."), { header: {}, claims: {} });
  assertEquals(referenceDecodeJwt("e30 .e30."), undefined);
});

Deno.test("getClaimsFromJWT() rejects 10 MB of anything and shows none of it", () => {
  const secret = "SECRET0123456789";
  const fill = (text: string) => text.repeat(10_000_000 / text.length);
  const texts = [".", "a", "=", "-", " ", "\u00e9", "e30", secret, "e30."];
  for (const text of texts.map(fill)) {
    for (const token of [text, `${text}.${text}.`, `e30.${text}.s`]) {
      let failure: unknown;
      try {
        getClaimsFromJWT(token);
      } catch (error) {
        failure = error;
      }
      assertClaimsError(failure);
      const { message, stack = "" } = failure as Error;
      for (const shown of [message, stack, JSON.stringify(failure)]) {
        assert(shown.length < 10_000);
        assert(!shown.includes(secret.slice(0, 8)));
        assert(!shown.includes(text.slice(0, 12)));
      }
    }
  }
});
