import { optionalString, requireHttpUrl } from "../core/_arguments.ts";
import { parseUrl } from "../core/_url.ts";
import { isAuthorizationProtectedResourceMetadata } from "../core/guards.ts";
import type { IAuthorizationProtectedResourceMetadata } from "../core/metadata.ts";
import type { DiscoveryResult } from "../core/types.ts";
import { contextOf } from "../http/_context.ts";
import { words } from "../http/_error.ts";
import { mergeHeaders } from "../http/_request.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { search, toDiscoveryResult, type Verdict } from "./_search.ts";
import { resourceMetadataUrls } from "./metadata_urls.ts";

/** Options of {@linkcode fetchResourceMetadata}. */
export interface IFetchResourceMetadataOptions
  extends Omit<RequestOptions, "headers"> {
  /**
   * Header fields for requests to the target's origin only, so that no other origin
   * receives credentials.
   */
  sameOriginHeaders?: Readonly<Record<string, string>> | undefined;
}

function check(
  document: unknown,
  url: string,
  expected: string,
): Verdict<IAuthorizationProtectedResourceMetadata> {
  if (!isAuthorizationProtectedResourceMetadata(document)) {
    return {
      code: "invalid_metadata",
      problem: words`Invalid resource metadata from ${{
        url,
      }}. Expected a 'resource', and 'scopes_supported' absent or an array, \
got ${{ json: document }}`,
    };
  }
  const { resource } = document as { resource: unknown };
  const isMatch = typeof resource === "string" &&
    parseUrl(resource)?.href === parseUrl(expected)?.href;
  return isMatch ? { metadata: document } : {
    code: "identifier_mismatch",
    problem: words`Resource metadata 'resource' property value "${{
      url: resource,
    }}" does not match expected value "${{ url: expected }}" for URL ${{
      url,
    }}. Per RFC 9728, section 3.3, the values must match`,
  };
}

/**
 * Fetches the metadata of exactly the target resource. Prefer
 * {@linkcode discoverAuthorization}: it also accepts parent paths and discovers the
 * server.
 *
 * Requests up to three URLs: the challenge's `resource_metadata`, the well-known URL
 * with the resource's path unless it is `/`, and the origin's well-known URL. The
 * document's `resource` must equal the target, or for the last URL its origin, as
 * parsed URLs. The status must be 200. Redirects are followed within their origin.
 *
 * @param targetResource URL of the resource.
 * @param resourceMetadataUrl The `resource_metadata` of the challenge.
 * @param options Header fields for the resource's origin, and the options of every
 * request.
 * @returns The metadata, its URL, and the errors of earlier attempts.
 * @throws {OAuthClientError} `invalid_argument`: `targetResource` is not an http or
 * https URL, or an argument is invalid. `timeout`. After one request, its error:
 * `unexpected_status`, `invalid_metadata`, `identifier_mismatch`, `redirect_refused`,
 * `url_refused`, or an error of `fetch` or of a minimal response's `json()`.
 * @throws {AggregateError} The errors, if several URLs were requested.
 * @see RFC 9728, sections 3.1 and 3.3.
 *
 * @example Fetch the metadata that a challenge refers to
 * ```ts
 * import { fetchResourceMetadata } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { metadata, discoveryUrl } = await fetchResourceMetadata(
 *   "https://api.example/mcp",
 *   "https://api.example/metadata",
 *   {
 *     // Replaces the server.
 *     fetch: () =>
 *       Promise.resolve(Response.json({
 *         resource: "https://api.example/mcp",
 *         authorization_servers: ["https://as.example"],
 *       })),
 *   },
 * );
 * assertEquals(discoveryUrl, "https://api.example/metadata");
 * assertEquals(metadata.authorization_servers, ["https://as.example"]);
 * ```
 *
 * @category Literal layer
 */
export async function fetchResourceMetadata(
  targetResource: string | URL,
  resourceMetadataUrl: string | URL | undefined,
  options?: IFetchResourceMetadataOptions,
): Promise<DiscoveryResult<IAuthorizationProtectedResourceMetadata>> {
  const target = requireHttpUrl("targetResource", targetResource);
  const named = resourceMetadataUrl instanceof URL
    ? resourceMetadataUrl.href
    : optionalString("resourceMetadataUrl", resourceMetadataUrl);
  const context = contextOf(options);
  const accept = { Accept: "application/json" };
  const sameOrigin = mergeHeaders(accept, options?.sameOriginHeaders);
  const [ofPath, ofOrigin] = resourceMetadataUrls(target);
  const urls = [ofOrigin];
  if (ofPath !== ofOrigin) urls.unshift(ofPath);
  if (named) urls.unshift(named);
  const purpose = "resource_metadata";
  const found = await search(context, purpose, urls, (url, index) => {
    const isOfOrigin = index === urls.length - 1;
    const expected = isOfOrigin ? target.origin : String(targetResource);
    return {
      headers: parseUrl(url)?.origin === target.origin ? sameOrigin : accept,
      rules: url === named ? { allowHttp: true } : undefined,
      check: (document) => check(document, url, expected),
      keepsRejection: true,
    };
  });
  return toDiscoveryResult(purpose, found);
}
