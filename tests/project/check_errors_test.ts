/** The check of errors counts those that no context makes. */

import { assertEquals } from "@std/assert";
import { findOtherErrors } from "../../scripts/check_errors.ts";
import { createProgram } from "../../scripts/check_options.ts";

Deno.test("findOtherErrors() counts the errors that no context makes, by file", () => {
  const error = `new OAuthClientError("timeout", "No response");`;
  const texts = {
    "/lib/http/_error.ts": error,
    "/lib/token/token.ts": `${error} throw hinted("timeout", "No response");`,
    "/lib/session/store.ts": `// ${error}`,
    "/lib/native/file_store.ts": error,
  };
  const program = createProgram(Object.keys(texts), texts);
  const found = (counts: Record<string, number>) =>
    findOtherErrors(program, counts).map((problem) => problem.split(":")[0]);
  assertEquals(found({ "http/_error.ts": 1, "token/token.ts": 2 }), []);
  assertEquals(found({ "http/_error.ts": 1, "token/token.ts": 1 }), [
    "lib/token/token.ts",
  ]);
  assertEquals(found({ "client/dpop.ts": 1 }), [
    "lib/client/dpop.ts",
    "lib/http/_error.ts",
    "lib/token/token.ts",
  ]);
});
