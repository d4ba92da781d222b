/** What sharedSignIn() accepts, and what a session keeps of it. */

import { assertEquals } from "@std/assert";
import { sharedSignIn } from "../../../mod.ts";
import { pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";

const URL_OF_API = "https://api.example/v1";

Deno.test("sharedSignIn() checks its APIs", () => {
  const rows = [
    {},
    null,
    { "/v1": {} },
    { [URL_OF_API]: null },
    { [URL_OF_API]: { scopes: "read" } },
    { [URL_OF_API]: { resourceIndicator: "v1" } },
  ];
  for (const apis of rows) {
    pinThrown(() => sharedSignIn(untyped(apis)), "invalid_argument");
  }
  assertEquals(typeof sharedSignIn({ [URL_OF_API]: {} }), "object");
});
