/**
 * Discovery of protected resource metadata (RFC 9728).
 *
 * @module
 */

import { optionalText, requireHttpUrl } from "../core/_arguments.ts";
import { discover } from "./_attempts.ts";
import { mergeHeaders, requireOptions } from "../http/_request.ts";
import type { IReply } from "../http/_response.ts";
import { parseUrl, shownUrl } from "../core/_url.ts";
import { AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH } from "../core/constants.ts";
import { isAuthorizationProtectedResourceMetadata } from "../core/guards.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IDiscoveryResult,
} from "../core/types.ts";
import { insertWellKnownPath } from "./metadata_urls.ts";

/** Options of {@linkcode fetchResourceMetadata}. */
export interface IFetchResourceMetadataOptions
  extends Omit<IRequestOptions, "headers"> {
  /**
   * Header fields for those requests only whose address has the origin of the
   * target resource, so that credentials reach nobody else.
   */
  sameOriginHeaders?: Readonly<Record<string, string>> | undefined;
}

/** Whether two identifiers are the same URL once both are parsed. */
function isSameUrl(a: unknown, b: string): boolean {
  return typeof a === "string" && parseUrl(a)?.href === new URL(b).href;
}

/** The document, if it is metadata of the resource that was asked for. */
function judge(
  url: string,
  expected: string,
  body: unknown,
  reply: IReply,
): IAuthorizationProtectedResourceMetadata {
  if (!isAuthorizationProtectedResourceMetadata(body)) {
    throw reply.error(
      "invalid_metadata",
      `Invalid resource metadata from ${url}. Expected a 'resource' and ` +
        `'scopes_supported' absent or an array, got ${reply.quoteJson(body)}`,
    );
  }
  const resource = reply.quoteJson(shownUrl(body.resource));
  if (!isSameUrl(body.resource, expected)) {
    throw reply.error(
      "identifier_mismatch",
      `Resource metadata 'resource' property value ${resource} does not match ` +
        `expected value "${expected}" for URL ${url}. Per RFC 9728, section ` +
        "3.3, the values must match",
    );
  }
  return body;
}

/**
 * Finds the metadata of a protected resource and checks that it speaks of this
 * resource.
 *
 * Up to three addresses are tried, and the first good document wins: the one
 * that a challenge named; the well-known path with the resource's own path
 * behind it, unless that is `/`; the bare well-known path. The document's
 * `resource` must equal the target, at the last address the target's origin,
 * both compared as parsed URLs. Every request asks for JSON; a reply counts
 * with status 200 only, and redirects are followed within their origin.
 *
 * @param targetResource The address of the resource.
 * @param resourceMetadataUrl What the challenge's `resource_metadata` said.
 * @param options Header fields for the resource's own origin, and what every
 * request takes.
 * @returns The metadata, the address it came from, and the failures before.
 * @throws {OAuthClientError} `invalid_argument`: `targetResource` is not an http
 * or https URL, or an argument has the wrong type. When one address was tried,
 * its failure: `unexpected_status`, `invalid_metadata`, `identifier_mismatch`,
 * `url_refused`, or what `fetch` threw.
 * @throws {AggregateError} The failures, when several addresses were tried.
 * @see RFC 9728, sections 3.1 and 3.3.
 *
 * @example Follow a challenge
 * ```ts
 * import { fetchResourceMetadata } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { metadata, discoveryUrl } = await fetchResourceMetadata(
 *   "https://api.example/mcp",
 *   "https://api.example/metadata",
 *   {
 *     // Stands in for the server.
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
 */
export async function fetchResourceMetadata(
  targetResource: string,
  resourceMetadataUrl: string | undefined,
  options?: IFetchResourceMetadataOptions,
): Promise<IDiscoveryResult<IAuthorizationProtectedResourceMetadata>> {
  const target = requireHttpUrl("targetResource", targetResource);
  const named = optionalText("resourceMetadataUrl", resourceMetadataUrl);
  const { sameOriginHeaders, ...requestOptions } = requireOptions(options);

  const attempt = (url: string, expected: string) => ({
    url,
    headers: mergeHeaders(
      { Accept: "application/json" },
      parseUrl(url)?.origin === target.origin ? sameOriginHeaders : undefined,
    ),
    accept: (body: unknown, reply: IReply) => judge(url, expected, body, reply),
  });
  const path = AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH;
  return await discover(
    "resource_metadata",
    [
      ...(named ? [attempt(named, targetResource)] : []),
      ...(target.pathname === "/"
        ? []
        : [attempt(insertWellKnownPath(path, target), targetResource)]),
      attempt(target.origin + path, target.origin),
    ],
    requestOptions,
  );
}
