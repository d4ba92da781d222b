/** The default (RFC 8414, section 2; RFC 7591, section 2). */
export const DEFAULT_METHOD = "client_secret_basic";

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

interface RegisteredMethod {
  readonly named: string | undefined;
  readonly requested: string | undefined;
  readonly hasSecret: boolean;
  readonly listed: readonly string[] | undefined;
}

/**
 * Returns the method of a registration; undefined to choose from the server's list. The
 * response should contain the method and its secret (RFC 7591, section 3.2.1). Without
 * a method, the requested one counts. A client without the required secret is public if
 * `none` was requested or is listed. A public client's secret is used if `none` is not
 * listed.
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
