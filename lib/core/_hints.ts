/** Which option may help after a failure, by the purpose of a request and its error. */

/** What a request or its response has or lacks, as far as a hint depends on it. */
export type Trait =
  | "resource"
  | "no_dpop"
  | "client_assertion"
  | "encoded_credentials"
  | "both_encodings"
  | "basic"
  | "post"
  | "page";

/** The error of a response with status 4xx and without an error code. */
export const BARE_ERROR = "bare_error";
/** The same, where the server has refused the client and returned no body. */
export const BARE_REFUSAL = "bare_refusal";

/**
 * An option that may help: after which error codes of servers, the two above, or "" for
 * none; and with which trait, if it depends on one.
 */
export type Hint = readonly [
  errors: readonly string[],
  trait: Trait | undefined,
  hint: string,
];

const RESOURCE =
  "if the server rejects the parameter resource, set resource: false";

const SCOPES: Hint = [["invalid_scope"], undefined, "set scopes"];

/** The hints for a form that the server has refused, in the order of a message. */
export const FORM_HINTS: readonly Hint[] = [
  [["invalid_target", BARE_ERROR, BARE_REFUSAL], "resource", RESOURCE],
  [
    ["invalid_dpop_proof", "use_dpop_nonce"],
    "no_dpop",
    "the server requires DPoP: set dpop",
  ],
  [
    ["invalid_client"],
    "client_assertion",
    // Servers differ in the `aud` and `typ` that they accept.
    "see audience and type of privateKeyJwt",
  ],
  [
    ["invalid_client", "unauthorized_client", BARE_REFUSAL],
    "encoded_credentials",
    // Servers differ in whether they decode such Basic credentials.
    "see formEncode of clientSecretBasic",
  ],
  [
    ["invalid_client", BARE_REFUSAL],
    "basic",
    "client_secret was in the header: see clientSecretPost",
  ],
  [
    ["invalid_client", BARE_REFUSAL],
    "post",
    "client_secret was in the body: see clientSecretBasic",
  ],
  [
    ["invalid_client", "unauthorized_client", BARE_REFUSAL],
    "both_encodings",
    "credentials sent with formEncode true, then false",
  ],
  SCOPES,
  [
    ["", BARE_ERROR],
    "page",
    "it returns a page, not JSON: check the URL",
  ],
];

/** The hints for an authorization request that the server has refused. */
export const AUTHORIZATION_HINTS: readonly Hint[] = [
  [["invalid_target"], "resource", RESOURCE],
  SCOPES,
];

/** Returns the options that may help, of the hints for one purpose, for a message. */
export function hintsFor(
  hints: readonly Hint[],
  error: string,
  hasTrait: Partial<Record<Trait, boolean>>,
): string {
  return hints.filter(([errors, trait]) =>
    errors.includes(error) && (!trait || hasTrait[trait])
  ).map(([, , hint]) => ` (${hint})`).join("");
}

/** Returns the options that provide a client for a server, the simplest first. */
export function clientHint(
  hasRegistration: boolean,
  acceptsDocuments: boolean,
): string {
  const url = acceptsDocuments
    ? "clientMetadataUrl, as the server accepts client metadata documents, or "
    : "";
  return hasRegistration
    ? `set clientMetadata to register one, or ${url}client to one that you have`
    : `set ${url}client to one that you have, as the server offers no registration`;
}

/** For a server that publishes no metadata. */
export const UNPUBLISHED =
  "set serverMetadata from its manual, or authorizationServer";

/** For an issuer other than expected (RFC 8414, section 6.2; RFC 9207). */
export const OTHER_ISSUER = " (this is what an attack looks like: set " +
  "trustedIssuers only if both are one server)";

/** For functions that a receiver has. */
export const RECEIVER = "(spread createLoopbackReceiver())";
