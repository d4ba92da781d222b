/**
 * Authentication challenges: the value of a `WWW-Authenticate` header.
 *
 * @module
 */

import { requireArgument, requireObject, requireTexts } from "./_arguments.ts";
import { OAuthClientError } from "./errors.ts";
import type { IAuthenticationChallenge } from "./types.ts";

type Parameters = IAuthenticationChallenge["params"];

function setParameter(params: Parameters, name: string, value: string): void {
  if (!(name in params)) params[name] = value;
  // An assignment to `__proto__` would be to the prototype itself, and one to
  // `toString` would fail where prototypes are frozen.
  else {
    Object.defineProperty(params, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
}

function readParameter(text: string, params: Parameters): void {
  const equals = text.indexOf("=");
  if (equals === 0) return;
  let value = text.slice(equals + 1).trim();
  if (value.startsWith('"')) value = value.slice(1);
  if (value.endsWith('"')) value = value.slice(0, -1);
  setParameter(params, text.slice(0, equals).trim(), value);
}

/**
 * Splits the value of a `WWW-Authenticate` header into challenges, forgivingly:
 * whatever the server sent, the result is a list.
 *
 * Commas outside double quotes separate pieces. A piece without `=` is a scheme;
 * a piece such as `Bearer realm="x"` is a scheme with its first parameter; any
 * other piece with `=` is a parameter of the challenge before it. Quotes around
 * a value are taken off; escapes in it stay. Names and schemes keep their letter
 * case, and the last of several parameters of one name wins.
 *
 * @param value The header's value; an empty one holds no challenge.
 * @throws {OAuthClientError} `invalid_argument`: the value is not a string.
 * @see RFC 9110, section 11.6.1.
 *
 * @example Find the resource metadata that a 401 points to
 * ```ts
 * import { parseWWWAuthenticateHeader } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const challenges = parseWWWAuthenticateHeader(
 *   'Negotiate, Bearer realm="api", resource_metadata="https://api.example/m"',
 * );
 * const bearer = challenges.find((one) => one.scheme === "Bearer");
 * assertEquals(bearer?.params.resource_metadata, "https://api.example/m");
 * ```
 */
export function parseWWWAuthenticateHeader(
  value: string,
): IAuthenticationChallenge[] {
  requireArgument(typeof value === "string", "value", "a string");
  const challenges: IAuthenticationChallenge[] = [];

  const readPiece = (piece: string) => {
    const equals = piece.indexOf("=");
    const space = piece.indexOf(" ");
    if (piece === "") return;
    if (equals === -1) challenges.push({ scheme: piece, params: {} });
    else if (space > 0 && space < equals) {
      challenges.push({ scheme: piece.slice(0, space), params: {} });
      piece = piece.slice(space + 1);
    }
    const params = challenges.at(-1)?.params;
    if (equals !== -1 && params) readParameter(piece, params);
  };

  let start = 0;
  let quoted = false;
  for (let index = 0; index < value.length; index++) {
    const char = value[index];
    if (char === '"') quoted = !quoted;
    else if (char === "," && !quoted) {
      readPiece(value.slice(start, index).trim());
      start = index + 1;
    }
  }
  readPiece(value.slice(start).trim());
  return challenges;
}

/** Options of {@linkcode parseChallenges}. */
export interface IParseChallengesOptions {
  /**
   * What a parameter that comes twice in one challenge does: fail (the default),
   * or leave the first or the last value standing.
   */
  duplicates?: "error" | "keep_first" | "keep_last" | undefined;
}

// Sticky, so that each reads on from where the last one stopped.
const SPACES = / */y;
const BLANKS = /[ \t]*/y;
const SEPARATORS = /[ \t,]*/y;
const TOKEN = /[!#$%&'*+\-.^_`|~\w]+/y;
const TOKEN68 = /[\w\-.~+/]+=*(?=[ \t]*(?:,|$))/y;
const UNQUOTED = /[^\s,"]+/y;
const QUOTED_TEXT = /[^"\\]*/y;
// deno-lint-ignore no-control-regex
const UNFIT_IN_QUOTES = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

/** A header's value, the position in it, and the challenges read so far. */
class ChallengeReader {
  readonly challenges: IAuthenticationChallenge[] = [];
  #position = 0;
  /** Whether the last challenge can have parameters. */
  #takesParameters = false;
  /** Those of the last challenge; undefined while there are none. */
  #parameters: Map<string, string> | undefined;

  /** A forgiving reader passes over what breaks the grammar. */
  constructor(
    readonly text: string,
    readonly duplicates: "error" | "keep_first" | "keep_last",
    readonly isForgiving: boolean,
  ) {}

  read(): IAuthenticationChallenge[] {
    this.#take(SEPARATORS);
    while (this.#position < this.text.length) {
      this.#readElement();
      this.#take(BLANKS);
      const isEnd = this.#position >= this.text.length;
      if (!isEnd && !this.#skip(",")) this.#expect("a comma");
      this.#take(SEPARATORS);
    }
    this.#finish();
    return this.challenges;
  }

  /** Takes what the pattern finds here, or the empty string. */
  #take(pattern: RegExp): string {
    const start = this.#position;
    pattern.lastIndex = start;
    // A search that fails sets this to 0.
    if (pattern.test(this.text)) this.#position = pattern.lastIndex;
    return this.text.slice(start, this.#position);
  }

  /** Takes one character if it is the next. */
  #skip(char: string): boolean {
    if (this.text[this.#position] !== char) return false;
    this.#position++;
    return true;
  }

  #expect(expected: string): void {
    if (this.isForgiving) return;
    throw new OAuthClientError(
      "invalid_challenge",
      `Invalid challenge: expected ${expected} at character ${this.#position}`,
    );
  }

  /** One element of the list: a challenge's beginning, or a parameter. */
  #readElement(): void {
    const name = this.#take(TOKEN);
    if (name === "") {
      this.#expect("a scheme or a parameter");
      this.#position++;
      return;
    }
    const start = this.#position;
    this.#take(BLANKS);
    if (this.#takesParameters && this.#skip("=")) this.#readParameter(name);
    else {
      this.#position = start;
      this.#readChallenge(name);
    }
  }

  #readChallenge(scheme: string): void {
    this.#finish();
    const challenge: IAuthenticationChallenge = { scheme, params: {} };
    this.challenges.push(challenge);
    const hasMore = this.#take(this.isForgiving ? BLANKS : SPACES) !== "";
    this.#takesParameters = hasMore || this.isForgiving;
    if (!hasMore) return;
    const token68 = this.#take(TOKEN68);
    if (token68 !== "") {
      challenge.token68 = token68;
      this.#takesParameters = this.isForgiving;
      return;
    }
    const start = this.#position;
    const name = this.#take(TOKEN);
    this.#take(BLANKS);
    if (name !== "" && this.#skip("=")) this.#readParameter(name);
    else if (name !== "") {
      this.#expect("=");
      this.#position = start;
    }
  }

  #readParameter(name: string): void {
    const key = name.toLowerCase();
    this.#take(BLANKS);
    const value = this.#skip('"') ? this.#readQuoted() : this.#readUnquoted();
    this.#parameters ??= new Map();
    const isDuplicate = this.#parameters.has(key);
    if (isDuplicate && this.duplicates === "error") {
      throw new OAuthClientError(
        "invalid_challenge",
        `Invalid challenge: parameter ${key} comes twice`,
      );
    }
    if (!isDuplicate || this.duplicates === "keep_last") {
      this.#parameters.set(key, value);
    }
  }

  #readUnquoted(): string {
    // Tokens may not hold `:` and `/`, but servers forget the quotes around URLs.
    const value = this.#take(UNQUOTED);
    if (value === "") this.#expect("a value");
    return value;
  }

  #readQuoted(): string {
    let value = "";
    for (;;) {
      value += this.#take(QUOTED_TEXT);
      if (this.#skip('"')) break;
      // A quoted-pair: the character behind the backslash is meant literally.
      this.#position++;
      if (this.#position >= this.text.length) {
        this.#expect("a closing quote");
        break;
      }
      value += this.text[this.#position++];
    }
    if (UNFIT_IN_QUOTES.test(value)) this.#expect("no control characters");
    return value;
  }

  #finish(): void {
    const challenge = this.challenges.at(-1);
    // Unlike an assignment, this makes `__proto__` a property like any other.
    if (challenge && this.#parameters) {
      challenge.params = Object.fromEntries(this.#parameters);
    }
    this.#parameters = undefined;
  }
}

/**
 * Reads the value of a `WWW-Authenticate` header by the grammar of RFC 9110: any
 * number of challenges, each with parameters, a token68 or neither; empty list
 * elements; blanks around `=`; escapes within quotes. Time grows linearly with
 * the length.
 *
 * Parameter names come in lower case, values unescaped, schemes as they were
 * spelt. Beyond the grammar, an unquoted value may hold any character but blanks,
 * commas and quotes, as in `resource_metadata=https://api.example/m?a=b`.
 *
 * @param value The header's value; an empty one holds no challenge.
 * @throws {OAuthClientError} `invalid_challenge`: the value breaks the grammar, or
 * a parameter comes twice in a challenge. `invalid_argument`: not a string.
 * @see RFC 9110, sections 11.2 to 11.6.1 and 5.6.
 *
 * @example Two challenges in one header
 * ```ts
 * import { parseChallenges } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseChallenges('Negotiate YII=, bearer Scope = "a \\"b\\""'), [
 *   { scheme: "Negotiate", params: {}, token68: "YII=" },
 *   { scheme: "bearer", params: { scope: 'a "b"' } },
 * ]);
 * ```
 */
export function parseChallenges(
  value: string,
  options: IParseChallengesOptions = {},
): IAuthenticationChallenge[] {
  requireArgument(typeof value === "string", "value", "a string");
  const { duplicates = "error" } = requireObject("options", options);
  requireArgument(
    ["error", "keep_first", "keep_last"].includes(duplicates),
    "duplicates",
    '"error", "keep_first" or "keep_last"',
  );
  return new ChallengeReader(value, duplicates, false).read();
}

/**
 * The first challenge of one of these schemes, wherever it stands in the header.
 * What breaks the grammar is passed over, missing commas between parameters
 * among it; of a parameter that comes twice the first value stands.
 *
 * @param source A response, its headers, or the value of the header.
 * @param schemes Schemes in any letter case; `Bearer` and `DPoP` when absent.
 * @returns Nothing when the header is missing or holds other schemes only.
 * @see RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1.
 *
 * @example Negotiate comes first
 * ```ts
 * import { findChallenge } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(null, {
 *   status: 401,
 *   headers: { "WWW-Authenticate": 'Negotiate, Bearer scope="read"' },
 * });
 * assertEquals(findChallenge(response)?.params.scope, "read");
 * ```
 */
export function findChallenge(
  source: { headers: ChallengeHeaders } | ChallengeHeaders | string,
  schemes: readonly string[] = ["Bearer", "DPoP"],
): IAuthenticationChallenge | undefined {
  if (typeof source !== "string") requireObject("source", source);
  const headers = typeof source === "object" && "headers" in source
    ? source.headers
    : source;
  const isReadable = typeof headers === "string" ||
    typeof headers?.get === "function";
  requireArgument(isReadable, "source", "a response, headers or a string");
  const value = typeof headers === "string"
    ? headers
    : headers.get("WWW-Authenticate") ?? "";
  requireArgument(typeof value === "string", "source", "headers of texts");
  const wanted = requireTexts("schemes", schemes).map((scheme) =>
    scheme.toLowerCase()
  );
  return new ChallengeReader(value, "keep_first", true).read().find((
    { scheme },
  ) => wanted.includes(scheme.toLowerCase()));
}

/** What {@linkcode findChallenge} asks of headers; `Headers` will do. */
export interface ChallengeHeaders {
  /** The value of a header field, several joined by commas. */
  get(name: string): string | null;
}
