/** A token that does not last as long as a command needs is renewed. */

import { assertEquals } from "@std/assert";
import { withMinTtl } from "../../../lib/cli/_wanted_session.ts";
import { expires } from "../../../lib/session/_bearer.ts";
import { SESSION } from "../../support/resource.ts";

/** Checks whether a token is renewed that expires at 1,000 s, some seconds before. */
function isRenewed(lifetime: number, minTtl: number, secondsLeft: number) {
  const token = { ...SESSION.token, expires_in: lifetime, expires_at: 1_000 };
  const session = withMinTtl({ ...SESSION, token }, minTtl);
  return expires(session, "soon", {
    bearer: "access_token",
    skewSeconds: minTtl,
    now: () => (1_000 - secondsLeft) * 1_000,
  });
}

Deno.test("withMinTtl() has tokens renewed that do not last long enough", () => {
  assertEquals(isRenewed(3_600, 60, 61), false);
  assertEquals(isRenewed(3_600, 60, 60), true);
  assertEquals(isRenewed(3_600, 1_800, 1_801), false);
  assertEquals(isRenewed(3_600, 1_800, 1_799), true);
  // No token lives longer: the last quarter of its lifetime.
  assertEquals(isRenewed(60, 60, 16), false);
  assertEquals(isRenewed(60, 60, 15), true);
  assertEquals(isRenewed(3_600, 0, 1), false);
});
