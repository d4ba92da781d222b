/**
 * Reads challenges by the grammar of RFC 9110, sections 5.6 and 11.2 to 11.6.1,
 * leniently or strictly. Both ways give the same result for a valid value.
 */

import { OAuthClientError } from "./errors.ts";
import type { IAuthenticationChallenge } from "./types.ts";

/** Sets a parameter as an own property. Of several with one name, the last is kept. */
export function setParameter(
  params: IAuthenticationChallenge["params"],
  name: string,
  value: string,
): void {
  if (name !== "__proto__") params[name] = value;
  // An assignment would change the prototype.
  else {
    Object.defineProperty(params, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
}

/**
 * A token, and what follows it: the value of a parameter, quoted or up to a comma or
 * whitespace, as servers send URLs without quotes; or, after a scheme, a token68. The
 * closing quote may be missing.
 */
const LENIENT_ELEMENT =
  /([!#$%&'*+\-.^_`|~\w]+)(?:[ \t]*=[ \t]*(?:"([^"\\]*(?:\\[^]?[^"\\]*)*)"?|([^\s,"]*))|[ \t]+([\w\-.~+/]+=*)(?=[ \t]*(?:,|$)))?/g;

/** Returns the content of a quoted string without the backslashes that escape. */
function withoutEscapes(content: string): string {
  return content.replace(/\\([^]?)/g, "$1");
}

/**
 * Reads the challenges of a header value, and skips what the grammar does not allow.
 * The first of two parameters of one name is kept.
 */
export function readLeniently(value: string): IAuthenticationChallenge[] {
  const challenges: IAuthenticationChallenge[] = [];
  for (const match of value.matchAll(LENIENT_ELEMENT)) {
    const [, token = "", quoted, unquoted, token68] = match;
    const parameter = quoted === undefined ? unquoted : withoutEscapes(quoted);
    const current = challenges.at(-1);
    if (parameter === undefined || !current) {
      challenges.push({
        scheme: token,
        params: {},
        ...(token68 === undefined ? {} : { token68 }),
      });
    } else if (!Object.hasOwn(current.params, token.toLowerCase())) {
      setParameter(current.params, token.toLowerCase(), parameter);
    }
  }
  return challenges;
}

/** What happens to a parameter that occurs twice in a challenge. */
export type Duplicates = "error" | "keep_first" | "keep_last";

// All patterns are sticky: a match has to begin at the current position. One match
// for each element, in place of several for its parts, takes a third of the calls.
const SPACES = / */y;
const WHITESPACE = /[ \t]*/y;
const SEPARATORS = /[ \t,]*/y;
const END_OF_ELEMENT = /[ \t]*(?:,[ \t,]*|$)/y;
const TOKEN = /[!#$%&'*+\-.^_`|~\w]+/y;
const PARAMETER_START = /[!#$%&'*+\-.^_`|~\w]+[ \t]*=[ \t]*/y;
const TOKEN68 = /[\w\-.~+/]+=*(?=[ \t]*(?:,|$))/y;
/** Without the closing quote, so that it matches to the end if that is missing. */
const QUOTED = /"[^"\\]*(?:\\[^]?[^"\\]*)*/y;
const CLOSING_QUOTE = /"/y;
/** Characters that neither `qdtext` nor `quoted-pair` allows. */
// deno-lint-ignore no-control-regex
const NOT_QUOTABLE = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

/** Reads the challenges of a header value, and throws if it is not valid. */
export class ChallengeReader {
  readonly #value: string;
  readonly #duplicates: Duplicates;
  readonly #challenges: IAuthenticationChallenge[] = [];
  #position = 0;
  /** Whether parameters may follow the last challenge. */
  #allowsParameters = false;

  constructor(value: string, duplicates: Duplicates) {
    this.#value = value;
    this.#duplicates = duplicates;
  }

  /** Reads the whole value. */
  read(): IAuthenticationChallenge[] {
    this.#match(SEPARATORS);
    while (this.#position < this.#value.length) {
      this.#readElement();
      const end = this.#match(END_OF_ELEMENT);
      if (end === "" && this.#position < this.#value.length) {
        this.#match(WHITESPACE);
        this.#fail("a comma");
      }
    }
    return this.#challenges;
  }

  /** Reads what matches the pattern here; an empty string if nothing does. */
  #match(pattern: RegExp): string {
    const start = this.#position;
    pattern.lastIndex = start;
    if (pattern.test(this.#value)) this.#position = pattern.lastIndex;
    return this.#value.slice(start, this.#position);
  }

  #fail(expected: string): never {
    throw new OAuthClientError(
      "invalid_challenge",
      `Invalid challenge: expected ${expected} at character ${this.#position}`,
    );
  }

  /** Reads one list element: the start of a challenge, or a parameter. */
  #readElement(): void {
    if (this.#allowsParameters && this.#readParameter()) return;
    const scheme = this.#match(TOKEN);
    if (scheme === "") this.#fail("a scheme or a parameter");
    this.#readChallenge(scheme);
  }

  /** Reads what follows a scheme: a token68, the first parameter, or neither. */
  #readChallenge(scheme: string): void {
    const challenge: IAuthenticationChallenge = { scheme, params: {} };
    this.#challenges.push(challenge);
    this.#allowsParameters = this.#match(SPACES) !== "";
    if (!this.#allowsParameters) return;
    const token68 = this.#match(TOKEN68);
    if (token68 !== "") {
      challenge.token68 = token68;
      this.#allowsParameters = false;
    } else if (!this.#readParameter() && this.#match(TOKEN) !== "") {
      this.#match(WHITESPACE);
      this.#fail("=");
    }
  }

  /** Reads a parameter of the last challenge; returns false if there is none. */
  #readParameter(): boolean {
    const start = this.#match(PARAMETER_START);
    if (start === "") return false;
    const key = start.slice(0, start.indexOf("=")).trimEnd().toLowerCase();
    const value = this.#readValue();
    const { params } = this.#challenges.at(-1)!;
    const isDuplicate = Object.hasOwn(params, key);
    if (isDuplicate && this.#duplicates === "error") {
      throw new OAuthClientError(
        "invalid_challenge",
        `Invalid challenge: parameter ${key.slice(0, 100)} occurs twice`,
      );
    }
    if (!isDuplicate || this.#duplicates === "keep_last") {
      setParameter(params, key, value);
    }
    return true;
  }

  #readValue(): string {
    const quoted = this.#match(QUOTED);
    if (quoted === "") {
      const value = this.#match(TOKEN);
      if (value === "") this.#fail("a token or a quoted string");
      return value;
    }
    const content = withoutEscapes(quoted.slice(1));
    if (!this.#match(CLOSING_QUOTE)) this.#fail("a closing quote");
    if (NOT_QUOTABLE.test(content)) {
      this.#fail("only characters that a quoted string allows");
    }
    return content;
  }
}
