/** Reads challenges leniently, by the grammar of RFC 9110, sections 11.2 to 11.6.1. */

import type { IAuthenticationChallenge } from "./types.ts";

/** Sets an own property. If a name is repeated, the last value counts. */
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
 * A token and the text after it: a parameter's value, or, after a scheme, a token68.
 * Servers send URLs and scopes without quotes, so a value may extend to a comma. The
 * closing quote may be missing.
 */
const LENIENT_ELEMENT =
  /([!#$%&'*+\-.^_`|~\w]+)(?:[ \t]*=[ \t]*(?:"([^"\\]*(?:\\[^]?[^"\\]*)*)"?|([^\s,"]*(?:[ \t]+[^\s,"=]+(?=[ \t]*(?:,|$)|[ \t]+[^\s,"=]+(?:[\s,]|$)))*))|[ \t]+([\w\-.~+/]+=*)(?=[ \t]*(?:,|$)))?/g;

function withoutEscapes(content: string): string {
  return content.replace(/\\([^]?)/g, "$1");
}

/**
 * Skips text that the grammar does not allow. If a name is repeated, the first value
 * counts.
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
