/**
 * Authentication challenges: the value of a `WWW-Authenticate` header.
 *
 * @module
 */

import { requireArgument } from "./_arguments.ts";
import type { IAuthenticationChallenge } from "./types.ts";

type Parameter = [name: string, value: string];

function readParameter(text: string, parameters: Parameter[]): void {
  const equals = text.indexOf("=");
  if (equals === 0) return;
  let value = text.slice(equals + 1).trim();
  if (value.startsWith('"')) value = value.slice(1);
  if (value.endsWith('"')) value = value.slice(0, -1);
  parameters.push([text.slice(0, equals).trim(), value]);
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
  const challenges: [scheme: string, parameters: Parameter[]][] = [];

  const readPiece = (piece: string) => {
    const equals = piece.indexOf("=");
    const space = piece.indexOf(" ");
    if (piece === "") return;
    if (equals === -1) challenges.push([piece, []]);
    else if (space > 0 && space < equals) {
      challenges.push([piece.slice(0, space), []]);
      piece = piece.slice(space + 1);
    }
    const parameters = challenges.at(-1)?.[1];
    if (equals !== -1 && parameters) readParameter(piece, parameters);
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
  // Unlike an assignment, this makes `__proto__` a property like any other.
  return challenges.map(([scheme, parameters]) => ({
    scheme,
    params: Object.fromEntries(parameters),
  }));
}
