/** Reads challenges leniently, by the grammar of RFC 9110, sections 11.2 to 11.6.1. */

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
 * closing quote may be missing. Words up to a comma belong to a value without quotes, as
 * servers send scopes.
 */
const LENIENT_ELEMENT =
  /([!#$%&'*+\-.^_`|~\w]+)(?:[ \t]*=[ \t]*(?:"([^"\\]*(?:\\[^]?[^"\\]*)*)"?|([^\s,"]*(?:[ \t]+[^\s,"=]+(?=[ \t]*(?:,|$)|[ \t]+[^\s,"=]+(?:[\s,]|$)))*))|[ \t]+([\w\-.~+/]+=*)(?=[ \t]*(?:,|$)))?/g;

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
    // Some servers separate parameters by semicolons.
    const parameter = quoted === undefined
      ? unquoted?.replace(/;$/, "")
      : withoutEscapes(quoted);
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
