/** Findings about a client metadata document. */

import { stringsIn } from "../core/_members.ts";
import { isLoopback, isWebUrl, parseUrl } from "../core/_url.ts";
import {
  isDocumentUrl,
  isRedirectGrant,
  isSecretMethod,
  MAX_DOCUMENT_BYTES,
  redirectUriProblem,
  secretMembersOf,
} from "../client/_metadata_document.ts";
import {
  DRAFT,
  firstOf,
  grantsOf,
  type IClientMetadataFacts,
  type IClientMetadataRule,
  urlsIn,
} from "./_client_metadata_facts.ts";
import { list, sentence, shown } from "./_facts.ts";

const SECTION_3 = `${DRAFT}, section 3`;
const SECTION_4 = `${DRAFT}, section 4`;
const SECTION_4_1 = `${DRAFT}, section 4.1`;
const SECTION_5 = `${DRAFT}, section 5`;
const REDIRECTS = `${DRAFT}, section 4.2; RFC 9700, section 2.1`;
const KEYS = `${DRAFT}, sections 4.1 and 8.2; RFC 7517, section 5`;
const PAGES = ["client_uri", "logo_uri", "policy_uri", "tos_uri"];

/** The codes of errors that have a rule of their own. */
const OTHER_CODES = ["redirect_refused", "response_too_large"];

const isRedirected = ({ url, response, error }: IClientMetadataFacts) =>
  error?.code === "redirect_refused" ||
  (response !== undefined && response.finalUrl !== url.href);

function mediaTypeOf({ response }: IClientMetadataFacts): string {
  const type = response?.headers.get("Content-Type") ?? "";
  return type.toLowerCase().split(";", 1).join().trim();
}

/** Returns the bytes of a document; `Infinity` if it was not read to its end. */
function sizeOf({ response, error }: IClientMetadataFacts): number {
  if (error?.code === "response_too_large") return Infinity;
  const text = response?.text ?? JSON.stringify(response?.json ?? "");
  return new TextEncoder().encode(text).length;
}

const isOk = (facts: IClientMetadataFacts) =>
  facts.response?.status === 200 && !isRedirected(facts) && !facts.error;

/** The rules for the response. */
export const DOCUMENT_RESPONSE_RULES: readonly IClientMetadataRule[] = [
  {
    id: "document_not_https", // oidc-provider, workers-oauth-provider
    standard: SECTION_3,
    operator: "Publish the document with https.",
    find: ({ url }) =>
      url.protocol !== "https:" && "The URL of the document is not https.",
  },
  {
    id: "document_url", // the MCP SDK compares strings
    standard: SECTION_3,
    operator: "Use an https URL with a path, without a fragment, as it is " +
      "written by the URL Standard.",
    find: ({ given, url }) =>
      url.protocol === "https:" && !isDocumentUrl(given) &&
      `The URL cannot be a client_id: "${shown(given)}".`,
  },
  {
    id: "document_unreachable", // row 83
    standard: SECTION_5,
    operator: "Publish the document where every server can request it.",
    find: ({ error }) =>
      error && !OTHER_CODES.includes(error.code) && sentence(error),
  },
  {
    id: "document_redirected", // row 83
    standard: SECTION_5,
    operator:
      "Respond with the document itself, as servers follow no redirect.",
    find: (facts) => isRedirected(facts) && "The URL redirects.",
  },
  {
    id: "document_status", // row 83
    standard: SECTION_5,
    operator: "Respond to a GET without credentials with status 200.",
    find: (facts) =>
      facts.response && !isRedirected(facts) && facts.response.status !== 200 &&
      `The response has status ${facts.response.status}.`,
  },
  {
    id: "document_media_type", // a file without an extension
    standard: SECTION_4,
    operator: "Respond with Content-Type: application/json.",
    find: (facts) =>
      isOk(facts) &&
      !/^application\/([\w.+-]+\+)?json$/.test(mediaTypeOf(facts)) &&
      `The media type is ${shown(mediaTypeOf(facts)) || "missing"}.`,
  },
  {
    id: "document_too_large", // workers-oauth-provider
    standard: `${DRAFT}, section 8.7`,
    operator: "Shorten the document: logos, texts and keys by URL.",
    find: (facts) =>
      sizeOf(facts) > MAX_DOCUMENT_BYTES &&
      `The document has more than ${MAX_DOCUMENT_BYTES} bytes.`,
  },
  {
    id: "document_not_json", // row 83
    standard: SECTION_4,
    operator: "Respond with a JSON object.",
    find: (facts) =>
      isOk(facts) && !facts.document && "The response is no JSON object.",
  },
  {
    id: "document_not_cached", // the default of many frameworks
    severity: "warning",
    standard: `${DRAFT}, section 5.2`,
    operator: "Let servers keep it, as with Cache-Control: max-age=3600.",
    find: ({ response }) =>
      /(^|[,\s])no-store\b/i
        .test(response?.headers.get("Cache-Control") ?? "") &&
      "The response is no-store: servers request it at every sign-in.",
  },
];

