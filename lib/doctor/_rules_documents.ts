/** Findings about metadata documents of either kind, and how they are served. */

import { isLoopback, parseUrl } from "../core/_url.ts";
import {
  type AnyDocument,
  codesOf,
  headerOf,
  isLost,
  isOpen,
  list,
  mediaTypeOf,
  membersOf,
  NOT_FOUND,
  shown,
} from "./_facts.ts";
import { findDocument, inDocuments, type IRule, liftedBy } from "./_rules.ts";

const STANDARD = "RFC 9728, section 3.2; RFC 8414, section 3.2";
const NEXT = "This library requests the next well-known URL.";

function statusOf({ exchange }: AnyDocument): number {
  return exchange?.isFailed ? 0 : exchange?.response?.status ?? 0;
}

/** Returns the names of the members with a value that passes a test. */
function namesOf(document: AnyDocument, test: (value: unknown) => boolean) {
  return Object.entries(membersOf(document) ?? {})
    .filter(([, value]) => test(value)).map(([name]) => name);
}

const isNull = (value: unknown) => value === null;
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Checks whether a client may refuse a URL, or one of a list. */
function isRefusable(value: unknown): boolean {
  return [value].flat().some((one) => {
    const url = typeof one === "string" ? parseUrl(one) : undefined;
    return url !== undefined && (url.protocol !== "https:" || isLoopback(url));
  });
}

