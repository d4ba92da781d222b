/** A page without a secure context is told that it needs one. */

import { createDpop, createPkcePair } from "../../../mod.ts";
import { assertRejectsCode } from "../../support/fixtures.ts";

Deno.test("createPkcePair() and createDpop() name what a page needs without a secure context", async () => {
  Object.defineProperty(crypto, "subtle", {
    value: undefined,
    configurable: true,
  });
  try {
    for (const create of [createPkcePair, createDpop]) {
      await assertRejectsCode(
        () => create(),
        "unsupported",
        "The Web Crypto API is missing: open the page over https, or",
      );
    }
  } finally {
    Reflect.deleteProperty(crypto, "subtle");
  }
});
