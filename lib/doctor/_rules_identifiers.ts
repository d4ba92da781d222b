/** Findings about the identifiers in metadata, and about servers without any. */

import { isSameIssuer } from "../core/_issuer.ts";
import { parseUrl } from "../core/_url.ts";
import { lacksTls } from "../discovery/_identifiers.ts";
import { resourceMetadataUrls } from "../discovery/metadata_urls.ts";
import {
  acceptedOf,
  type IFacts,
  isBlocked,
  isFound,
  isLost,
  isMismatch,
  isNamed,
  membersOf,
  NOT_FOUND,
  shown,
} from "./_facts.ts";
import {
  findDocument,
  inDocuments,
  type IRule,
  type ISighting,
  liftedByTrust,
} from "./_rules.ts";

/** Returns what the operator can do about metadata of another resource, and a client. */
function adviceOn(
  { resourceDocuments, target, options }: IFacts,
  { url }: { url: string },
): Partial<ISighting> {
  const document = resourceDocuments.find((one) => one.url === url);
  const { resource } = (document && membersOf(document)) ?? {};
  const own = resourceDocuments.find(({ metadata }) =>
    metadata !== undefined && metadata.resource === resource
  );
  if (own) {
    return {
      operator: "Publish here a document whose `resource` is the URL that " +
        `clients use. The one at ${shown(own.url)} is right.`,
      client: `This library uses the document at ${shown(own.url)}; ` +
        "other clients may stop.",
    };
  }
  if (typeof resource === "string" && lacksTls(resource, target)) {
    return {
      operator:
        "Forward `X-Forwarded-Proto` from the proxy that ends TLS, and " +
        "let the resource use it for its URL.",
      client: "With this library, until then: `authorizationServer`, and " +
        `\`resource: "${shown(resource)}"\` in the flow.`,
    };
  }
  const parent = typeof resource === "string" ? parseUrl(resource) : undefined;
  const isParent = options.resourceMatch !== "exact" &&
    parent?.origin === target.origin &&
    `${target.pathname}/`.startsWith(`${parent.pathname.replace(/\/$/, "")}/`);
  return isParent
    ? {
      operator: "Publish the URL that clients use as `resource`, or this " +
        `document at ${shown(resourceMetadataUrls(parent)[0])}.`,
    }
    : {};
}

