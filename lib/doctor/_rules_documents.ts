/** Findings about metadata documents of either kind, and how they are served. */

import type { Members } from "../core/_members.ts";
import { parseUrl } from "../core/_url.ts";
import { isUnsafeUrl } from "../discovery/_strict_search.ts";
import {
  allDocuments,
  type AnyDocument,
  codesOf,
  headerOf,
  type IFacts,
  isOpen,
  list,
  membersOf,
  shown,
} from "./_facts.ts";
import { findDocument, type IRule, liftedBy, mediaTypeOf } from "./_rules.ts";

const NOT_FOUND = [404, 405, 410];

function statusOf({ exchange }: AnyDocument): number | undefined {
  return exchange?.isFailed ? undefined : exchange?.response?.status;
}

/** Checks whether the body of a response with status 200 is not JSON. */
function isNotJson(document: AnyDocument): boolean {
  return statusOf(document) === 200 && document.json === undefined &&
    codesOf(document)[0] === "invalid_metadata";
}

function isHtml(document: AnyDocument): boolean {
  return mediaTypeOf(document) === "text/html";
}

/** Returns the names of the members with a value that passes a test. */
function namesOf(
  members: Members | undefined,
  test: (value: unknown, name: string) => boolean,
): string[] {
  return Object.entries(members ?? {})
    .filter(([name, value]) => test(value, name)).map(([name]) => name);
}

/** The documents that hold metadata, of this identifier or of another one. */
function published(facts: IFacts): AnyDocument[] {
  return allDocuments(facts).filter((document) =>
    membersOf(document) && codesOf(document)[0] !== "invalid_metadata"
  );
}

const MAX_CACHE_SECONDS = 86_400;

