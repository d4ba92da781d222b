/** Which option may help after a failure, by the purpose of a request and its error. */

/** What a request has or lacks, as far as a hint depends on it. */
export type Trait =
  | "resource"
  | "no_dpop"
  | "client_assertion"
  | "encoded_credentials"
  | "no_scope"
  | "registration"
  | "metadata_documents"
  | "no_registration";

/** The error of a response with status 4xx and without an error code. */
export const BARE_ERROR = "bare_error";
/** The same, where the server has refused the client and returned no body. */
export const BARE_REFUSAL = "bare_refusal";

/** An option that may help: for which errors, and if the request has which trait. */
export interface IHint {
  /** Error codes of servers, or one of the two above. */
  readonly errors: readonly string[];
  readonly trait: Trait;
  readonly hint: string;
}

const RESOURCE =
  "for a server that rejects the parameter resource, set resource: false";

/** The hints for a form that the server has refused, in the order of a message. */
export const FORM_HINTS: readonly IHint[] = [
  {
    errors: ["invalid_target", BARE_ERROR, BARE_REFUSAL],
    trait: "resource",
    hint: RESOURCE,
  },
  {
    errors: ["invalid_dpop_proof", "use_dpop_nonce"],
    trait: "no_dpop",
    hint: "the server requires DPoP: set dpop",
  },
  {
    errors: ["invalid_client"],
    trait: "client_assertion",
    hint:
      "servers differ in the aud and typ of the client assertion that they " +
      "accept: see audience and type of privateKeyJwt",
  },
  {
    errors: ["invalid_client", "unauthorized_client", BARE_REFUSAL],
    trait: "encoded_credentials",
    hint: "servers differ in whether they decode such Basic credentials: see " +
      "formEncode of clientSecretBasic",
  },
];

/** The hints for an authorization request that the server has refused. */
export const AUTHORIZATION_HINTS: readonly IHint[] = [
  { errors: ["invalid_target"], trait: "resource", hint: RESOURCE },
  {
    // A server may refuse a request without a scope (RFC 6749, section 3.3);
    // oidc-provider sends `access_denied`, as if the user had refused.
    errors: ["access_denied", "invalid_scope"],
    trait: "no_scope",
    hint:
      "the request had no scope; for a server that requires one, set scopes",
  },
];

/** The hints where there is no client for a server. */
export const CLIENT_HINTS: readonly IHint[] = [
  {
    errors: [""],
    trait: "registration",
    hint: "clientMetadata to register one",
  },
  {
    errors: [""],
    trait: "metadata_documents",
    hint: "clientMetadataUrl, as the server accepts client metadata documents",
  },
  {
    errors: [""],
    trait: "registration",
    hint: "client to one that you have",
  },
  {
    errors: [""],
    trait: "no_registration",
    hint: "client to one that you have, as the server offers no registration",
  },
];

/** Returns the options that may help, of the hints for one purpose. */
export function hintsFor(
  hints: readonly IHint[],
  error: string,
  hasTrait: Partial<Record<Trait, boolean>>,
): string[] {
  return hints.filter(({ errors, trait }) =>
    errors.includes(error) && hasTrait[trait]
  ).map(({ hint }) => hint);
}

/** Returns hints as the end of a message. */
export function inBrackets(hints: readonly string[]): string {
  return hints.map((hint) => ` (${hint})`).join("");
}
