import {
  requireArgument,
  requireString,
  requireStrings,
} from "./_arguments.ts";
import { readLeniently, setParameter } from "./_challenge_reader.ts";
import type { IAuthenticationChallenge } from "./types.ts";

/** Reads the text between two commas: a scheme, a parameter, or both. */
function readPiece(piece: string, challenges: IAuthenticationChallenge[]) {
  const equals = piece.indexOf("=");
  const space = piece.indexOf(" ");
  const hasBoth = space > 0 && space < equals;
  if (hasBoth || (equals === -1 && piece !== "")) {
    challenges.push({
      scheme: hasBoth ? piece.slice(0, space) : piece,
      params: {},
    });
  }
  const start = hasBoth ? space + 1 : 0;
  if (equals > start && challenges.length > 0) {
    const value = piece.slice(equals + 1).trim();
    setParameter(
      challenges.at(-1)!.params,
      piece.slice(start, equals).trim(),
      value.slice(
        value.startsWith('"') ? 1 : 0,
        value.endsWith('"') ? -1 : value.length,
      ),
    );
  }
}

/**
 * Splits a `WWW-Authenticate` header into challenges by simple rules; never fails on a
 * string. To react to a response, prefer {@linkcode findChallenge}.
 *
 * Commas outside double quotes separate pieces. A piece without `=` is a scheme, and
 * `Bearer realm="x"` a scheme with its first parameter. Any other piece is a parameter
 * of the previous challenge. Values lose one quote at each end and keep escapes. If a
 * parameter is repeated, the last one counts.
 *
 * @param value The header value; an empty one contains no challenge.
 * @throws {OAuthClientError} `invalid_argument`: the value is not a string.
 * @see RFC 9110, section 11.6.1.
 *
 * @example List the schemes that a resource offers
 * ```ts
 * import { parseWWWAuthenticateHeader } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const challenges = parseWWWAuthenticateHeader(
 *   'Negotiate, Bearer realm="api", error="invalid_token"',
 * );
 * const lines = challenges.map(({ scheme, params }) =>
 *   `${scheme}: ${params.error ?? "no error"}`
 * );
 * assertEquals(lines, ["Negotiate: no error", "Bearer: invalid_token"]);
 * ```
 *
 * @category Literal layer
 */
export function parseWWWAuthenticateHeader(
  value: string,
): IAuthenticationChallenge[] {
  requireString("value", value);
  const challenges: IAuthenticationChallenge[] = [];
  let start = 0;
  // Faster than reading each character. Each search starts after the last one, so the
  // time is linear.
  let comma = value.indexOf(",");
  let quote = value.indexOf('"');
  while (comma !== -1) {
    if (quote === -1 || comma < quote) {
      readPiece(value.slice(start, comma).trim(), challenges);
      start = comma + 1;
      comma = value.indexOf(",", start);
      continue;
    }
    const closing = value.indexOf('"', quote + 1);
    if (closing === -1) break;
    if (comma < closing) comma = value.indexOf(",", closing + 1);
    quote = value.indexOf('"', closing + 1);
  }
  readPiece(value.slice(start).trim(), challenges);
  return challenges;
}

/**
 * The part of `Headers` that {@linkcode findChallenge} uses.
 *
 * @category Messages of the protocol
 */
export interface ChallengeHeaders {
  /** Returns the value of a header field; several values are joined by commas. */
  get(name: string): string | null;
}

function headerValue(
  source: { headers: ChallengeHeaders } | ChallengeHeaders | string,
): string {
  if (typeof source === "string") return source;
  const headers = Object(source).headers ?? source;
  requireArgument(
    typeof headers?.get === "function",
    "source",
    "a response, headers or a string",
  );
  return headers.get("WWW-Authenticate") ?? "";
}

/**
 * Returns every challenge of the given schemes, in order. {@linkcode findChallenge}
 * returns the first.
 *
 * Accepts unquoted URLs and missing commas between parameters, and skips unreadable
 * text. If a parameter is repeated, the first one counts.
 *
 * @param source A response, its headers, or the header value.
 * @param schemes Schemes in any letter case; `Bearer` and `DPoP` when absent.
 * @returns An empty list if the header is missing or contains only other schemes.
 * @throws {OAuthClientError} `invalid_argument`: `source` cannot contain a header, or
 * `schemes` is not an array of strings.
 * @see RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1.
 *
 * @example Look for the metadata URL in all challenges
 * ```ts
 * import { findChallenges } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const challenges = findChallenges(
 *   'DPoP algs="ES256", Bearer resource_metadata="https://api.example/m"',
 * );
 * const [url] = challenges.flatMap(({ params }) => params.resource_metadata ?? []);
 * assertEquals(url, "https://api.example/m");
 * ```
 *
 * @category Messages of the protocol
 */
export function findChallenges(
  source: { headers: ChallengeHeaders } | ChallengeHeaders | string,
  schemes?: readonly string[],
): IAuthenticationChallenge[] {
  const value = headerValue(source);
  const wanted = requireStrings("schemes", schemes ?? ["Bearer", "DPoP"])
    .map((scheme) => scheme.toLowerCase());
  return readLeniently(value)
    .filter(({ scheme }) => wanted.includes(scheme.toLowerCase()));
}

/**
 * Returns the first challenge of the given schemes, read as in
 * {@linkcode findChallenges}.
 *
 * @param source A response, its headers, or the header value.
 * @param schemes Schemes in any letter case; `Bearer` and `DPoP` when absent.
 * @returns Undefined if the header is missing or contains only other schemes.
 * @throws {OAuthClientError} `invalid_argument`, as {@linkcode findChallenges}.
 * @see RFC 6750, section 3; RFC 9449, section 7.1.
 *
 * @example Find out why a resource rejected a request
 * ```ts
 * import { findChallenge } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const response = new Response(null, {
 *   status: 403,
 *   headers: {
 *     "WWW-Authenticate":
 *       'Negotiate, Bearer error="insufficient_scope" scope="write"',
 *   },
 * });
 * const { error, scope } = findChallenge(response)?.params ?? {};
 * assertEquals([error, scope], ["insufficient_scope", "write"]);
 * ```
 *
 * @category Messages of the protocol
 */
export function findChallenge(
  source: { headers: ChallengeHeaders } | ChallengeHeaders | string,
  schemes?: readonly string[],
): IAuthenticationChallenge | undefined {
  return findChallenges(source, schemes)[0];
}
