/** The order in which client authentication methods are preferred. */

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
