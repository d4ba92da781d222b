import { requireHttpUrl } from "../core/_arguments.ts";
import {
  isMembers,
  type Members,
  stringsIn,
  withoutNulls,
} from "../core/_members.ts";
import { OTHER_ISSUER } from "../core/_hints.ts";
import { isIssuer, isSameIssuer, withoutSlash } from "../core/_issuer.ts";
import { printable } from "../core/_quote.ts";
import {
  ENDPOINT_NAMES,
  isWebUrl,
  parseUrl,
  rulesFor,
  urlProblem,
  type UrlRules,
} from "../core/_url.ts";
import { type DiscoveryAttempt, OAuthClientError } from "../core/errors.ts";
import { isAuthorizationServerMetadata } from "../core/guards.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "../core/metadata.ts";
import type { IAuthenticationChallenge } from "../core/types.ts";
import type { Context } from "../http/_context.ts";
import { literal, unusedUrl, words } from "../http/_error.ts";
import { mergeHeaders } from "../http/_request.ts";
import { coversTarget, lacksTls, parentUrlOf } from "./_identifiers.ts";
import {
  discoveryError,
  search,
  type SearchResult,
  type Verdict,
} from "./_search.ts";
import { resourceMetadataUrls, serverMetadataUrls } from "./metadata_urls.ts";

type Headers = Readonly<Record<string, string>> | undefined;

const ACCEPT = { Accept: "application/json" };

export function challengeToFollow(
  challenges: readonly IAuthenticationChallenge[],
): IAuthenticationChallenge | undefined {
  return challenges.find(({ params }) => params.resource_metadata) ??
    challenges[0];
}

function isUnsafeUrl(name: string, value: unknown): boolean {
  return /_(uri|endpoint|documentation)$/.test(name) &&
    !(typeof value === "string" && isWebUrl(value) &&
      printable(value) === value);
}

/**
 * Removes misleading values: URLs such as `javascript:`, control and bidi characters.
 */
function presentable<T extends object>(metadata: T): T {
  const result = { ...metadata } as Members;
  for (const name of Object.keys(result)) {
    const value = result[name];
    if (isUnsafeUrl(name, value)) delete result[name];
    else if (typeof value === "string") result[name] = printable(value);
  }
  return result as T;
}

export interface ResourceSearch {
  readonly target: URL;
  readonly rules: UrlRules;
  readonly resourceMetadataUrl: string | undefined;
  readonly resourceMatch: "parent" | "exact" | undefined;
  readonly resourceMetadataHeaders: Headers;
}

function checkResource(
  document: unknown,
  url: string,
  finalUrl: string,
  { target, resourceMatch: match = "parent" }: ResourceSearch,
): Verdict<IAuthorizationProtectedResourceMetadata> {
  const metadata = withoutNulls(document);
  const isMetadata = isMembers(metadata) &&
    ("resource" in metadata || "authorization_servers" in metadata);
  if (!isMetadata) return {};
  const { resource } = metadata;
  if (typeof resource !== "string" || resource === "") {
    const message = "Resource metadata must have a resource";
    return { cause: new OAuthClientError("invalid_metadata", message) };
  }
  if (coversTarget(resource, target, { metadataUrl: finalUrl, match })) {
    const result: IAuthorizationProtectedResourceMetadata = presentable({
      ...metadata,
      resource,
    });
    if (!Array.isArray(result.scopes_supported)) delete result.scopes_supported;
    return { metadata: result };
  }
  return {
    code: "identifier_mismatch",
    isFinal: true,
    otherUrl: match === "exact" ? undefined : parentUrlOf(resource, target),
    problem: words`The resource of the metadata from ${{ url }} is "${{
      url: resource,
    }}", expected "${{ url: target }}"${
      literal(
        match === "exact"
          ? ""
          : " or a parent path that publishes this document at its own " +
            "well-known URL",
      )
    }${[{
      option: "authorizationServer",
      text: (lacksTls(resource, target)
        ? "behind a proxy that ends TLS, forward X-Forwarded-Proto; until then, "
        : "if a gateway gives it another name, ") +
        "set authorizationServer and, in the flow, resourceIndicator",
    }]}`,
  };
}

/**
 * Returns the possible metadata URLs of a resource. Many servers publish without a
 * path's final slash. Unless the match is `exact`, that document counts too.
 */
export function resourceUrls(
  { target, resourceMetadataUrl, resourceMatch }: ResourceSearch,
): string[] {
  const [ofPath, ofOrigin] = resourceMetadataUrls(target);
  // A resource identifier includes the query (RFC 9728, section 3.1).
  const urls = [ofPath + target.search, ofOrigin];
  if (!target.search && resourceMatch !== "exact") {
    urls.splice(1, 0, withoutSlash(ofPath));
  }
  if (resourceMetadataUrl) urls.unshift(resourceMetadataUrl);
  return [...new Set(urls)];
}

