/**
 * A second parser of `WWW-Authenticate` for tests of `parseChallenges()`: each rule
 * of RFC 9110 is one function that yields every match at a position, and the first
 * match of the whole value is the result. It is slow on purpose.
 */
import type { IAuthenticationChallenge } from "../../mod.ts";

/** One match of a rule: its value, and where it ended. */
type Match<T> = readonly [value: T, end: number];
type Matches<T> = Generator<Match<T>>;
type Rule<T> = (text: string, at: number) => Matches<T>;

/** `1*` of a character class, longest match first. */
function some(characters: RegExp): Rule<string> {
  return function* (text, at) {
    let end = at;
    while (end < text.length && characters.test(text[end]!)) end++;
    for (; end > at; end--) yield [text.slice(at, end), end];
  };
}

/** `*` of a character class, longest match first. */
function any(characters: RegExp): Rule<string> {
  const rule = some(characters);
  return function* (text, at) {
    yield* rule(text, at);
    yield ["", at];
  };
}

/** Section 5.6.2: `token = 1*tchar`. */
const token = some(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/);
/** Section 5.6.3: `OWS = *( SP / HTAB )`, and `BWS` alike. */
const whitespace = any(/^[ \t]$/);

/** Section 11.2: `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`. */
function* token68(text: string, at: number): Matches<string> {
  for (const [, middle] of some(/^[-._~+/0-9A-Za-z]$/)(text, at)) {
    for (const [, end] of any(/^=$/)(text, middle)) {
      yield [text.slice(at, end), end];
    }
  }
}

/** Section 5.6.1.2: `#element => [ element ] *( OWS "," OWS [ element ] )`. */
function list<T>(element: Rule<T>): Rule<T[]> {
  function* rest(text: string, at: number): Matches<T[]> {
    for (const [, comma] of whitespace(text, at)) {
      if (text[comma] !== ",") continue;
      for (const [, start] of whitespace(text, comma + 1)) {
        yield* all(text, start);
      }
    }
    yield [[], at];
  }
  function* all(text: string, at: number): Matches<T[]> {
    for (const [value, middle] of element(text, at)) {
      for (const [values, end] of rest(text, middle)) {
        yield [[value, ...values], end];
      }
    }
    yield* rest(text, at);
  }
  return all;
}

interface IReading {
  scheme: string;
  token68?: string;
  params: (readonly [string, string])[];
}

const spaces = some(/^ $/);
// `qdtext` excludes the quote and the backslash, which the loop below handles.
const quotable = /^[\t\x20-\x7e\x80-\xff]$/;

/** Section 5.6.4; a `quoted-pair` yields the character that it escapes. */
function* quotedString(text: string, at: number): Matches<string> {
  if (text[at] !== '"') return;
  let value = "";
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '"') return yield [value, i + 1];
    if (text[i] === "\\") i++;
    const character = text[i] ?? "";
    if (!quotable.test(character)) return;
    value += character;
  }
}

const values: Rule<string>[] = [token, quotedString];

/** Section 11.2: `token BWS "=" BWS ( token / quoted-string )`. */
function* authParam(
  text: string,
  at: number,
): Matches<readonly [string, string]> {
  for (const [name, afterName] of token(text, at)) {
    for (const [, equals] of whitespace(text, afterName)) {
      if (text[equals] !== "=") continue;
      for (const [, start] of whitespace(text, equals + 1)) {
        for (const rule of values) {
          for (const [value, end] of rule(text, start)) {
            yield [[name.toLowerCase(), value], end];
          }
        }
      }
    }
  }
}
const authParams = list(authParam);

/** Section 11.3: `auth-scheme [ 1*SP ( token68 / #auth-param ) ]`. */
function* challenge(text: string, at: number): Matches<IReading> {
  for (const [scheme, afterScheme] of token(text, at)) {
    for (const [, start] of spaces(text, afterScheme)) {
      for (const [word, end] of token68(text, start)) {
        yield [{ scheme, token68: word, params: [] }, end];
      }
      for (const [params, end] of authParams(text, start)) {
        yield [{ scheme, params }, end];
      }
    }
    yield [{ scheme, params: [] }, afterScheme];
  }
}

const challenges = list(challenge);

/**
 * Parses challenges; undefined for a value that the grammar does not allow.
 */
export function referenceParseChallenges(
  value: string,
): IAuthenticationChallenge[] | undefined {
  // Section 5.5: whitespace around a field value is not part of it.
  const text = value.replace(/^[ \t]+|[ \t]+$/g, "");
  for (const [readings, end] of challenges(text, 0)) {
    if (end !== text.length) continue;
    // Section 11.2: a name must occur only once in a challenge.
    const isTwice = ({ params }: IReading) =>
      new Set(params.map(([name]) => name)).size < params.length;
    if (readings.some(isTwice)) return undefined;
    return readings.map(({ params, ...rest }) => ({
      ...rest,
      params: Object.fromEntries(params),
    }));
  }
  return undefined;
}
