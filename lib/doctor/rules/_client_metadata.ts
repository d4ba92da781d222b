import { stringsIn } from "../../core/_members.ts";
import { isLoopback, isWebUrl, parseUrl } from "../../core/_url.ts";
import {
  isDocumentUrl,
  isRedirectGrant,
  isSecretMethod,
  MAX_DOCUMENT_BYTES,
  redirectUriProblem,
  secretMembersOf,
} from "../../client/_metadata_document.ts";
import {
  type ClientMetadataFacts,
  type ClientMetadataRule,
  DRAFT,
  firstOf,
  grantsOf,
  urlsIn,
} from "../_client_metadata_facts.ts";
import { list, sentence, shown } from "../_facts.ts";

const PAGES = ["client_uri", "logo_uri", "policy_uri", "tos_uri"];

/** Returns a document's bytes; `Infinity` if it was not read to its end. */
function sizeOf({ response, error }: ClientMetadataFacts): number {
  if (error?.code === "response_too_large") return Infinity;
  const text = response?.text ?? JSON.stringify(response?.json ?? "");
  return new TextEncoder().encode(text).length;
}

function unreadable(facts: ClientMetadataFacts): string | undefined {
  const { url, response, error, document } = facts;
  const isRedirected = error?.code === "redirect_refused" ||
    (response !== undefined && response.finalUrl !== url.href);
  if (isRedirected) return "The URL redirects, which servers do not follow.";
  if (sizeOf(facts) > MAX_DOCUMENT_BYTES) {
    return `The document has more than ${MAX_DOCUMENT_BYTES} bytes.`;
  }
  if (error) return sentence(error);
  const { status, headers } = response ?? {};
  if (status !== 200) return `The response has status ${status}.`;
  const [type = ""] = headers?.get("Content-Type")?.toLowerCase().split(";") ??
    [];
  if (!/^application\/([\w.+-]+\+)?json$/.test(type.trim())) {
    return `The media type is ${shown(type.trim()) || "missing"}.`;
  }
  return document ? undefined : "The response is not a JSON object.";
}

