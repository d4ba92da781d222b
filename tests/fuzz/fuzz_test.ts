/**
 * Parsers and builders keep their properties for a hundred thousand inputs of a seed.
 */

import { assert, assertEquals } from "@std/assert";
import { getClaimsFromJWT } from "../../mod.ts";
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

Deno.test("getClaimsFromJWT() rejects a megabyte of anything and shows none of it", () => {
  const secret = "SECRET0123456789";
  const fill = (text: string) => text.repeat(1_000_000 / text.length);
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
