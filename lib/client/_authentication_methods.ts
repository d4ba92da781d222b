/** Which client authentication methods are preferred, and which one a registration has. */

/** The default of servers and of clients (RFC 8414, section 2; RFC 7591, section 2). */
export const DEFAULT_METHOD = "client_secret_basic";

/** The methods of a client with a secret. */
export const SECRET_METHODS: readonly string[] = [
  DEFAULT_METHOD,
  "client_secret_post",
];

/** The methods that need no more than a registration. */
export const REGISTERED_METHODS: readonly string[] = [
  DEFAULT_METHOD,
  "client_secret_post",
  "none",
];

/** What decides about the method of a registration. */
interface IRegisteredMethod {
  /** The method in the response. */
  readonly named: string | undefined;
  /** The method in the request. */
  readonly requested: string | undefined;
  readonly hasSecret: boolean;
  /** The methods that the server lists. */
  readonly listed: readonly string[] | undefined;
}

/**
 * Returns the method of a registration; undefined if the list of the server decides.
 *
 * RFC 7591, section 3.2.1, has the response name the method and issue the secret that it
 * needs. Where the response names none, the requested one is kept. Where a method has no
 * secret, the client is public if that was requested or is listed. Where a secret was
 * issued for a public client and `none` is not listed, the secret is for use.
 */
export function registeredMethod(
  { named, requested, hasSecret, listed = [] }: IRegisteredMethod,
): string | undefined {
  const isAtOdds = (method = "") =>
    hasSecret ? method === "none" : SECRET_METHODS.includes(method);
  if (named === undefined) return isAtOdds(requested) ? undefined : requested;
  if (!isAtOdds(named)) return named;
  const mayBePublic = listed.includes("none");
  if (hasSecret) return mayBePublic || listed.length === 0 ? named : undefined;
  return mayBePublic || requested === "none" ? "none" : named;
}