/** The findings about metadata documents of either kind. */
export const DOCUMENT_RULES: readonly IRule[] = [
  {
    id: "html_instead_of_json",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Respond with 404 where no metadata is published.",
    client: "This library requests the next well-known URL.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) =>
          isNotJson(document) && isHtml(document) &&
          "There is a page of HTML in place of metadata.",
        true,
      ),
  },
  {
    id: "not_json",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Publish the metadata as JSON in UTF-8.",
    client: "This library requests the next well-known URL.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) =>
          isNotJson(document) && !isHtml(document) &&
          "The document with status 200 is not JSON.",
        true,
      ),
  },
  {
    id: "metadata_redirected",
    standard: "RFC 9728, section 3.1; RFC 8414, section 3.1",
    operator: "Publish the metadata at its well-known URL, without a redirect.",
    client: "This library follows redirects within the origin, and no others.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) => {
          const { url, exchange } = document;
          const to = headerOf(document, "Location");
          if (codesOf(document).includes("redirect_refused")) {
            return `The metadata URL redirects to ${shown(to || "nowhere")}, ` +
              "which is not followed.";
          }
          const isOther = exchange &&
            parseUrl(exchange.url)?.href !== parseUrl(url)?.href;
          return isOther &&
            `The metadata URL redirects to ${shown(exchange.url)}.`;
        },
        true,
      ),
  },
  {
    id: "metadata_status",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Respond with 200 and metadata, or with 404 if there is none.",
    client: "Try again later, if the status is 429 or 5xx.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) => {
          const status = statusOf(document);
          const isExpected = status === undefined || status === 200 ||
            NOT_FOUND.includes(status) || (status >= 300 && status < 400) ||
            [401, 403].includes(status);
          return !isExpected && `The status of the metadata URL is ${status}.`;
        },
        true,
      ),
  },
  {
    id: "metadata_protected",
    standard: "RFC 9728, section 3; RFC 8414, section 3",
    operator: "Exempt the well-known URLs from authentication.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) => {
          const status = statusOf(document) ?? 0;
          return [401, 403].includes(status) &&
            `The metadata URL requires authentication: status ${status}.`;
        },
        true,
      ),
  },
  {
    id: "metadata_too_large",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Publish metadata of a few kilobytes.",
    client: "With this library: a larger `maxBytes`.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) =>
          codesOf(document).includes("response_too_large") &&
          "The metadata is larger than a client reads.",
        true,
      ),
  },
  {
    id: "metadata_url_refused",
    standard: "RFC 9728, sections 5.1 and 7.7",
    operator: "Name an absolute https URL of a public host.",
    client: "With this library: `allowHttp: true`, in a test environment.",
    find: (facts) =>
      liftedBy(
        findDocument(
          facts,
          facts.resourceDocuments,
          ({ url, error, exchange }) =>
            !exchange && error?.code === "url_refused" &&
            parseUrl(url)?.origin !== facts.target.origin &&
            `${shown(error.message, 300)}.`,
          true,
        ),
        { name: "allowHttp", value: true },
      ),
  },
  {
    id: "content_type",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Send `Content-Type: application/json`.",
    client: "This library does not check the media type.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) => {
          const type = mediaTypeOf(document);
          return membersOf(document) && type !== "application/json" &&
            `The media type of the metadata is ${
              type === "" ? "missing" : `"${shown(type, 40)}"`
            }.`;
        },
      ),
  },
  {
    id: "null_members",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Leave members without a value out.",
    client: "This library treats members that are `null` as absent.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) => {
          const names = namesOf(membersOf(document), (value) => value === null);
          return names.length > 0 &&
            `Members of the metadata are null: ${list(names)}.`;
        },
      ),
  },
  {
    id: "empty_lists",
    severity: "info",
    standard: "RFC 9728, section 3.2; RFC 8414, section 3.2",
    operator: "Leave empty lists out.",
    client: "This library treats an empty list of scopes as absent.",
    find: (facts) =>
      findDocument(
        facts,
        allDocuments(facts),
        (document) => {
          const names = namesOf(
            membersOf(document),
            (value) => Array.isArray(value) && value.length === 0,
          );
          return names.length > 0 &&
            `Lists of the metadata are empty: ${list(names)}.`;
        },
      ),
  },
  {
    id: "unsafe_links",
    standard: "RFC 9728, section 2; RFC 8414, section 2",
    operator: "Publish https URLs only.",
    client: "This library treats such members as absent.",
    find: (facts) =>
      findDocument(
        facts,
        published(facts),
        (document) => {
          const names = namesOf(
            membersOf(document),
            (value, name) =>
              value !== "" && value !== null && isUnsafeUrl(name, value),
          );
          return names.length > 0 &&
            `Members of the metadata are no web URLs: ${list(names)}.`;
        },
      ),
  },
  {
    id: "not_cacheable",
    severity: "info",
    standard: "RFC 9111, section 5.2.2",
    operator: "Allow caching for some minutes.",
    find: (facts) =>
      findDocument(
        facts,
        published(facts),
        (document) =>
          /\bno-store\b/i.test(headerOf(document, "Cache-Control")) &&
          "The metadata must not be cached, so every client requests it anew.",
      ),
  },
  {
    id: "cached_too_long",
    severity: "info",
    standard: "RFC 9111, section 5.2.2",
    operator: "Allow caching for a day at most.",
    find: (facts) =>
      findDocument(
        facts,
        published(facts),
        (document) => {
          const [, age = "0"] =
            /\bmax-age="?(\d+)/i.exec(headerOf(document, "Cache-Control")) ??
              [];
          return Number(age) > MAX_CACHE_SECONDS &&
            `The metadata may be cached for ${
              Math.round(Number(age) / MAX_CACHE_SECONDS)
            } days, and so may its mistakes.`;
        },
      ),
  },
  {
    id: "slow_response",
    standard: "RFC 9110, section 15.5.9",
    operator: "Serve metadata and the 401 without delay.",
    client: "With this library: a larger `timeoutMs`, and a store.",
    find({ exchanges }) {
      const slow = exchanges.filter(({ ms = 0, isFailed, isExtra }) =>
        ms > 3_000 && !isFailed && !isExtra
      );
      const [slowest] = slow.sort((a, b) => (b.ms ?? 0) - (a.ms ?? 0));
      return slowest && {
        message: `A response took ${((slowest.ms ?? 0) / 1000).toFixed(1)} s.`,
        url: slowest.url,
      };
    },
  },
  {
    id: "named_metadata_missing",
    standard: "RFC 9728, section 5.1",
    operator: "Publish the metadata at the URL that the challenge names.",
    client: "This library requests the well-known URLs next.",
    find: (facts) =>
      findDocument(
        facts,
        facts.resourceDocuments,
        (document) =>
          document.url === facts.challenge?.params.resource_metadata &&
          NOT_FOUND.includes(statusOf(document) ?? 0) &&
          "There is no metadata at the URL that the challenge names.",
        true,
      ),
  },
  {
    id: "no_resource_metadata",
    standard: "RFC 9728, section 3; MCP 2025-11-25, authorization",
    operator: "Publish metadata at the well-known URL of the resource.",
    client: "With this library: `authorizationServer`, if it is known.",
    find(facts) {
      const { resourceDocuments, probe, challenge } = facts;
      const [first] = resourceDocuments;
      const isMissing = probe.response !== undefined && !isOpen(facts) &&
        !challenge?.params.resource_metadata && first !== undefined &&
        resourceDocuments.every((document) =>
          NOT_FOUND.includes(statusOf(document) ?? 0)
        );
      return isMissing
        ? { message: "The resource publishes no metadata.", url: first.url }
        : undefined;
    },
  },
];
