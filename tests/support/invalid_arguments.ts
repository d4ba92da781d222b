import { assertEquals, assertNotMatch } from "@std/assert";
import { assertInvalidArgument } from "./fixtures.ts";
import { replaceGlobals } from "./globals.ts";
import { untyped } from "./stub_fetch.ts";

/**
 * Declares a test: a function refuses each list of arguments for the one with this
 * name, without a request by the global fetch, and does not show the password `s3cret`.
 */
export function testInvalidArguments(
  call: (...args: never[]) => Promise<unknown>,
  rows: [name: string, ...args: unknown[]][],
): void {
  Deno.test(`${call.name}() rejects invalid arguments before any request`, async () => {
    let requests = 0;
    using _fetch = replaceGlobals({
      fetch() {
        requests++;
        return Promise.reject(new Error("Requested"));
      },
    });
    for (const [name, ...args] of rows) {
      const invalid = () => untyped(call)(...args);
      const { message } = await assertInvalidArgument(invalid, name);
      assertNotMatch(message, /s3cret/);
    }
    assertEquals(requests, 0);
  });
}
