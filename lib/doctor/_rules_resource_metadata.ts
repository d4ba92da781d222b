/** Findings about metadata of the resource. */

import { parseUrl } from "../core/_url.ts";
import { resourceMetadataUrls } from "../discovery/metadata_urls.ts";
import {
  type AnyDocument,
  isBlocked,
  isMismatch,
  membersOf,
  shown,
} from "./_facts.ts";
import { findDisagreement, findDocument, type IRule } from "./_rules.ts";

/** Returns the URL where a document of a resource belongs. */
function wellKnownUrlOf(resource: unknown): string | undefined {
  const url = typeof resource === "string" ? parseUrl(resource) : undefined;
  return url && resourceMetadataUrls(url)[0];
}

/** Checks whether a document names a resource, the expected one or another one. */
function hasResource(document: AnyDocument): boolean {
  return typeof membersOf(document)?.resource === "string";
}

/** The findings about metadata of the resource. */
export const RESOURCE_METADATA_RULES: readonly IRule[] = [
  {
    id: "resource_mismatch",
    standard: "RFC 9728, section 3.3",
    operator: "Publish the URL that clients use as `resource`.",
    client: "Use the URL that the metadata names, if it is the same service.",
    find(facts) {
      const { resourceDocuments, target } = facts;
      const found = findDocument(
        facts,
        resourceDocuments,
        (document) =>
          isMismatch(document) && hasResource(document) &&
          `The metadata is for the resource "${
            shown(membersOf(document)?.resource)
          }", not for "${shown(target.href)}".`,
        true,
      );
      const document = resourceDocuments.find(({ url }) => url === found?.url);
      const { resource } = (document && membersOf(document)) ?? {};
      const own = resourceDocuments.find(({ metadata }) =>
        metadata !== undefined && metadata.resource === resource
      );
      if (found && own) {
        return {
          ...found,
          operator:
            "Publish here a document whose `resource` is the URL that " +
            `clients use. The one at ${shown(own.url)} is right.`,
          client: `This library uses the document at ${shown(own.url)}; ` +
            "other clients may stop.",
        };
      }
      const isParent = facts.options.resourceMatch !== "exact" &&
        typeof resource === "string" &&
        parseUrl(resource)?.origin === target.origin &&
        `${target.pathname}/`.startsWith(
          `${parseUrl(resource)?.pathname.replace(/\/$/, "")}/`,
        );
      const wellKnownUrl = wellKnownUrlOf(resource);
      return found && isParent && wellKnownUrl
        ? {
          ...found,
          operator:
            `Publish the URL that clients use as \`resource\`, or this ` +
            `document at ${shown(wellKnownUrl)}.`,
        }
        : found;
    },
  },
  {
    id: "resource_is_parent",
    severity: "info",
    standard: "RFC 9728, section 3.3",
    operator: "Publish the whole URL of the resource as `resource`.",
    client: "This library accepts it, unless `resourceMatch` is `exact`.",
    find: (facts) =>
      findDocument(
        facts,
        facts.resourceDocuments.filter(({ metadata }) => metadata).slice(0, 1),
        ({ metadata }) => {
          const url = parseUrl(metadata?.resource ?? "");
          return url && url.pathname !== facts.target.pathname &&
            url.pathname !== facts.target.pathname.replace(/\/$/, "") &&
            `The metadata is for "${
              shown(metadata?.resource)
            }", which contains this URL.`;
        },
      ),
  },
  {
    id: "resource_metadata_invalid",
    standard: "RFC 9728, section 2",
    operator: "Publish the URL that clients use as `resource`.",
    find: (facts) =>
      findDocument(
        facts,
        facts.resourceDocuments,
        (document) =>
          document.json !== undefined && document.error !== undefined &&
          !hasResource(document) &&
          "The JSON is not metadata of a resource: it has no `resource`.",
        true,
      ),
  },
  {
    id: "scopes_malformed",
    standard: "RFC 9728, section 2",
    operator: "Publish `scopes_supported` as an array of strings.",
    client:
      "With this library: `scopes`; anything but an array counts as absent.",
    find: (facts) =>
      findDocument(
        facts,
        facts.resourceDocuments,
        (document) => {
          const { scopes_supported: scopes } = membersOf(document) ?? {};
          const isArray = Array.isArray(scopes) &&
            scopes.every((scope) => typeof scope === "string");
          return (scopes ?? null) !== null && !isArray &&
            "`scopes_supported` is not an array of strings.";
        },
      ),
  },
  {
    id: "not_at_well_known_url",
    standard: "RFC 9728, section 3.1",
    operator: "Publish the document at the well-known URL of the resource too.",
    client: "This library requests the URL of the challenge first.",
    find({ resourceDocuments, target, challenge }) {
      const found = resourceDocuments.find(({ metadata }) => metadata);
      const [ofPath, ofOrigin] = resourceMetadataUrls(target);
      const urls = [ofPath + target.search, ofOrigin];
      const [first] = resourceDocuments.filter(({ url }) => urls.includes(url));
      const isElsewhere = found && first &&
        found.url === challenge?.params.resource_metadata &&
        !urls.includes(found.url) &&
        !resourceDocuments.some((document) =>
          urls.includes(document.url) && membersOf(document)
        );
      return isElsewhere
        ? {
          message: "The metadata of the resource is only at the URL of the " +
            "challenge, not at a well-known URL.",
          url: first.url,
        }
        : undefined;
    },
  },
  {
    id: "resource_documents_disagree",
    standard: "RFC 9728, section 3.1",
    operator: "Publish the same document at each URL.",
    client: "This library uses the first document.",
    find: (facts) =>
      findDisagreement(facts, facts.resourceDocuments, "resource"),
  },
  {
    id: "no_authorization_servers",
    standard: "RFC 9728, section 2; MCP 2025-11-25, authorization",
    operator: "List the issuer in `authorization_servers`.",
    client: "With this library: `authorizationServer`, if it is known.",
    find(facts) {
      const { resource, resourceDocuments } = facts;
      return resource &&
          [resource.authorization_servers ?? []].flat().length === 0
        ? {
          message:
            "The metadata of the resource lists no authorization server.",
          url: resourceDocuments.find(membersOf)?.url ?? "",
          // Discovery then tries the origin of the resource.
          severity: isBlocked(facts) ? "error" : "warning",
        }
        : undefined;
    },
  },
  {
    id: "authorization_servers_malformed",
    standard: "RFC 9728, section 2",
    operator: "Publish `authorization_servers` as an array of strings.",
    client: "This library accepts a single string.",
    find(facts) {
      const { resource, resourceDocuments } = facts;
      const { authorization_servers: servers } = resource ?? {};
      if (servers === undefined) return undefined;
      const isList = Array.isArray(servers) &&
        servers.every((one) => typeof one === "string");
      if (isList) return undefined;
      const isString = typeof servers === "string";
      return {
        message: isString
          ? "`authorization_servers` is a string, not an array."
          : "`authorization_servers` is not an array of strings.",
        url: resourceDocuments.find(membersOf)?.url ?? "",
        severity: isString || !isBlocked(facts) ? "warning" : "error",
      };
    },
  },
  {
    id: "several_authorization_servers",
    severity: "info",
    standard: "RFC 9728, section 7.6",
    operator: "List the preferred server first.",
    client:
      "With this library: `selectAuthorizationServer`; the default is the first.",
    find: ({ servers, resourceDocuments }) =>
      servers.length > 1
        ? {
          message: `The metadata of the resource lists ${servers.length} ` +
            "authorization servers, of which this diagnosis tries the first.",
          url: resourceDocuments.find(membersOf)?.url ?? "",
        }
        : undefined,
  },
];
