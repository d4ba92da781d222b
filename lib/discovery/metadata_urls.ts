/**
 * Where metadata stands: addresses derived from other addresses.
 *
 * @module
 */

import { requireHttpUrl } from "../core/_arguments.ts";
import {
  AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH,
  AUTH_SERVER_METADATA_DISCOVERY_PATH,
  OPENID_CONNECT_DISCOVERY_PATH,
} from "../core/constants.ts";
import type { IAuthorizationServerMetadata } from "../core/types.ts";

/**
 * Puts a well-known path between the host and the path of a URL. Text is joined
 * and nothing resolved, so that a path beginning with `//` stays on its host.
 */
export function insertWellKnownPath(wellKnownPath: string, url: URL): string {
  const path = url.pathname === "/" ? "" : url.pathname;
  return url.origin + wellKnownPath + path;
}

/** Puts the path of OpenID discovery after an issuer, with one slash between. */
export function appendOpenIdPath(issuer: string): string {
  return issuer +
    OPENID_CONNECT_DISCOVERY_PATH.slice(issuer.endsWith("/") ? 1 : 0);
}

/** The addresses with the preferred one first, if it is one of them. */
export function preferFirst(
  urls: readonly string[],
  preferred: string | undefined,
): string[] {
  return preferred !== undefined && urls.includes(preferred)
    ? [preferred, ...urls.filter((url) => url !== preferred)]
    : [...urls];
}

/**
 * Where metadata of a resource may stand, each address once, in the order to try:
 * the one that a challenge named; the well-known path with the resource's own
 * path and query behind it; the bare well-known path.
 *
 * @param targetResource The address of the resource.
 * @param resourceMetadataUrl What the challenge's `resource_metadata` said.
 * @throws {OAuthClientError} `invalid_argument`: `targetResource` is not an http
 * or https URL.
 * @see RFC 9728, sections 3.1 and 5.1.
 *
 * @example Without a challenge
 * ```ts
 * import { getResourceMetadataUrls } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(getResourceMetadataUrls("https://api.example/mcp"), [
 *   "https://api.example/.well-known/oauth-protected-resource/mcp",
 *   "https://api.example/.well-known/oauth-protected-resource",
 * ]);
 * ```
 */
export function getResourceMetadataUrls(
  targetResource: string,
  resourceMetadataUrl?: string,
): string[] {
  const target = requireHttpUrl("targetResource", targetResource);
  const path = AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH;
  return [
    ...new Set([
      ...(resourceMetadataUrl ? [resourceMetadataUrl] : []),
      insertWellKnownPath(path, target) + target.search,
      target.origin + path,
    ]),
  ];
}

/**
 * Where metadata of an authorization server may stand, each address once, in the
 * order to try: RFC 8414's path before the issuer's own, OpenID's before it, and
 * OpenID's behind it. An issuer without a path has two such addresses.
 *
 * @param issuer The issuer identifier.
 * @throws {OAuthClientError} `invalid_argument`: not an http or https URL.
 * @see RFC 8414, section 3.1; OpenID Connect Discovery 1.0, section 4.1.
 *
 * @example A tenant's issuer
 * ```ts
 * import { getAuthorizationServerMetadataUrls } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(getAuthorizationServerMetadataUrls("https://as.example/t1"), [
 *   "https://as.example/.well-known/oauth-authorization-server/t1",
 *   "https://as.example/.well-known/openid-configuration/t1",
 *   "https://as.example/t1/.well-known/openid-configuration",
 * ]);
 * ```
 */
export function getAuthorizationServerMetadataUrls(issuer: string): string[] {
  const url = requireHttpUrl("issuer", issuer);
  // RFC 8414, section 3.1: a slash at the end goes before a path is inserted.
  // Cutting the text keeps a path that begins with `//` on its host.
  const path = url.pathname.replace(/\/$/, "");
  return [
    ...new Set([
      url.origin + AUTH_SERVER_METADATA_DISCOVERY_PATH + path,
      url.origin + OPENID_CONNECT_DISCOVERY_PATH + path,
      url.origin + path + OPENID_CONNECT_DISCOVERY_PATH,
    ]),
  ];
}

/**
 * Metadata to assume for an authorization server that publishes none: the three
 * endpoints at the root of its origin.
 *
 * @param authorizationServer The server's address; becomes the `issuer` as it
 * stands.
 * @throws {OAuthClientError} `invalid_argument`: not an http or https `URL`.
 * @see Model Context Protocol 2025-03-26, "Authorization", section 2.3.3.
 *
 * @example Go on without metadata
 * ```ts
 * import { getDefaultMetadataForUrl } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const metadata = getDefaultMetadataForUrl(new URL("https://as.example/v1"));
 * assertEquals(metadata.token_endpoint, "https://as.example/token");
 * ```
 */
export function getDefaultMetadataForUrl(
  authorizationServer: URL,
): IAuthorizationServerMetadata {
  const issuer = requireHttpUrl(
    "authorizationServer",
    authorizationServer?.href,
  );
  return {
    issuer: issuer.toString(),
    authorization_endpoint: new URL("/authorize", issuer).toString(),
    token_endpoint: new URL("/token", issuer).toString(),
    registration_endpoint: new URL("/register", issuer).toString(),
    response_types_supported: ["code", "id_token", "id_token token"],
  };
}
