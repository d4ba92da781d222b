/** Findings about a server that a client metadata document is for. */

import { stringsIn } from "../core/_members.ts";
import {
  DRAFT,
  grantsOf,
  type IClientMetadataRule,
} from "./_client_metadata_facts.ts";
import { list, shown } from "./_facts.ts";

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
