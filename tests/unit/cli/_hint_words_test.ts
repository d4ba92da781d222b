/** Hints of the library in the words of the command. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { HINT_WORDS, wordsOfHints } from "../../../lib/cli/_hint_words.ts";
import { optionsOf } from "../../../lib/cli/_options.ts";

const OPTIONS = (["login", "token", "headers", "doctor"] as const).map(
  optionsOf,
);

for (const [option, words] of Object.entries(HINT_WORDS)) {
  Deno.test(`wordsOfHints() has words for ${option}, or none, without a name of the library`, () => {
    assertEquals(
      wordsOfHints([{ option: option as keyof typeof HINT_WORDS, text: "t" }]),
      words === undefined ? [] : [words],
    );
    assertFalse(/\b[a-z]+[A-Z]/.test(words ?? ""), words);
    for (const [, name = ""] of (words ?? "").matchAll(/--([a-z-]+)/g)) {
      assert(OPTIONS.some((options) => Object.hasOwn(options, name)), name);
    }
  });
}
