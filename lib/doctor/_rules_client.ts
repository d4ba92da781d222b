/** Findings about what a client requests: scopes, and requests of web pages. */

import { stringMember, stringsIn } from "../core/_members.ts";
import { scopesFrom } from "../core/_scope_values.ts";
import { isAllowed } from "./_cors.ts";
import { type IFacts, list, membersOf, ODD_SCOPES } from "./_facts.ts";
import type { IRule } from "./_rules.ts";

const MANY_SCOPES = 30;

/** The findings about scopes, DPoP and web pages. */
export const CLIENT_RULES: readonly IRule[] = [
  {
    id: "dpop_required",
    severity: "info",
    standard: "RFC 9728, section 2; RFC 9449, section 7",
    operator: "Nothing, if all clients support DPoP.",
    client: "Use `createDpop`.",
    find: ({ resource, resourceDocuments }) =>
      resource?.dpop_bound_access_tokens_required === true
        ? {
          message: "The resource requires DPoP-bound tokens.",
          url: resourceDocuments.find(membersOf)?.url ?? "",
        }
        : undefined,
  },
  {
    id: "header_method_not_listed",
    standard: "RFC 9728, section 2; RFC 6750, section 2.1",
    operator: "Accept tokens in the `Authorization` header field, and list it.",
    find({ resource, resourceDocuments }) {
      const methods = stringsIn(resource?.bearer_methods_supported);
      return methods?.length && !methods.includes("header")
        ? {
          message: `The resource lists no bearer method header, but ${
            list(methods)
          }.`,
          url: resourceDocuments.find(membersOf)?.url ?? "",
        }
        : undefined;
    },
  },
  {
    id: "many_scopes",
    standard: "RFC 9728, section 2; RFC 9700, section 2.3",
    operator: "Name the scopes of the first call in the challenge.",
    client: "Set `scopes`.",
    find({ context, target }) {
      const { length } = context?.scopes ?? [];
      return length > MANY_SCOPES
        ? {
          message: `A client would request all ${length} scopes.`,
          url: target.href,
        }
        : undefined;
    },
  },
  {
    id: "odd_scopes",
    standard: "RFC 9728, section 2; OpenID Connect Core 1.0, section 11",
    operator: "List scopes of the resource only.",
    client: "Set `scopes`.",
    find({ resource, resourceDocuments }) {
      const odd = scopesFrom(resource?.scopes_supported)
        .filter((scope) => ODD_SCOPES.includes(scope));
      return odd.length > 0
        ? {
          message: `The resource lists ${list(odd)} among its scopes.`,
          url: resourceDocuments.find(membersOf)?.url ?? "",
        }
        : undefined;
    },
  },
  ...(["metadata", "resource", "token", "registration"] as const).map((
    part,
  ): IRule => ({
    id: `cors_${part}`,
    severity: "info",
    standard: "Fetch Standard, section 3.3; RFC 9728, section 3.1",
    operator: part === "resource"
      ? "Send `Access-Control-Allow-Origin`, and expose `WWW-Authenticate`."
      : "Send `Access-Control-Allow-Origin`.",
    client: "Web pages need a proxy; other clients are not concerned.",
    find({ corsProbes, probe }) {
      const refused = corsProbes.find((one) =>
        one.part === part && !isAllowed(one)
      );
      const names = {
        metadata: "the metadata",
        resource: "the resource",
        token: "the token endpoint",
        registration: "the registration endpoint",
      };
      if (refused) {
        return {
          message: `A web page cannot request ${names[part]}.`,
          url: refused.url,
        };
      }
      const exposed = probe.response?.headers
        .get("Access-Control-Expose-Headers") ?? "";
      const isHidden = part === "resource" && corsProbes.length > 0 &&
        probe.response?.headers.get("Access-Control-Allow-Origin") &&
        !/\bwww-authenticate\b|\*/i.test(exposed);
      return isHidden
        ? {
          message: "A web page cannot read the challenge of the resource.",
          url: probe.url,
        }
        : undefined;
    },
  })),
];

/** Checks whether a client can register, or identify itself by a document. */
export function clientKindOf(
  { serverMetadata }: NonNullable<IFacts["context"]>,
): "register" | "client_metadata_document" | "ask_user" {
  const server = { ...serverMetadata };
  if (stringMember(server, "registration_endpoint")) return "register";
  return server.client_id_metadata_document_supported === true
    ? "client_metadata_document"
    : "ask_user";
}
