/** A page without a secure context is told that it needs one. */

import { createDpop, createPkcePair } from "../../../mod.ts";
import { pinRejected } from "../../support/fixtures.ts";

Deno.test("createPkcePair() and createDpop() name what a page needs without a secure context", async () => {
  Object.defineProperty(crypto, "subtle", {
    value: undefined,
    configurable: true,
  });
  try {
    for (const create of [createPkcePair, createDpop]) {
      await pinRejected(() => create(), "unsupported");
    }
  } finally {
    Reflect.deleteProperty(crypto, "subtle");
  }
});
