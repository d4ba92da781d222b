/** Values of `WWW-Authenticate` for tests of its parsers. */
import fc from "fast-check";

/** Any order of the characters that the grammar knows, and of some others. */
export const hostile = fc.array(
  fc.constantFrom(...'aB%/~: \t==,,""\\\u00e9', "\n", "\0", "\u20ac"),
  { maxLength: 14 },
).map((characters) => characters.join(""));

const word = fc.string({
  unit: fc.constantFrom(..."aB0%~"),
  minLength: 1,
  maxLength: 3,
});
const value = fc.oneof(
  word,
  fc.constantFrom("https://x/y?a=b", "a=b", '"', "b c", "", '""'),
  fc.string({ unit: fc.constantFrom(..."a ,=\\\t"), maxLength: 4 })
    .map((text) => `"${text.replaceAll(/[\\"]/g, "\\$&")}"`),
);
const gap = fc.constantFrom("", "", " ", "  ");
const parameter = fc.tuple(word, gap, gap, value)
  .map(([name, before, after, text]) => `${name}${before}=${after}${text}`);
const challenge = fc.tuple(
  word,
  fc.oneof(
    fc.constant([]),
    fc.array(parameter, { minLength: 1, maxLength: 3 }),
    fc.tuple(word.map((text) => `${text}==`)),
  ),
).map(([scheme, rest]) =>
  rest.length === 0 ? scheme : `${scheme} ${rest.join(", ")}`
);
/** What servers send, and what comes close to it. */
export const structured = fc.array(challenge, { maxLength: 3 })
  .map((challenges) => challenges.join(" ,"));

/** Values of 64 kB that repeat what may open or close something. */
export function* hugeTexts(): Generator<string> {
  const patterns = [
    ...["a", " ", ",", '"', "=", "\\", "a=", "a ", "a,", " =", '\\"', "a=b,"],
    ...['a="b" ', "a a=b,", "\t=", "a= ", '"a\\', "= ,", "a~=", "A b, "],
  ];
  for (const start of ["", "Bearer ", 'Bearer a="', "Bearer a=b, ", "X y="]) {
    for (const pattern of patterns) {
      const text = start + pattern.repeat(65_536 / pattern.length);
      yield text;
      // Ends inside, or behind, whatever the repetition had opened.
      yield text + '"';
    }
  }
}
