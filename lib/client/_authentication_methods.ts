/**
 * Which client authentication methods are preferred, and which method a registration
 * has.
 */

/** The default of servers and of clients (RFC 8414, section 2; RFC 7591, section 2). */
export const DEFAULT_METHOD = "client_secret_basic";

/** The methods for a client with a secret. */
export const SECRET_METHODS: readonly string[] = [
  DEFAULT_METHOD,
  "client_secret_post",
];

/** The methods that need only a registration. */
export const REGISTERED_METHODS: readonly string[] = [
  DEFAULT_METHOD,
  "client_secret_post",
  "none",
];

/** What determines the method of a registration. */
interface RegisteredMethod {
  /** The method in the response. */
  readonly named: string | undefined;
  /** The method in the request. */
  readonly requested: string | undefined;
  readonly hasSecret: boolean;
  /** The methods that the server lists. */
  readonly listed: readonly string[] | undefined;
}

/**
 * Returns the method of a registration; undefined to choose from the server's list.
 *
 * According to RFC 7591, section 3.2.1, the response contains the method and the secret
 * that the method needs. If the response contains no method, the requested one is kept.
 * If a method lacks its secret, the client is public if `none` was requested or is
 * listed. If a public client was issued a secret and `none` is not listed, the secret
 * is used.
 */
export function registeredMethod(
  { named, requested, hasSecret, listed = [] }: RegisteredMethod,
): string | undefined {
  const isAtOdds = (method = "") =>
    hasSecret ? method === "none" : SECRET_METHODS.includes(method);
  if (named === undefined) return isAtOdds(requested) ? undefined : requested;
  if (!isAtOdds(named)) return named;
  const mayBePublic = listed.includes("none");
  if (hasSecret) return mayBePublic || listed.length === 0 ? named : undefined;
  return mayBePublic || requested === "none" ? "none" : named;
}
