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

/**
 * The request that failed: one with a form, an authorization request, or none, as there
 * was no client for it.
 */
export type HintPurpose = "form" | "authorization" | "client";

/** The error of a response with status 4xx and without an error code. */
export const BARE_ERROR = "bare_error";
/** The same, where the server has refused the client and returned no body. */
export const BARE_REFUSAL = "bare_refusal";

/** An option that may help. */
export interface IHint {
  readonly trait: Trait;
  readonly purposes: readonly HintPurpose[];
  /** Error codes of servers, or one of the two above. */
  readonly errors: readonly string[];
  readonly hint: string;
}

/** All hints, in the order of a message. */
export const HINTS: readonly IHint[] = [
  {
    trait: "resource",
    purposes: ["form", "authorization"],
    errors: ["invalid_target", BARE_ERROR, BARE_REFUSAL],
    hint:
      "for a server that rejects the parameter resource, set resource: false",
  },
  {
    trait: "no_dpop",
    purposes: ["form"],
    errors: ["invalid_dpop_proof", "use_dpop_nonce"],
    hint: "the server requires DPoP: set dpop",
  },
  {
    trait: "client_assertion",
    purposes: ["form"],
    errors: ["invalid_client"],
    hint:
      "servers differ in the aud and typ of the client assertion that they " +
      "accept: see audience and type of privateKeyJwt",
  },
  {
    trait: "encoded_credentials",
    purposes: ["form"],
    errors: ["invalid_client", "unauthorized_client", BARE_REFUSAL],
    hint: "servers differ in whether they decode such Basic credentials: see " +
      "formEncode of clientSecretBasic",
  },
  {
    // A server may refuse a request without a scope (RFC 6749, section 3.3);
    // oidc-provider sends `access_denied`, as if the user had refused.
    trait: "no_scope",
    purposes: ["authorization"],
    errors: ["access_denied", "invalid_scope"],
    hint:
      "the request had no scope; for a server that requires one, set scopes",
  },
  {
    trait: "registration",
    purposes: ["client"],
    errors: ["no_client"],
    hint: "clientMetadata to register one",
  },
  {
    trait: "metadata_documents",
    purposes: ["client"],
    errors: ["no_client"],
    hint: "clientMetadataUrl, as the server accepts client metadata documents",
  },
  {
    trait: "registration",
    purposes: ["client"],
    errors: ["no_client"],
    hint: "client to one that you have",
  },
  {
    trait: "no_registration",
    purposes: ["client"],
    errors: ["no_client"],
    hint: "client to one that you have, as the server offers no registration",
  },
];

/** Returns the options that may help. */
export function hintsFor(
  purpose: HintPurpose,
  error: string,
  hasTrait: Partial<Record<Trait, boolean>>,
): string[] {
  return HINTS.filter(({ purposes, errors, trait }) =>
    purposes.includes(purpose) && errors.includes(error) && hasTrait[trait]
  ).map(({ hint }) => hint);
}

/** Returns hints as the end of a message. */
export function inBrackets(hints: readonly string[]): string {
  return hints.map((hint) => ` (${hint})`).join("");
}
