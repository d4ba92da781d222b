import {
  invalidArgument,
  requireArgument,
  requireNonEmptyString,
  requireObject,
  requireStrings,
} from "../core/_arguments.ts";
import { isMembers, type Members } from "../core/_members.ts";
import { parseHttpUrl, quoteUrl, urlString } from "../core/_url.ts";
import { AUTH_SCOPE_SEPARATOR } from "../core/constants.ts";
import type { IAuthorizationDynamicClientRegistrationRequest } from "../core/types.ts";
import {
  isReadableKey,
  isRedirectGrant,
  isSecretMethod,
  MAX_DOCUMENT_BYTES,
  privateMembersOf,
  redirectUriProblem,
  requireDocumentUrl,
  secretMembersOf,
} from "./_metadata_document.ts";
import { applicationTypeOf } from "./_application_type.ts";

/**
 * A client metadata document: client metadata with the URL of the document as
 * `client_id`.
 *
 * @category Clients
 */
export interface ClientMetadataDocument
  extends IAuthorizationDynamicClientRegistrationRequest {
  /** URL of the document. */
  client_id: string;
  /** Display name. */
  client_name: string;
  /** URIs that an authorization response may be sent to. */
  redirect_uris: string[];
}

/** Options of {@linkcode buildClientMetadata}. */
export interface BuildClientMetadataOptions {
  /**
   * URL of the document: https with a path, without a fragment or credentials, as `URL`
   * writes it. Another URL is another client.
   */
  url: string | URL;
  /** Display name. */
  clientName: string;
  /**
   * Redirect URIs: https, http on loopback, or a custom scheme. The list may be empty
   * if the grant types of `clientMetadata` need no redirect.
   */
  redirectUris: readonly (string | URL)[];
  /** URL of your home page, on the origin of the document. */
  clientUri?: string | URL | undefined;
  /** URL of a logo, on the origin of the document. */
  logoUri?: string | URL | undefined;
  /** Scope values that the client may request; omitted if undefined. */
  scopes?: readonly string[] | undefined;
  /**
   * Public keys of a client that authenticates with {@linkcode privateKeyJwt}; without
   * keys, the client is public.
   */
  jwks?: { readonly keys: readonly object[] } | undefined;
  /** https URL of the public keys, instead of `jwks`. */
  jwksUri?: string | URL | undefined;
  /** Other client metadata; it replaces the library's own, except `client_id`. */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
}

function requireRedirectUris(values: unknown, grants: readonly string[]): void {
  const name = "redirectUris";
  const uris = requireStrings(name, values);
  const needsOne = grants.some(isRedirectGrant);
  requireArgument(uris.length > 0 || !needsOne, name, "a list with a URI");
  for (const uri of uris) {
    const problem = redirectUriProblem(uri);
    if (problem === undefined) continue;
    throw invalidArgument(name, `usable: ${quoteUrl(uri)} ${problem}`);
  }
}

function requirePublicKeys(jwks: unknown): void {
  const { keys } = requireObject("jwks", jwks as Members);
  const isSet = Array.isArray(keys) && keys.length > 0 && keys.every(isMembers);
  requireArgument(isSet, "jwks", "a JWK Set with a key");
  requireArgument(keys.every(isReadableKey), "jwks", "keys that can be read");
  const isPublic = keys.every((key) => privateMembersOf(key).length === 0);
  // Everyone can read the document.
  requireArgument(isPublic, "jwks", "public keys, without private members");
}

