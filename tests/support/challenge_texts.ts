/** Values of `WWW-Authenticate` for tests of its parsers. */

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
