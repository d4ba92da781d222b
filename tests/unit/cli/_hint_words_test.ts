/** Hints of the library in the words of the command. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { HINT_WORDS, wordsOfHints } from "../../../lib/cli/_hint_words.ts";
import { optionsOf } from "../../../lib/cli/_options.ts";

const OPTIONS = (["login", "token", "headers", "doctor"] as const).map(
  optionsOf,
);

for (const [option, words] of Object.entries(HINT_WORDS)) {
  Deno.test(`wordsOfHints() has words for ${option}, or none, without a name of the library`, () => {
    const name = option as keyof typeof HINT_WORDS;
    const [shown = "", ...more] = wordsOfHints([
      { option: name, text: "t" },
      { option: name, text: "another" },
    ]);
    assertEquals([shown === "", more], [words === undefined, []]);
    assertFalse(/\b[a-z]+[A-Z]/.test(shown), shown);
    for (const [, argument = ""] of shown.matchAll(/--([a-z-]+)/g)) {
      const isThere = OPTIONS.some((one) => Object.hasOwn(one, argument));
      assert(isThere, argument);
    }
  });
}

Deno.test("wordsOfHints() writes values as arguments of a shell", () => {
  const value = { "https://a.example": "https://b.example/x y" };
  assertEquals(
    wordsOfHints([
      { option: "trustedIssuers", value, text: "t" },
      { option: "resourceIndicator", value: false, text: "t" },
      { option: "resourceIndicator", value: "urn:a&b", text: "t" },
    ]),
    [
      "this could be an attack: only if both are the same server, use " +
      "--trusted-issuer 'https://a.example=https://b.example/x y'",
      "if the server rejects the parameter resource, use --resource=false",
      "use '--resource=urn:a&b'",
    ],
  );
});
