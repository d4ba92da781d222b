/**
 * Reading of challenges by the grammar of RFC 9110, sections 5.6 and 11.2 to
 * 11.6.1, in one pass over the header value.
 */

import { OAuthClientError } from "./errors.ts";
import type { IAuthenticationChallenge } from "./types.ts";

/** What happens to a parameter that occurs twice in a challenge. */
export type Duplicates = "error" | "keep_first" | "keep_last";

// All patterns are sticky: a match has to begin at the current position.
const SPACES = / */y;
const WHITESPACE = /[ \t]*/y;
const SEPARATORS = /[ \t,]*/y;
const TOKEN = /[!#$%&'*+\-.^_`|~\w]+/y;
const TOKEN68 = /[\w\-.~+/]+=*(?=[ \t]*(?:,|$))/y;
/** Lenient only: servers send URLs, which are not tokens, without quotes. */
const UNQUOTED = /[^\s,"]+/y;
const QUOTED = /[^"\\]*/y;
/** Characters that neither `qdtext` nor `quoted-pair` allows. */
// deno-lint-ignore no-control-regex
const NOT_QUOTABLE = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

/**
 * Reads the challenges of a header value. A lenient reader skips what the grammar
 * does not allow, where a strict one throws; both read a valid value alike.
 */
export class ChallengeReader {
  readonly #value: string;
  readonly #duplicates: Duplicates;
  readonly #isLenient: boolean;
  readonly #challenges: IAuthenticationChallenge[] = [];
  #position = 0;
  /** Whether parameters may follow the last challenge. */
  #allowsParameters = false;
  /** Parameters of the last challenge; undefined as long as there are none. */
  #parameters: Map<string, string> | undefined;

  constructor(value: string, duplicates: Duplicates, isLenient: boolean) {
    this.#value = value;
    this.#duplicates = duplicates;
    this.#isLenient = isLenient;
  }

  /** Reads the whole value. */
  read(): IAuthenticationChallenge[] {
    this.#match(SEPARATORS);
    while (this.#position < this.#value.length) {
      this.#readElement();
      this.#match(WHITESPACE);
      const isEnd = this.#position >= this.#value.length;
      if (!isEnd && !this.#skip(",")) this.#require("a comma");
      this.#match(SEPARATORS);
    }
    this.#complete();
    return this.#challenges;
  }

  /** Reads what matches the pattern here; an empty string if nothing does. */
  #match(pattern: RegExp): string {
    const start = this.#position;
    pattern.lastIndex = start;
    if (pattern.test(this.#value)) this.#position = pattern.lastIndex;
    return this.#value.slice(start, this.#position);
  }

  /** Skips one character if it is the next one. */
  #skip(character: string): boolean {
    if (this.#value[this.#position] !== character) return false;
    this.#position++;
    return true;
  }

  /** Throws, unless the reader is lenient. */
  #require(expected: string): void {
    if (this.#isLenient) return;
    throw new OAuthClientError(
      "invalid_challenge",
      `Invalid challenge: expected ${expected} at character ${this.#position}`,
    );
  }

  /** Reads one list element: the start of a challenge, or a parameter. */
  #readElement(): void {
    const name = this.#match(TOKEN);
    if (name === "") {
      this.#require("a scheme or a parameter");
      this.#position++;
      return;
    }
    const start = this.#position;
    this.#match(WHITESPACE);
    if (this.#allowsParameters && this.#skip("=")) this.#readParameter(name);
    else {
      this.#position = start;
      this.#readChallenge(name);
    }
  }

  /** Reads what follows a scheme: a token68, the first parameter, or neither. */
  #readChallenge(scheme: string): void {
    this.#complete();
    const challenge: IAuthenticationChallenge = { scheme, params: {} };
    this.#challenges.push(challenge);
    const gap = this.#match(this.#isLenient ? WHITESPACE : SPACES);
    this.#allowsParameters = gap !== "" || this.#isLenient;
    if (gap === "") return;
    const token68 = this.#match(TOKEN68);
    if (token68 !== "") {
      challenge.token68 = token68;
      this.#allowsParameters = this.#isLenient;
      return;
    }
    const start = this.#position;
    const name = this.#match(TOKEN);
    this.#match(WHITESPACE);
    if (name !== "" && this.#skip("=")) this.#readParameter(name);
    else if (name !== "") {
      this.#require("=");
      // Two schemes without a comma between them.
      this.#position = start;
    }
  }

  /** Reads the value of a parameter. */
  #readParameter(name: string): void {
    const key = name.toLowerCase();
    this.#match(WHITESPACE);
    const value = this.#skip('"') ? this.#readQuoted() : this.#readUnquoted();
    this.#parameters ??= new Map();
    const isDuplicate = this.#parameters.has(key);
    if (isDuplicate && this.#duplicates === "error") {
      throw new OAuthClientError(
        "invalid_challenge",
        `Invalid challenge: parameter ${key.slice(0, 100)} occurs twice`,
      );
    }
    if (!isDuplicate || this.#duplicates === "keep_last") {
      this.#parameters.set(key, value);
    }
  }

  #readUnquoted(): string {
    const value = this.#match(this.#isLenient ? UNQUOTED : TOKEN);
    if (value === "") this.#require("a token or a quoted string");
    return value;
  }

  #readQuoted(): string {
    let value = "";
    for (;;) {
      value += this.#match(QUOTED);
      if (this.#skip('"')) break;
      // A quoted-pair: a backslash, and the character that it escapes.
      this.#position++;
      if (this.#position >= this.#value.length) {
        this.#require("a closing quote");
        break;
      }
      value += this.#value[this.#position++];
    }
    if (NOT_QUOTABLE.test(value)) {
      this.#require("only characters that a quoted string allows");
    }
    return value;
  }

  /** Gives the last challenge its parameters. */
  #complete(): void {
    const challenge = this.#challenges.at(-1);
    // Makes `__proto__` an own property like any other, unlike an assignment.
    if (challenge && this.#parameters) {
      challenge.params = Object.fromEntries(this.#parameters);
    }
    this.#parameters = undefined;
  }
}
