/** `deno task test` takes the value of an option for no path. */

import { assertEquals } from "@std/assert";
import { readTestArgs } from "../../scripts/support/test_args.ts";

Deno.test("readTestArgs() divides options with their values from paths", () => {
  const rows: [args: string, options: string, paths: string][] = [
    ["", "", ""],
    ["tests/unit", "", "tests/unit"],
    ["--filter codeFlow", "--filter codeFlow", ""],
    ["--filter=codeFlow", "--filter=codeFlow", ""],
    ["--filter --paste", "--filter --paste", ""],
    ["--filter --filter tests/a", "--filter --filter", "tests/a"],
    ["--no-check --filter a tests/b", "--no-check --filter a", "tests/b"],
    ["tests/a --reporter tap tests/b", "--reporter tap", "tests/a tests/b"],
    ["--shuffle=2 --fail-fast", "--shuffle=2 --fail-fast", ""],
    // Its value is part of the argument.
    ["--shuffle tests/a", "--shuffle", "tests/a"],
    ["-c deno.json", "-c deno.json", ""],
    ["--filter", "--filter", ""],
  ];
  const words = (text: string) => text.split(" ").filter((one) => one !== "");
  for (const [args, options, paths] of rows) {
    const expected = { options: words(options), paths: words(paths) };
    assertEquals(readTestArgs(words(args)), expected, args);
  }
});
