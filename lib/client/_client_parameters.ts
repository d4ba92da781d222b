/** Parameters that client authentication sets (RFC 6749, 7521). */
export const CLIENT_PARAMETERS: readonly string[] = [
  "client_id",
  "client_secret",
  "client_assertion",
  "client_assertion_type",
];
