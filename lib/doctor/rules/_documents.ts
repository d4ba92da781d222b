import { withoutHints } from "../../core/_hints.ts";
import { isLoopback, parseUrl } from "../../core/_url.ts";
import {
  type AnyDocument,
  codesOf,
  type Facts,
  headerOf,
  isLost,
  isOpen,
  membersAt,
  membersOf,
  NOT_FOUND,
  shown,
} from "../_facts.ts";
import {
  findDocument,
  KNOWN_SERVER,
  liftedBy,
  type Rule,
  type Sighting,
} from "./_rule.ts";
import { isPage } from "../sign_in/_steps.ts";

function statusOf({ exchange }: AnyDocument): number {
  return exchange?.isFailed ? 0 : exchange?.response?.status ?? 0;
}

/** Returns why a document is no metadata of a resource, or of a server. */
function invalid(
  document: AnyDocument,
  { serverDocuments }: Facts,
): string | undefined {
  const isOfServer = serverDocuments.some((one) => one === document);
  if (!isOfServer) {
    return typeof membersOf(document)?.resource === "string"
      ? undefined
      : "The JSON is not metadata of a resource: it has no `resource`.";
  }
  const { cause } = document.error ?? {};
  return codesOf(document)[0] === "invalid_metadata"
    ? "The JSON is not metadata of a server: " +
      `${shown(Object(cause).message ?? "no object")}.`
    : undefined;
}

/** Returns why a client cannot use a URL's document, or not without a redirect. */
function unusable(document: AnyDocument, facts: Facts): string | undefined {
  const { url, exchange, json, error } = document;
  const codes = codesOf(document);
  if (codes.includes("redirect_refused")) {
    const to = headerOf(document, "Location") || "nowhere";
    return `The metadata URL redirects to ${shown(to)}, which is not followed.`;
  }
  if (exchange && parseUrl(exchange.url)?.href !== parseUrl(url)?.href) {
    return `The metadata URL redirects to ${shown(exchange.url)}.`;
  }
  const status = statusOf(document);
  if (NOT_FOUND.includes(status)) {
    return url === facts.challenge?.params.resource_metadata
      ? "There is no metadata at the URL in the challenge."
      : undefined;
  }
  if (status > 200 && !(status >= 300 && status < 400)) {
    return `The status of the metadata URL is ${status}.`;
  }
  if (status !== 200 || !error) return undefined;
  if (json !== undefined) return invalid(document, facts);
  if (codes[0] !== "invalid_metadata") return undefined;
  return exchange && isPage(exchange)
    ? "There is a page of HTML instead of metadata."
    : "The document with status 200 is not JSON.";
}

/** Checks whether a client may reject a URL. */
function isRefusable(value: unknown): boolean {
  const url = typeof value === "string" ? parseUrl(value) : undefined;
  return url !== undefined && (url.protocol !== "https:" || isLoopback(url));
}

/** Finds metadata at the appended path, where no client looks for it. */
function appendedMetadata(facts: Facts): Sighting | undefined {
  const { appended, resourceDocuments: [first] } = facts;
  if (!appended || !first) return undefined;
  const [server] = [appended.json.authorization_servers].flat();
  return {
    message: `The metadata of the resource is at ${shown(appended.url)}. ` +
      `Clients look for it at ${shown(first.url)}.`,
    url: appended.url,
    severity: isLost(facts) ? "error" : "warning",
    operator: "Insert the well-known path before the path of the resource, " +
      "or put the URL into the challenge: `resource_metadata`.",
    ...(typeof server === "string" && {
      hints: [{
        option: "authorizationServer",
        value: shown(server),
        text: `set authorizationServer: "${shown(server)}"`,
      }],
    }),
  };
}

function missingMetadata(facts: Facts): Sighting | undefined {
  const { resourceDocuments, probe, challenge, target } = facts;
  const [first] = resourceDocuments;
  const isMissing = probe.response !== undefined && !isOpen(facts) &&
    !challenge?.params.resource_metadata &&
    resourceDocuments.every((document) =>
      NOT_FOUND.includes(statusOf(document))
    );
  if (!first || !(isMissing || isLost(facts))) return undefined;
  const { url } = first;
  if (!isLost(facts)) {
    return { message: "The resource publishes no metadata.", url };
  }
  return {
    message: "The resource publishes no metadata, so the authorization " +
      `server is not known. That it is ${shown(target.origin)}, with ` +
      "/authorize, /token and /register, would be a guess: there is no " +
      "/authorize.",
    url,
    severity: "error",
    hints: [
      {
        option: "serverMetadata",
        text: "set serverMetadata from the documentation of the API",
      },
      { option: "client", text: "set client to one from the API's console" },
      {
        option: "authorizationServer",
        text: "if the server publishes metadata, set authorizationServer in " +
          "place of serverMetadata",
      },
    ],
    options: [{ name: "serverMetadata" }, { name: "client" }],
  };
}

export const DOCUMENT_RULES: readonly Rule[] = [
  {
    id: "metadata_unusable", // rows 5, 6 and 9
    standard: "RFC 9728, sections 2 to 3.2; RFC 8414, sections 2 to 3.2",
    operator: "Respond at this URL itself, without authentication, with 200 " +
      "and the metadata as JSON, or with 404 if there is no metadata.",
    client: "This library requests the next well-known URL.",
    find: (facts) => findDocument(facts, unusable),
  },
  {
    id: "url_refused", // row 67
    standard: "RFC 9728, section 7.7; RFC 8414, section 2",
    operator: "Publish only absolute https URLs of a public host.",
    hints: [{
      option: "allowHttp",
      value: true,
      text: "set allowHttp: true in a test environment",
    }],
    find(facts) {
      const { failure, target, issuer, servers } = facts;
      const isServer = failure?.code === "url_refused" &&
        !target.href.startsWith(issuer) && servers.length > 0;
      const found = isServer
        ? {
          message: `${shown(withoutHints(failure), 300)}.`,
          url: facts.resourceDocuments.find(membersOf)?.url ?? "",
          severity: "error" as const,
        }
        : findDocument(facts, ({ error, exchange, json, url }) => {
          const isOfUrl = !exchange &&
            parseUrl(url)?.origin !== target.origin;
          return error?.code === "url_refused" &&
            (json !== undefined || isOfUrl) &&
            `${shown(withoutHints(error), 300)}.`;
        });
      const members = Object.entries(membersAt(facts, found?.url));
      const shows = members.filter(([, value]) =>
        [value].flat().some(isRefusable)
      ).map(([name]) => name);
      return liftedBy(
        found && { ...found, shows },
        { name: "allowHttp", value: true },
      );
    },
  },
  {
    id: "no_resource_metadata", // Zoom; row 5
    standard: "RFC 9728, section 3; MCP 2025-11-25, authorization",
    operator: "Publish metadata at the well-known URL of the resource.",
    hints: [KNOWN_SERVER],
    find: (facts) => appendedMetadata(facts) ?? missingMetadata(facts),
  },
];
