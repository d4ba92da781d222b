/** Code verifiers and states are as random as the standard says, and new each time. */

import { assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import { createPkcePair, createState } from "../../../mod.ts";

// RFC 7636, appendix B.
const OCTETS = [
  ...[116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187],
  ...[186, 22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141],
  121,
];
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** Replaces the random generator by the octets of the appendix. */
function fixedRandom(): Disposable {
  return stub(
    crypto,
    "getRandomValues",
    ((array: Uint8Array) => {
      assertEquals(array.byteLength, OCTETS.length);
      array.set(OCTETS);
      return array;
    }) as typeof crypto.getRandomValues,
  );
}

Deno.test("createPkcePair() returns the vector of RFC 7636, appendix B", async () => {
  using _random = fixedRandom();
  assertEquals(await createPkcePair(), {
    codeVerifier: VERIFIER,
    codeChallenge: CHALLENGE,
  });
});

Deno.test("createPkcePair() and createState() return other random values each time", async () => {
  const pairs = await Promise.all(Array.from({ length: 50 }, createPkcePair));
  const values = pairs.flatMap((pair) => Object.values(pair));
  values.push(...Array.from({ length: 50 }, createState));
  for (const value of values) assertMatch(value, /^[\w-]{43}$/);
  assertEquals(new Set(values).size, 150);
});

Deno.test("createState() returns 256 random bits", () => {
  using _random = fixedRandom();
  assertEquals(createState(), VERIFIER);
});
