/** Findings about identifiers in metadata, and about servers without metadata. */

import { parseUrl } from "../../core/_url.ts";
import { lacksTls } from "../../discovery/_identifiers.ts";
import { resourceMetadataUrls } from "../../discovery/metadata_urls.ts";
import {
  type Facts,
  isBlocked,
  isFound,
  isLost,
  isMismatch,
  isNamed,
  membersAt,
  membersOf,
  NOT_FOUND,
  shown,
} from "../_facts.ts";
import {
  findDocument,
  KNOWN_SERVER,
  liftedByTrust,
  REGISTERED_CLIENT,
  type Rule,
  type Sighting,
} from "./_rule.ts";
import { lastOf } from "../sign_in/_steps.ts";

/** Checks for the issuer of all Entra ID tenants. */
const isEntra = (issuer: unknown) => String(issuer).includes("{tenantid}");

/** Returns the advice for operator and client about another resource's metadata. */
function adviceOn(
  facts: Facts,
  { url }: { url: string },
): Partial<Sighting> {
  const { resourceDocuments, target, options } = facts;
  const { resource } = membersAt(facts, url);
  const matching = resourceDocuments.find(({ metadata }) =>
    metadata !== undefined && metadata.resource === resource
  );
  if (matching) {
    return {
      operator: "Publish here a document whose `resource` is the URL that " +
        `clients use. The one at ${shown(matching.url)} is right.`,
      client: `This library uses the document at ${shown(matching.url)}; ` +
        "other clients may stop.",
    };
  }
  if (typeof resource === "string" && lacksTls(resource, target)) {
    return {
      operator:
        "Forward `X-Forwarded-Proto` from the proxy that ends TLS, and " +
        "let the resource use it for its URL.",
      client:
        "Until then, a client has to know the server, and the name that " +
        "the resource has there.",
      hints: [
        {
          option: "authorizationServer",
          text: "set authorizationServer",
        },
        {
          option: "resourceIndicator",
          value: shown(resource),
          text: `in the flow, set resourceIndicator: "${shown(resource)}"`,
        },
      ],
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

export const IDENTIFIER_RULES: readonly Rule[] = [
  {
    id: "resource_mismatch", // row 2
    standard: "RFC 9728, sections 3.3 and 7.3",
    operator: "Publish the URL that clients use as `resource`.",
    client:
      "A resource that claims another's identity may be trying to steal its " +
      "tokens. Use the URL in the metadata, if it is the same service.",
    hints: [
      {
        option: "authorizationServer",
        text: "only if you know that a gateway gives it another name, set " +
          "authorizationServer",
      },
      {
        option: "resourceIndicator",
        text: "in the flow, set resourceIndicator to that name",
      },
    ],
    shows: ["resource"],
    find(facts) {
      const found = findDocument(facts, (document) => {
        const { resource } = membersOf(document) ?? {};
        return isMismatch(document) && typeof resource === "string" &&
          `The metadata is for the resource "${shown(resource)}", not for ` +
            `"${shown(facts.target.href)}".`;
      }, "resourceDocuments");
      return found && { ...found, ...adviceOn(facts, found) };
    },
  },
  {
    id: "no_authorization_servers", // row 2
    standard: "RFC 9728, section 2; MCP 2025-11-25, authorization",
    operator: "Publish `authorization_servers` as an array with the issuer.",
    hints: [KNOWN_SERVER],
    shows: ["authorization_servers"],
    find(facts) {
      if (!facts.resource) return undefined;
      const { authorization_servers: servers } = facts.resource;
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
        url: facts.resourceDocuments.find(membersOf)?.url ?? "",
      };
    },
  },
  {
    id: "issuer_mismatch", // Atlassian, Entra ID
    standard: "RFC 8414, sections 3.3 and 6.2; OpenID Connect Discovery 1.0, " +
      "section 4.3; RFC 9700, section 4.4",
    operator: "List the server with exactly the `issuer` that it publishes; " +
      "if it has several tenants, with one tenant's `issuer`.",
    shows: ["issuer"],
    find(facts) {
      const { issuer } = facts;
      const found = findDocument(facts, (document) => {
        const published = membersOf(document)?.issuer;
        return (isMismatch(document) || isEntra(published)) &&
          `The issuer in the metadata is "${shown(published)}", expected ` +
            `"${shown(issuer)}".`;
      }, "serverDocuments");
      const { issuer: claimed } = membersAt(facts, found?.url);
      const sighting = liftedByTrust(found, issuer, claimed);
      if (!sighting || !isEntra(claimed)) return sighting;
      return {
        ...sighting,
        hints: [
          ...sighting.hints ?? [],
          {
            option: "resourceIndicator",
            value: false,
            text: "for Entra ID, also set resourceIndicator: false",
          },
        ],
        // Its v2.0 endpoints reject the parameter.
        options: [
          ...sighting.options ?? [],
          { name: "resourceIndicator", value: false },
        ],
      };
    },
  },
  {
    id: "no_server_metadata", // row 5, Plaid
    standard: "RFC 8414, section 3; MCP 2025-11-25, authorization",
    operator: "Publish metadata at the well-known URL of the issuer.",
    find(facts) {
      const { serverDocuments, issuer, assumed, exchanges } = facts;
      const isMissing = isNamed(facts) && facts.failure !== undefined &&
        serverDocuments.length > 0 &&
        serverDocuments.every(({ error }) =>
          error?.code === "unexpected_status" &&
          NOT_FOUND.includes(error.status ?? 0)
        );
      if (isMissing) {
        return {
          message: `The authorization server ${shown(issuer)} publishes no ` +
            "metadata.",
          hints: [
            {
              option: "serverMetadata",
              text: "set serverMetadata from the documentation of the server",
            },
            {
              option: "authorizationServer",
              text: "set authorizationServer, if another one is known",
            },
          ],
          url: serverDocuments[0]?.url ?? issuer,
          severity: "error",
          options: [{ name: "serverMetadata" }],
        };
      }
      if (!assumed || isLost(facts)) return undefined;
      const isRegistrable = isFound(assumed.registration) ||
        lastOf(exchanges, "registration") !== undefined;
      return {
        message: "No metadata of a server is published, so its endpoints are " +
          "assumed: /authorize, /token and /register." +
          (isRegistrable ? "" : " A GET finds no /register."),
        ...(!isRegistrable && {
          client:
            "Some servers respond so to all but POST: a sign-in shows it.",
          hints: [REGISTERED_CLIENT],
        }),
        url: assumed.authorization.url,
      };
    },
  },
];