/** The findings about identifiers. */
export const IDENTIFIER_RULES: readonly IRule[] = [
  {
    id: "resource_mismatch", // row 2
    standard: "RFC 9728, sections 3.3 and 7.3",
    operator: "Publish the URL that clients use as `resource`.",
    client: "A resource that claims to be another may be after tokens for " +
      "that one. Use the URL that the metadata names, if it is the same " +
      "service; only if you know that a gateway gives it another name, " +
      "`authorizationServer`, and that name as `resource` in the flow.",
    shows: ["resource"],
    find(facts) {
      const found = findDocument(facts, (document) => {
        const { resource } = membersOf(document) ?? {};
        return isMismatch(document) && typeof resource === "string" &&
          `The metadata is for the resource "${shown(resource)}", not for ` +
            `"${shown(facts.target.href)}".`;
      }, { of: "resourceDocuments", hasSeverity: true });
      return found && { ...found, ...adviceOn(facts, found) };
    },
  },
  {
    id: "resource_is_parent", // Slack
    severity: "info",
    standard: "RFC 9728, section 3.3",
    operator: "Publish the whole URL of the resource as `resource`.",
    client: "This library accepts it, unless `resourceMatch` is `exact`.",
    shows: ["resource"],
    find({ resourceDocuments, target }) {
      const found = acceptedOf(resourceDocuments);
      const { resource = "" } = found?.metadata ?? {};
      const path = parseUrl(resource)?.pathname;
      const isOwn = path === target.pathname ||
        path === target.pathname.replace(/\/$/, "");
      return found && path !== undefined && !isOwn && {
        message: `The metadata is for "${shown(resource)}", ` +
          "which contains this URL.",
        url: found.url,
      };
    },
  },
  {
    id: "no_authorization_servers", // row 2
    standard: "RFC 9728, section 2; MCP 2025-11-25, authorization",
    operator: "Publish `authorization_servers` as an array with the issuer.",
    client: "With this library: `authorizationServer`, if it is known.",
    about: "resource_metadata",
    shows: ["authorization_servers"],
    find(facts, { authorization_servers: servers }) {
      const strings = [servers ?? []].flat();
      const isString = typeof servers === "string";
      const isMissing = strings.length === 0;
      if (!isMissing && !isString && strings.every((one) => `${one}` === one)) {
        return undefined;
      }
      return {
        message: isMissing
          ? "The metadata of the resource lists no authorization server."
          : `\`authorization_servers\` is ${
            isString ? "a string, not an array" : "not an array of strings"
          }.`,
        // Without any, discovery tries the origin of the resource.
        severity: isString || !isBlocked(facts) ? "warning" : "error",
      };
    },
  },
  {
    id: "several_authorization_servers", // row 75
    severity: "info",
    standard: "RFC 9728, section 7.6",
    operator: "List the preferred server first.",
    client:
      "With this library: `authorizationServer`; the default is the first.",
    about: "resource_metadata",
    shows: ["authorization_servers"],
    find: ({ servers }) =>
      servers.length > 1 &&
      `The metadata of the resource lists ${servers.length} authorization ` +
        "servers, of which this diagnosis tries the first.",
  },
  {
    id: "issuer_mismatch", // Atlassian
    standard: "RFC 8414, sections 3.3 and 6.2; OpenID Connect Discovery 1.0, " +
      "section 4.3; RFC 9700, section 4.4",
    operator: "Name the server by exactly the `issuer` that it publishes.",
    shows: ["issuer"],
    find(facts) {
      const { serverDocuments, issuer } = facts;
      const found = findDocument(facts, (document) =>
        isMismatch(document) &&
        `The issuer of the metadata is "${
          shown(membersOf(document)?.issuer)
        }", and the server was named "${shown(issuer)}".`, {
        of: "serverDocuments",
        hasSeverity: true,
      });
      const document = serverDocuments.find(({ url }) => url === found?.url);
      const claimed = (document && membersOf(document))?.issuer;
      return liftedByTrust(found, issuer, claimed);
    },
  },
  {
    id: "issuer_template", // Entra ID
    standard: "OpenID Connect Discovery 1.0, section 4.3",
    operator: "Name the issuer of one tenant.",
    client: "With this library: `trustedIssuers`; Entra ID also needs " +
      "`resource: false`.",
    shows: ["issuer"],
    find(facts) {
      const found = findDocument(facts, (document) => {
        const { issuer } = membersOf(document) ?? {};
        return typeof issuer === "string" && /\{[^{}]*\}/.test(issuer) &&
          `The issuer "${shown(issuer)}" is a template for several tenants.`;
      }, { of: "serverDocuments" });
      // The name that Entra ID has for it. Its v2.0 endpoints refuse the parameter.
      const isEntra = String(facts.server?.issuer).includes("{tenantid}");
      return found && isEntra
        ? { ...found, options: [{ name: "resource", value: false }] }
        : found;
    },
  },
  {
    id: "issuer_slash", // Google
    standard: "RFC 8414, section 3.3",
    operator: "Name the server by exactly the `issuer` that it publishes.",
    client: "This library allows a slash at the end to differ.",
    shows: ["issuer"],
    find: inDocuments(({ metadata }, { issuer, servers }) => {
      const { issuer: own } = { issuer: undefined, ...metadata };
      return typeof own === "string" && own !== issuer &&
        servers.length > 0 && isSameIssuer(own, issuer) &&
        `The issuer "${shown(own)}" differs from the identifier "${
          shown(issuer)
        }" by a slash.`;
    }, { of: "serverDocuments" }),
  },
  {
    id: "no_server_metadata", // row 5
    severity: "error",
    standard: "RFC 8414, section 3; MCP 2025-11-25, authorization",
    operator: "Publish metadata at the well-known URL of the issuer.",
    client:
      "With this library: `authorizationServer`, if another one is known.",
    find(facts) {
      const { serverDocuments, issuer } = facts;
      const isMissing = isNamed(facts) && facts.failure !== undefined &&
        serverDocuments.length > 0 &&
        serverDocuments.every(({ error }) =>
          error?.code === "unexpected_status" &&
          NOT_FOUND.includes(error.status ?? 0)
        );
      return isMissing && {
        message: `The authorization server ${shown(issuer)} publishes no ` +
          "metadata.",
        url: serverDocuments[0]?.url ?? issuer,
      };
    },
  },
  {
    id: "endpoints_assumed", // Plaid
    standard: "MCP 2025-03-26, authorization, section 2.3.3",
    operator: "Publish metadata of the resource and of the server.",
    client:
      "This library assumes the endpoints /authorize, /token and /register.",
    find(facts) {
      const { authorization } = facts.assumed ?? {};
      return authorization && !isLost(facts) && {
        message: "No metadata of a server is published, so its endpoints " +
          "are assumed.",
        url: authorization.url,
      };
    },
  },
  {
    id: "registration_not_found", // Plaid
    standard:
      "MCP 2025-03-26, authorization, section 2.3.3; RFC 7591, section 3",
    operator: "Publish metadata of the server, with its registration endpoint.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered. Some servers respond so to everything but POST: " +
      "`--register` shows it.",
    find(facts) {
      const { registration } = facts.assumed ?? {};
      return registration && !isLost(facts) && !facts.registration &&
        !isFound(registration) && {
        message: "A GET finds no registration endpoint at the URL that is " +
          "assumed.",
        url: registration.url,
      };
    },
  },
];
