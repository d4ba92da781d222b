/** The order in which client authentication methods are preferred. */

/**
 * The methods of a client with a secret. The first is the default of servers and of
 * clients (RFC 8414, section 2; RFC 7591, section 2).
 */
export const SECRET_METHODS: readonly string[] = [
  "client_secret_basic",
  "client_secret_post",
];

/** The methods that need no more than a registration. */
export const REGISTERED_METHODS: readonly string[] = [
  ...SECRET_METHODS,
  "none",
];