/** Returns undefined if the list is malformed. */
function serversOf(
  metadata: IAuthorizationProtectedResourceMetadata | undefined,
): string[] | undefined {
  const servers: unknown = metadata?.authorization_servers ?? [];
  // Some resources publish their only server as a string.
  if (typeof servers === "string") return [servers];
  const strings = stringsIn(servers);
  return strings?.length === (servers as unknown[]).length
    ? strings
    : undefined;
}

export interface FoundResource {
  readonly metadata?: IAuthorizationProtectedResourceMetadata | undefined;
  readonly attempts: DiscoveryAttempt[];
  readonly servers: readonly string[];
}

/**
 * Fails if the metadata describes another resource. For a parent path's document, also
 * requests the parent's well-known URL, and uses that document.
 */
export async function searchResource(
  context: Context,
  options: ResourceSearch,
): Promise<FoundResource> {
  const { target, rules, resourceMetadataUrl, resourceMetadataHeaders } =
    options;
  const urls = resourceUrls(options);
  const found = await search(context, "resource_metadata", urls, (url) => {
    const isSameOrigin = parseUrl(url)?.origin === target.origin;
    const further = isSameOrigin ? resourceMetadataHeaders : undefined;
    return {
      headers: mergeHeaders(ACCEPT, further),
      rules: url === resourceMetadataUrl ? rules : undefined,
      check: (document, finalUrl) =>
        checkResource(document, url, finalUrl, options),
    };
  });
  const { metadata, attempts, ended } = found;
  const shown = { url: target };
  const servers = serversOf(metadata);
  if (servers && !ended) return { metadata, attempts, servers };
  const problem = ended
    ? words`${shown} is not the resource of its metadata`
    : words`The authorization_servers in the metadata of ${shown} are not an \
array of strings`;
  throw discoveryError(context, problem, attempts, ended);
}

export interface ServerSearch {
  /** The identifier as the resource or the caller spelled it. */
  readonly issuer: string;
  readonly rules: UrlRules;
  /** Issuers that the metadata may contain, by the expected identifier. */
  readonly trustedIssuers: Readonly<Record<string, string>> | undefined;
  readonly serverMetadataHeaders: Headers;
}

function refusalOf(
  metadata: IAuthorizationServerMetadata,
  url: string,
  { issuer, rules, trustedIssuers = {} }: ServerSearch,
): Omit<Verdict<never>, "metadata"> | undefined {
  const isTrusted = Object.hasOwn(trustedIssuers, issuer) &&
    trustedIssuers[issuer] === metadata.issuer;
  if (
    !isTrusted &&
    !(isSameIssuer(metadata.issuer, issuer) && isIssuer(metadata.issuer))
  ) {
    return {
      code: "identifier_mismatch",
      problem: words`The issuer of the authorization server metadata from ${{
        url,
      }} is "${{ url: metadata.issuer }}", expected "${{
        url: issuer,
      }}"${[OTHER_ISSUER]}`,
    };
  }
  const endpointRules = rulesFor(metadata.issuer, rules.allowHttp);
  for (const name of ENDPOINT_NAMES) {
    const endpoint = metadata[name];
    const expected = endpoint && urlProblem(endpoint, endpointRules);
    if (expected) {
      const problem = unusedUrl(`the ${name}`, endpoint, expected);
      return { code: "url_refused", problem };
    }
  }
  return undefined;
}

function checkServer(
  document: unknown,
  url: string,
  options: ServerSearch,
): Verdict<IAuthorizationServerMetadata> {
  const metadata = withoutNulls(document);
  try {
    if (!isAuthorizationServerMetadata(metadata)) return {};
  } catch (cause) {
    return { cause };
  }
  return refusalOf(metadata, url, options) ??
    { metadata: presentable(metadata) };
}

export function serverUrls(
  { issuer }: ServerSearch,
): string[] {
  const { origin, pathname } = requireHttpUrl("issuer", issuer);
  // RFC 8414, section 3.1, removes a final slash before it inserts the path.
  const path = withoutSlash(pathname);
  return [...new Set(serverMetadataUrls(origin, path, origin + path))];
}

export function searchServer(
  context: Context,
  options: ServerSearch,
): Promise<SearchResult<IAuthorizationServerMetadata>> {
  const headers = mergeHeaders(ACCEPT, options.serverMetadataHeaders, ACCEPT);
  return search(
    context,
    "authorization_server_metadata",
    serverUrls(options),
    (url) => ({
      headers,
      check: (document: unknown) => checkServer(document, url, options),
    }),
  );
}