/** The findings about documents. */
export const DOCUMENT_RULES: readonly IRule[] = [
  {
    id: "not_json", // row 6
    standard: STANDARD,
    operator:
      "Respond with 404 where no metadata is published, and else with " +
      "JSON in UTF-8.",
    client: NEXT,
    find: inDocuments(
      (document) =>
        statusOf(document) === 200 && document.json === undefined &&
        codesOf(document)[0] === "invalid_metadata" &&
        (mediaTypeOf(document) === "text/html"
          ? "There is a page of HTML in place of metadata."
          : "The document with status 200 is not JSON."),
      { hasSeverity: true },
    ),
  },
  {
    id: "metadata_redirected", // row 9
    standard: "RFC 9728, section 3.1; RFC 8414, section 3.1",
    operator: "Publish the metadata at its well-known URL, without a redirect.",
    client: "This library follows redirects within the origin, and no others.",
    find: inDocuments((document) => {
      const { url, exchange } = document;
      if (codesOf(document).includes("redirect_refused")) {
        const to = headerOf(document, "Location") || "nowhere";
        return `The metadata URL redirects to ${shown(to)}, ` +
          "which is not followed.";
      }
      return exchange && parseUrl(exchange.url)?.href !== parseUrl(url)?.href &&
        `The metadata URL redirects to ${shown(exchange.url)}.`;
    }, { hasSeverity: true }),
  },
  {
    id: "metadata_status", // row 5
    standard: STANDARD,
    operator: "Respond with 200 and metadata, or with 404 if there is none, " +
      "also without authentication.",
    client: "Try again later, if the status is 429 or 5xx.",
    find: inDocuments((document) => {
      const status = statusOf(document);
      return status >= 201 && !(status >= 300 && status < 400) &&
        !NOT_FOUND.includes(status) &&
        `The status of the metadata URL is ${status}.`;
    }, { hasSeverity: true }),
  },
  {
    id: "url_refused", // row 67
    standard: "RFC 9728, section 7.7; RFC 8414, section 2",
    operator: "Name absolute https URLs of a public host only.",
    client: "With this library: `allowHttp: true`, in a test environment.",
    shows: isRefusable,
    find(facts) {
      const { failure, target, issuer, servers } = facts;
      const isServer = failure?.code === "url_refused" &&
        !target.href.startsWith(issuer) && servers.length > 0;
      const found = isServer
        ? {
          message: `${shown(failure.message, 300)}.`,
          url: facts.resourceDocuments.find(membersOf)?.url ?? "",
          severity: "error" as const,
        }
        : findDocument(facts, ({ error, exchange, json, url }) => {
          const isOfUrl = !exchange &&
            parseUrl(url)?.origin !== target.origin;
          return error?.code === "url_refused" &&
            (json !== undefined || isOfUrl) && `${shown(error.message, 300)}.`;
        }, { hasSeverity: true });
      return liftedBy(found, { name: "allowHttp", value: true });
    },
  },
  {
    id: "null_members", // Entra ID
    standard: STANDARD,
    operator: "Leave members without a value out.",
    client: "This library treats members that are `null` as absent.",
    shows: isNull,
    find: inDocuments((document) => {
      const names = namesOf(document, isNull);
      return names.length > 0 &&
        `Members of the metadata are null: ${list(names)}.`;
    }),
  },
  {
    id: "empty_lists", // HubSpot
    severity: "info",
    standard: STANDARD,
    operator: "Leave empty lists out.",
    client: "This library treats an empty list of scopes as absent.",
    shows: isEmpty,
    find: inDocuments((document) => {
      const names = namesOf(document, isEmpty);
      return names.length > 0 &&
        `Lists of the metadata are empty: ${list(names)}.`;
    }),
  },
  {
    id: "metadata_invalid", // row 6
    standard: "RFC 9728, section 2; RFC 8414, section 2",
    operator:
      "Publish the URL that clients use as `resource`; of a server, its " +
      "`issuer`, and every endpoint as an http or https URL.",
    client: NEXT,
    find: inDocuments((document, { serverDocuments }) => {
      const { json, error } = document;
      if (json === undefined || error === undefined) return undefined;
      if (!serverDocuments.some((one) => one === document)) {
        return typeof membersOf(document)?.resource !== "string" &&
          "The JSON is not metadata of a resource: it has no `resource`.";
      }
      return codesOf(document)[0] === "invalid_metadata" &&
        "The JSON is not metadata of a server: " +
          `${shown(Object(error.cause).message ?? "no object")}.`;
    }, { hasSeverity: true }),
  },
  {
    id: "named_metadata_missing", // row 5
    standard: "RFC 9728, section 5.1",
    operator: "Publish the metadata at the URL that the challenge names.",
    client: "This library requests the well-known URLs next.",
    find: inDocuments(
      (document, { challenge }) =>
        document.url === challenge?.params.resource_metadata &&
        NOT_FOUND.includes(statusOf(document)) &&
        "There is no metadata at the URL that the challenge names.",
      { of: "resourceDocuments", hasSeverity: true },
    ),
  },
  {
    id: "no_resource_metadata", // Zoom
    standard: "RFC 9728, section 3; MCP 2025-11-25, authorization",
    operator: "Publish metadata at the well-known URL of the resource.",
    client: "With this library: `authorizationServer`, if it is known.",
    find(facts) {
      const { resourceDocuments, probe, challenge, appended, target } = facts;
      const [first] = resourceDocuments;
      const isMissing = probe.response !== undefined && !isOpen(facts) &&
        !challenge?.params.resource_metadata &&
        resourceDocuments.every((document) =>
          NOT_FOUND.includes(statusOf(document))
        );
      if (!first || appended || !(isMissing || isLost(facts))) return undefined;
      const { url } = first;
      if (!isLost(facts)) {
        return { message: "The resource publishes no metadata.", url };
      }
      return {
        message: "The resource publishes no metadata, so nothing names an " +
          "authorization server. That it is " +
          `${shown(target.origin)}, with /authorize, /token and /register, ` +
          "would be a guess: there is no /authorize.",
        url,
        severity: "error",
        client: "With this library: `serverMetadata`, from the manual of the " +
          "API, and a `client` from its console. If the server publishes " +
          "metadata, a program names it by `authorizationServer`.",
        options: [{ name: "serverMetadata" }, { name: "client" }],
      };
    },
  },
  {
    id: "metadata_at_appended_path", // row 5
    standard: "RFC 9728, section 3.1",
    operator:
      "Insert the well-known path before the path of the resource, or " +
      "name the URL in the challenge: `resource_metadata`.",
    find(facts) {
      const { appended, resourceDocuments: [first] } = facts;
      if (!appended || !first) return undefined;
      const [server] = [appended.json.authorization_servers].flat();
      return {
        message: `The metadata of the resource is at ${shown(appended.url)}. ` +
          `Clients look for it at ${shown(first.url)}.`,
        url: appended.url,
        severity: isLost(facts) ? "error" : "warning",
        client: "With this library: " +
          (typeof server === "string"
            ? `\`authorizationServer: "${shown(server)}"\`.`
            : "`authorizationServer`, if it is known."),
      };
    },
  },
];