/** Fails if servers would reject a document. */
function requireUsable(document: ClientMetadataDocument): void {
  const { jwks, jwks_uri, token_endpoint_auth_method: method } = document;
  requireNonEmptyString("clientName", document.client_name);
  requireRedirectUris(
    document.redirect_uris,
    requireStrings("clientMetadata.grant_types", document.grant_types),
  );
  for (
    const [name, uri] of Object.entries({
      clientUri: document.client_uri,
      logoUri: document.logo_uri,
      jwksUri: jwks_uri,
    })
  ) {
    const { protocol } = parseHttpUrl(uri ?? "https://a") ?? {};
    requireArgument(protocol === "https:", name, "an https URL");
  }
  const hasKeys = jwks !== undefined || jwks_uri !== undefined;
  if (jwks !== undefined) requirePublicKeys(jwks);
  const isOne = jwks === undefined || jwks_uri === undefined;
  requireArgument(isOne, "jwks", "undefined if there is a jwksUri");
  requireArgument(
    !isSecretMethod(method) && (method !== "private_key_jwt" || hasKeys),
    "clientMetadata.token_endpoint_auth_method",
    "one without a secret, and with private_key_jwt there have to be keys",
  );
  requireArgument(
    secretMembersOf(document).length === 0,
    "clientMetadata",
    "without a client_secret and a registration_access_token",
  );
  const { length } = new TextEncoder().encode(JSON.stringify(document));
  requireArgument(
    length <= MAX_DOCUMENT_BYTES,
    "The document",
    `at most ${MAX_DOCUMENT_BYTES} bytes, and has ${length}`,
  );
}

function present<T extends object>(members: T): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as T;
}

/**
 * Builds a client metadata document. Publish it at its URL as `application/json`, and
 * set a flow's `clientMetadataUrl`. Servers that accept such documents use the URL as
 * `client_id`; no client is registered.
 *
 * The grant types are `authorization_code` and `refresh_token`. The authentication
 * method is `private_key_jwt` with keys, otherwise `none`. `application_type` is `web`
 * if every redirect URI is https, otherwise `native`. `clientMetadata` can replace
 * these.
 *
 * @param options The URL and the members of the document.
 * @returns The document, for `JSON.stringify`.
 * @throws {OAuthClientError} `invalid_argument`: servers would reject the document, for
 * example because it contains a private key or a secret, or more than 5,120 bytes.
 * @see draft-ietf-oauth-client-id-metadata-document-02, sections 3 and 4; RFC 7591,
 * section 2. {@linkcode https://jsr.io/@oauth-helper/client/doc/doctor | ./doctor}
 * diagnoses the published document with `diagnoseClientMetadata`.
 *
 * @example The document of a program on the user's machine
 * ```ts
 * import { buildClientMetadata } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const document = buildClientMetadata({
 *   url: "https://tool.example/client.json",
 *   clientName: "My tool",
 *   redirectUris: ["http://127.0.0.1:33418/callback"],
 * });
 * assertEquals(document, {
 *   client_id: "https://tool.example/client.json",
 *   client_name: "My tool",
 *   redirect_uris: ["http://127.0.0.1:33418/callback"],
 *   grant_types: ["authorization_code", "refresh_token"],
 *   response_types: ["code"],
 *   token_endpoint_auth_method: "none",
 *   application_type: "native",
 * });
 * ```
 *
 * @category Clients
 */
export function buildClientMetadata(
  options: BuildClientMetadataOptions,
): ClientMetadataDocument {
  const { url, clientName, redirectUris, clientUri, logoUri, ...given } =
    requireObject("options", options);
  const { scopes, jwks, jwksUri, clientMetadata } = given;
  const isList = Array.isArray(redirectUris);
  requireArgument(isList, "redirectUris", "an array of URIs");
  const uris = redirectUris.map(urlString);
  const hasKeys = (jwks ?? jwksUri) !== undefined;
  const client_id = requireDocumentUrl("url", url);
  const members: IAuthorizationDynamicClientRegistrationRequest = {
    client_id,
    client_name: clientName,
    client_uri: urlString(clientUri) as string | undefined,
    logo_uri: urlString(logoUri) as string | undefined,
    redirect_uris: uris as string[],
    grant_types: ["authorization_code", "refresh_token"],
    scope: scopes &&
      requireStrings("scopes", scopes).join(AUTH_SCOPE_SEPARATOR),
    jwks: jwks as Members | undefined,
    jwks_uri: urlString(jwksUri) as string | undefined,
    token_endpoint_auth_method: hasKeys ? "private_key_jwt" : "none",
    ...clientMetadata,
  };
  const { redirect_uris, grant_types } = members;
  const hasCode = grant_types?.includes("authorization_code");
  const document = present({
    ...members,
    client_id,
    response_types: members.response_types ?? (hasCode ? ["code"] : []),
    application_type: members.application_type ??
      applicationTypeOf(redirect_uris),
  }) as ClientMetadataDocument;
  requireUsable(document);
  return document;
}