/** The rules for the members of a document. */
export const CLIENT_METADATA_RULES: readonly IClientMetadataRule[] = [
  {
    id: "client_id_differs", // oidc-provider, workers-oauth-provider
    standard: SECTION_4,
    operator: "Set client_id to exactly the URL of the document.",
    find: ({ url }, { client_id: id }) =>
      id !== url.href &&
      (typeof id === "string"
        ? `The client_id is "${shown(id)}", and not the URL of the document.`
        : "The document has no client_id."),
  },
  {
    id: "redirect_uris_missing", // row 83
    standard: REDIRECTS,
    operator: "List the redirect URIs in redirect_uris.",
    find: (_, document) =>
      grantsOf(document).some(isRedirectGrant) &&
      !stringsIn(document.redirect_uris)?.length &&
      "The document has no redirect URIs.",
  },
  {
    id: "redirect_uri_unusable", // workers-oauth-provider
    standard: "RFC 6749, section 3.1.2; RFC 8252, section 7",
    operator: "List https URIs, http URIs on loopback, or those of a scheme " +
      "of your own; without a fragment.",
    find: (_, document) =>
      firstOf(
        urlsIn(document, ["redirect_uris"]).flatMap(([, uri]) => {
          const problem = redirectUriProblem(uri);
          return problem
            ? [`The redirect URI "${shown(uri)}" ${problem}.`]
            : [];
        }),
      ),
  },
  {
    id: "document_with_secret", // oidc-provider, workers-oauth-provider
    standard: SECTION_4_1,
    operator: "Remove it, and do not use the secret again.",
    find(_, document) {
      const names = secretMembersOf(document);
      return names.length > 0 &&
        `Everyone can read the document, and it has ${names.join(" and ")}.`;
    },
  },
  {
    id: "method_needs_secret", // oidc-provider
    standard: SECTION_4_1,
    operator: "Set token_endpoint_auth_method to none, or to private_key_jwt.",
    find: (_, { token_endpoint_auth_method: method }) =>
      isSecretMethod(method) &&
      `The method ${shown(method, 60)} needs a secret.`,
  },
  {
    id: "method_missing", // oidc-provider takes client_secret_basic
    severity: "warning",
    standard: "RFC 7591, section 2",
    operator: "Set token_endpoint_auth_method to none, or to private_key_jwt.",
    find: (_, { token_endpoint_auth_method: method }) =>
      method === undefined &&
      "The document has no token_endpoint_auth_method, and the default needs " +
        "a secret.",
  },
  {
    id: "keys_unreadable", // workers-oauth-provider
    standard: KEYS,
    operator: "Publish a JWK Set with public keys, as jwks or by jwks_uri.",
    find: ({ keys }) => keys.unreadable,
  },
  {
    id: "keys_private", // a key that was exported as a whole
    standard: KEYS,
    operator: "Remove the key, and make a new one: this one is known.",
    find: ({ keys }) => keys.private,
  },
  {
    id: "client_name_missing", // workers-oauth-provider
    severity: "warning",
    standard: "MCP 2025-11-25, authorization; RFC 7591, section 2",
    operator: "Set client_name, which users are shown.",
    find: (_, { client_name: name }) =>
      (typeof name !== "string" || name.trim() === "") &&
      "The document has no client_name.",
  },
  {
    id: "page_not_https", // oidc-provider
    severity: "warning",
    standard: "OpenID Connect Dynamic Client Registration 1.0, section 2",
    operator: "Use https for the pages and the logo.",
    find: (_, document) =>
      firstOf(
        urlsIn(document, PAGES).flatMap(([name, text]) =>
          parseUrl(text)?.protocol === "https:"
            ? []
            : [`The ${name} is not https: "${shown(text)}".`]
        ),
      ),
  },
  {
    id: "other_origin", // section 8.1: a rule of some servers
    severity: "warning",
    standard: `${DRAFT}, section 8.1`,
    operator: "Use the origin of the document: some servers accept no other.",
    find: ({ url }, document) =>
      firstOf(
        urlsIn(document, ["redirect_uris", "client_uri", "logo_uri"])
          .flatMap(([name, text]) => {
            const other = isWebUrl(text) ? parseUrl(text) : undefined;
            return other && other.origin !== url.origin && !isLoopback(other)
              ? [`${name} has another origin: "${shown(text)}".`]
              : [];
          }),
      ),
  },
  {
    id: "loopback_port", // row 43
    severity: "info",
    standard: "RFC 8252, section 7.3",
    operator: "List the URI with the port that the program listens on, and " +
      "without one.",
    find: (_, document) =>
      firstOf(
        urlsIn(document, ["redirect_uris"]).flatMap(([, uri]) => {
          const url = parseUrl(uri);
          return url && url.port !== "" && isLoopback(url)
            ? [`Servers differ in whether the port counts: "${shown(uri)}".`]
            : [];
        }),
      ),
  },
];

