/** Which option may help after a failure, by the purpose of a request and its error. */

/** The error of a response with status 4xx and without an error code. */
export const BARE_ERROR = "bare_error";
/** The same, where the server has rejected the client and returned no body. */
export const BARE_REFUSAL = "bare_refusal";

/**
 * An option that may help: after which error codes of servers, the two above, or "" for
 * none; and whether it applies to the request.
 */
export type Hint = readonly [
  errors: readonly string[],
  applies: boolean,
  hint: string,
];

/** For a server that does not know the resource, or resource indicators. */
export const RESOURCE_HINT =
  "if the server rejects the parameter resource, set resourceIndicator: false";

const SCOPES: Hint = [
  ["invalid_scope"],
  true,
  "set scopes, or scope in clientMetadata to register more",
];

/** Returns the standard code for the one that GitHub sends; any other unchanged. */
export function standardCode<Code extends string | undefined>(
  error: Code,
): Code | "invalid_client" {
  return error === "incorrect_client_credentials" ? "invalid_client" : error;
}

/** Returns the options that may help after an error code, as the end of a message. */
export function hintsFor(error: string, hints: readonly Hint[]): string {
  const code = standardCode(error);
  return [...hints, SCOPES]
    .filter(([errors, applies]) => applies && errors.includes(code))
    .map(([, , hint]) => ` (${hint})`).join("");
}

/** Returns the options that provide a client for a server, the simplest first. */
export function clientHint(
  hasRegistration: boolean,
  acceptsDocuments: boolean,
): string {
  const url = acceptsDocuments
    ? "clientMetadataUrl (the server accepts client metadata documents), or "
    : "";
  return hasRegistration
    ? `set clientMetadata to register one, or ${url}client to an existing client`
    : `set ${url}client to an existing client, because the server does not support registration`;
}

/** For a server that publishes no metadata. */
export const UNPUBLISHED =
  "set serverMetadata from its docs, or authorizationServer";

/** For a URL, or a server, that was assumed without metadata. */
export const GUESS = "is a guess, because no metadata was found: " +
  "set serverMetadata from its docs, or authorizationServer";

/** Returns what may help after a registration has failed with a status. */
export function registrationHint(
  status: number,
  isAssumed: boolean | undefined,
  hasToken: boolean,
): string | undefined {
  if (isAssumed) return `this URL ${GUESS}`;
  if (status === 404) {
    return "the server may not support registration: set client to an existing client";
  }
  if (status !== 401 && status !== 403) return undefined;
  return hasToken
    ? "initialAccessToken may have expired, or may be used up"
    : "the server may require an initial access token: set initialAccessToken";
}

/** For an issuer other than expected (RFC 8414, section 6.2; RFC 9207). */
export const OTHER_ISSUER = " (this could be an attack: set " +
  "trustedIssuers only if both are the same server)";

/** For a server that promises its issuer, and does not send it (RFC 9207). */
export const MISSING_ISS =
  ", although its metadata promises it (only if no response has it, set " +
  "serverMetadata without authorization_response_iss_parameter_supported)";

/** For functions that a receiver has. */
export const RECEIVER = "(spread createLoopbackReceiver())";