export const DOCUMENT_RESPONSE_RULES: readonly ClientMetadataRule[] = [
  {
    id: "document_url", // oidc-provider, workers-oauth-provider, the MCP SDK
    standard: `${DRAFT}, section 3`,
    operator:
      "Use an https URL with a path, without a fragment, because it is " +
      "written by the URL Standard.",
    find: ({ given }) =>
      !isDocumentUrl(given) &&
      `The URL cannot be a client_id: "${shown(given)}".`,
  },
  {
    id: "document_unreadable", // row 83, workers-oauth-provider
    standard: `${DRAFT}, sections 4, 5 and 8.7`,
    operator: "Respond to a GET without credentials with status 200, " +
      "Content-Type: application/json, and a short JSON object.",
    find: unreadable,
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

export const CLIENT_METADATA_RULES: readonly ClientMetadataRule[] = [
  {
    id: "client_id_differs", // oidc-provider, workers-oauth-provider
    standard: `${DRAFT}, section 4`,
    operator: "Set client_id to exactly the URL of the document.",
    find: ({ url }, { client_id: id }) =>
      id !== url.href &&
      (typeof id === "string"
        ? `The client_id is "${shown(id)}", and not the URL of the document.`
        : "The document has no client_id."),
  },
  {
    id: "redirect_uris_unusable", // workers-oauth-provider, row 83
    standard: "RFC 6749, section 3.1.2; RFC 8252, section 7",
    operator: "List redirect_uris with https, with http on loopback, or with " +
      "your own scheme, and without a fragment.",
    find(_, document) {
      const uris = stringsIn(document.redirect_uris) ?? [];
      if (uris.length === 0) {
        return grantsOf(document).some(isRedirectGrant) &&
          "The document has no redirect URIs.";
      }
      return firstOf(uris.flatMap((uri) => {
        const problem = redirectUriProblem(uri);
        return problem ? [`The redirect URI "${shown(uri)}" ${problem}.`] : [];
      }));
    },
  },
  {
    id: "document_with_secret", // oidc-provider, workers-oauth-provider
    standard: `${DRAFT}, section 4.1; RFC 7591, section 2`,
    operator: "Set token_endpoint_auth_method to none or private_key_jwt. " +
      "Remove a secret, which everyone can read, and do not use it again.",
    find(_, document) {
      const { token_endpoint_auth_method: method } = document;
      const names = secretMembersOf(document);
      if (names.length > 0) return `The document has ${names.join(" and ")}.`;
      if (isSecretMethod(method)) {
        return `The method ${shown(method, 60)} needs a secret.`;
      }
      return method === undefined && {
        message: "The document has no token_endpoint_auth_method, and the " +
          "default needs a secret.",
        severity: "warning",
      };
    },
  },
  {
    id: "keys_unusable", // workers-oauth-provider; a key exported as a whole
    standard: `${DRAFT}, sections 4.1 and 8.2; RFC 7517, section 5`,
    operator: "Publish a JWK Set with public keys, as jwks or by jwks_uri. " +
      "Replace a private key that was in it: it is known.",
    find: ({ keys }) => keys,
  },
  {
    id: "client_name_missing", // workers-oauth-provider
    severity: "warning",
    standard: "MCP 2025-11-25, authorization; RFC 7591, section 2",
    operator: "Set client_name, which users see.",
    find: (_, { client_name: name }) =>
      (typeof name !== "string" || name.trim() === "") &&
      "The document has no client_name.",
  },
  {
    id: "other_origin", // section 8.1: a rule of some servers; oidc-provider
    severity: "warning",
    standard: `${DRAFT}, section 8.1; OpenID Connect Dynamic Client ` +
      "Registration 1.0, section 2",
    operator: "Use https and the origin of the document: some servers accept " +
      "no other.",
    find: ({ url }, document) =>
      firstOf([
        ...urlsIn(document, PAGES).filter(([, text]) =>
          parseUrl(text)?.protocol !== "https:"
        ).map(([name, text]) => `The ${name} is not https: "${shown(text)}".`),
        ...urlsIn(document, ["redirect_uris", "client_uri", "logo_uri"])
          .flatMap(([name, text]) => {
            const other = isWebUrl(text) ? parseUrl(text) : undefined;
            return other && other.origin !== url.origin && !isLoopback(other)
              ? [`${name} has another origin: "${shown(text)}".`]
              : [];
          }),
      ]),
  },
  {
    id: "loopback_port", // row 43
    severity: "info",
    standard: "RFC 8252, section 7.3",
    operator: "List the URI with the port that the program listens on, and " +
      "without one.",
    find: (_, document) =>
      firstOf(
        (stringsIn(document.redirect_uris) ?? []).flatMap((uri) => {
          const url = parseUrl(uri);
          return url && url.port !== "" && isLoopback(url)
            ? [`Servers differ in whether the port counts: "${shown(uri)}".`]
            : [];
        }),
      ),
  },
];

const METHODS = "token_endpoint_auth_methods_supported";

export const CLIENT_TARGET_RULES: readonly ClientMetadataRule[] = [
  {
    id: "documents_not_accepted", // most servers
    standard: `${DRAFT}, section 6`,
    operator: "Accept client metadata documents, and publish " +
      '`"client_id_metadata_document_supported": true`.',
    client: "Register a client, or use one from the operator.",
    find: ({ server }) =>
      server?.problem
        ? { message: server.problem, operator: "Diagnose the server itself." }
        : server?.metadata &&
          server.metadata.client_id_metadata_document_supported !== true &&
          "The server does not accept client metadata documents.",
  },
  {
    id: "nothing_in_common", // FAPI 2.0, a server for services
    standard: "RFC 8414, section 2; RFC 7591, section 2",
    operator: `List the method in \`${METHODS}\`, and the grant in ` +
      "`grant_types_supported`.",
    client: "Publish a document with a method and a grant type of the server.",
    find({ server, document }) {
      if (!server?.metadata || !document) return undefined;
      const { [METHODS]: methods, grant_types_supported } = server.metadata;
      const grants = stringsIn(grant_types_supported) ??
        ["authorization_code", "implicit"];
      const wanted = grantsOf(document);
      if (!wanted.some((grant) => grants.includes(grant))) {
        return `The server has none of the grant types ${list(wanted)}.`;
      }
      const method = document.token_endpoint_auth_method;
      const listed = stringsIn(methods);
      return typeof method === "string" && !listed?.includes(method) && {
        message: `The server does not list ${shown(method, 60)}, but ${
          list(listed ?? ["client_secret_basic"]) || "nothing"
        }.`,
        // Without a list, documents cannot use the default.
        severity: listed ? "error" : "warning",
      };
    },
  },
];