const METHODS = "token_endpoint_auth_methods_supported";

/** The rules for the metadata of a server. */
export const CLIENT_TARGET_RULES: readonly IClientMetadataRule[] = [
  {
    id: "target_not_discovered", // any server
    standard: "RFC 9728, section 5; RFC 8414, section 3",
    operator: "Diagnose the server itself.",
    find: ({ server }) => server?.problem,
  },
  {
    id: "documents_not_accepted", // most servers
    standard: `${DRAFT}, section 6`,
    operator: "Accept client metadata documents, and publish " +
      '`"client_id_metadata_document_supported": true`.',
    client: "Register a client, or use one of the operator.",
    find: ({ server }) =>
      server?.metadata &&
      server.metadata.client_id_metadata_document_supported !== true &&
      "The server does not accept client metadata documents.",
  },
  {
    id: "no_common_method", // FAPI 2.0
    standard: "RFC 8414, section 2; RFC 7591, section 2",
    operator: `List the method in \`${METHODS}\`.`,
    client: "Publish a document with a method of the server.",
    find({ server, document }) {
      const method = document?.token_endpoint_auth_method;
      if (!server?.metadata || typeof method !== "string") return;
      const listed = stringsIn(server.metadata[METHODS]);
      return !listed?.includes(method) && {
        message: `The server does not list ${shown(method, 60)}, but ${
          list(listed ?? ["client_secret_basic"]) || "nothing"
        }.`,
        // Without a list there is a default, which no document can use.
        severity: listed ? "error" : "warning",
      };
    },
  },
  {
    id: "no_common_grant", // a server for services
    standard: "RFC 8414, section 2; RFC 7591, section 2",
    operator: "List the grant in `grant_types_supported`.",
    client: "Publish a document with a grant type of the server.",
    find({ server, document }) {
      if (!server?.metadata || !document) return;
      const listed = stringsIn(server.metadata.grant_types_supported) ??
        ["authorization_code", "implicit"];
      const wanted = grantsOf(document);
      return !wanted.some((grant) => listed.includes(grant)) &&
        `The server has none of the grant types ${list(wanted)}.`;
    },
  },
];
