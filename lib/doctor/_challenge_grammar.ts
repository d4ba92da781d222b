/** The grammar of challenges (RFC 9110, sections 5.6 and 11.2 to 11.6.1), as a check. */

/**
 * One element of the list, and the comma after it: a parameter; or a scheme with spaces
 * and the first parameter, with a token68, or with neither.
 */
const ELEMENT =
  /(?:([!#$%&'*+\-.^_`|~\w]+)[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~\w]+|"([^"\\]*(?:\\[^][^"\\]*)*)")|[!#$%&'*+\-.^_`|~\w]+(?:( +)(?:([!#$%&'*+\-.^_`|~\w]+)[ \t]*=[ \t]*(?:[!#$%&'*+\-.^_`|~\w]+|"([^"\\]*(?:\\[^][^"\\]*)*)")|([\w\-.~+/]+=*))?)?)[ \t]*(?:,[ \t,]*|$)/y;

/** Characters that neither `qdtext` nor `quoted-pair` allows. */
// deno-lint-ignore no-control-regex
const NOT_QUOTABLE = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

/**
 * Returns why the value of a `WWW-Authenticate` header is not valid; undefined if it is.
 * Takes time in proportion to its length.
 */
export function challengeProblem(value: string): string | undefined {
  ELEMENT.lastIndex = /^[ \t,]*/.exec(value)?.[0].length ?? 0;
  let names: Set<string> | undefined;
  for (let at = ELEMENT.lastIndex; at < value.length; at = ELEMENT.lastIndex) {
    const match = ELEMENT.exec(value);
    const [, name, text, spaces, first, firstText] = match ?? [];
    const isMisplaced = name !== undefined && !names;
    if (!match || isMisplaced || NOT_QUOTABLE.test(text ?? firstText ?? "")) {
      return `not as in the grammar from character ${at}`;
    }
    // Parameters follow a scheme and spaces; no comma, and no token68.
    if (name === undefined) {
      names = spaces && match[6] === undefined ? new Set() : undefined;
    }
    const key = (name ?? first)?.toLowerCase();
    if (key === undefined) continue;
    if (names?.has(key)) return `the parameter ${key} occurs twice`;
    names?.add(key);
  }
  return undefined;
}
