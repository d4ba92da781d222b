/**
 * The doctor's receiver ends with any response for its visit, also one without a
 * state.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { takingAnyState } from "../../../lib/cli/commands/_doctor_receiver.ts";
import { createLoopbackReceiver } from "../../../lib/native/mod.ts";
import { deferred } from "../../support/stub_fetch.ts";

Deno.test("takingAnyState() ends the visit with a response that has the state, or none, and stops to listen", async () => {
  const rows: [query: string, status: number][] = [
    ["", 404],
    ["?x=1", 404],
    ["?code=c1&state=other", 404],
  ];
  for (
    const last of ["?code=c1&state=s1", "?code=c1", "?error=access_denied"]
  ) {
    const shown = deferred<void>();
    const receiver = takingAnyState(createLoopbackReceiver({
      port: 0,
      open: false,
      print: () => shown.resolve(),
    }));
    const redirectUri = await receiver.redirectUri();
    const visiting = receiver.visit(new URL("https://as.example/"), {
      pending: { state: "s1", redirectUri },
      signal: undefined,
    });
    await shown.promise;
    for (const [query, status] of [...rows, [last, 200] as const]) {
      const response = await fetch(redirectUri + query);
      await response.text();
      assertEquals(response.status, status, query);
    }
    assertEquals(`${await visiting}`, redirectUri + last);
    await assertRejects(() => fetch(redirectUri));
  }
});
