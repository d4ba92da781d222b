/** What sharedSignIn() accepts, and what a session keeps of it. */

import { assertEquals } from "@std/assert";
import { sharedSignIn } from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";

const URL_OF_API = "https://api.example/v1";

Deno.test("sharedSignIn() checks its APIs", () => {
  const place = `apis["${URL_OF_API}"]`;
  const rows: [apis: unknown, message: string][] = [
    [{}, "apis must be an object with a key for each API"],
    [null, "apis must be an object"],
    [
      { "/v1": {} },
      'The key of apis["/v1"] must be an absolute http or https URL',
    ],
    [{ [URL_OF_API]: null }, `${place} must be an object`],
    [{ [URL_OF_API]: { scopes: "read" } }, `${place}.scopes must be`],
    [
      { [URL_OF_API]: { resourceIndicator: "v1" } },
      "resourceIndicator must be",
    ],
  ];
  for (const [apis, message] of rows) {
    assertThrowsCode(
      () => sharedSignIn(untyped(apis)),
      "invalid_argument",
      message,
    );
  }
  assertEquals(typeof sharedSignIn({ [URL_OF_API]: {} }), "object");
});
