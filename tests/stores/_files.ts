/** Tests of `fileStore()`, each with a file in a directory of its own. */

import { inDirectory } from "../support/in_directory.ts";

/** Declares a test of the store; the file does not exist yet. */
export function test(
  name: string,
  body: (path: string, directory: string) => Promise<void>,
  ignore = false,
): void {
  Deno.test({
    name: `fileStore() ${name}`,
    ignore,
    fn: () =>
      inDirectory((directory) => body(`${directory}/session.json`, directory)),
  });
}
