/**
 * The URLs where metadata may be published.
 *
 * @module
 */

import { requireHttpUrl } from "../core/_arguments.ts";
import {
  AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH,
  AUTH_SERVER_METADATA_DISCOVERY_PATH,
  OPENID_CONNECT_DISCOVERY_PATH,
} from "../core/constants.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import { insertWellKnownPath } from "./_identifiers.ts";

/**
 * Returns the URLs where metadata of a protected resource may be published, in the
 * order to request them: the `resource_metadata` of the challenge; the well-known
 * URL with the path and query of the resource; the well-known URL of the origin.
 * Each URL occurs once.
 *
 * @param targetResource URL of the resource.
 * @param resourceMetadataUrl The `resource_metadata` of the challenge.
 * @throws {OAuthClientError} `invalid_argument`: `targetResource` is not an http or
 * https URL.
 * @see RFC 9728, sections 3.1 and 5.1.
 *
 * @example List the well-known URLs of a resource
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
  targetResource: string | URL,
  resourceMetadataUrl?: string | URL,
): string[] {
  const target = requireHttpUrl("targetResource", targetResource);
  const path = AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH;
  return [
    ...new Set([
      ...(resourceMetadataUrl ? [String(resourceMetadataUrl)] : []),
      insertWellKnownPath(path, target) + target.search,
      target.origin + path,
    ]),
  ];
}

/**
 * Returns the URLs where metadata of an authorization server may be published, in
 * the order to request them: the well-known URL of RFC 8414, then that of OpenID
 * Connect, each with the path of the issuer inserted; the path of OpenID Connect
 * appended to the issuer. Each URL occurs once, so that an issuer without a path has
 * two.
 *
 * @param issuer Issuer identifier.
 * @throws {OAuthClientError} `invalid_argument`: not an http or https URL.
 * @see RFC 8414, section 3.1; OpenID Connect Discovery 1.0, section 4.1.
 *
 * @example List the URLs for the issuer of a tenant
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
export function getAuthorizationServerMetadataUrls(
  issuer: string | URL,
): string[] {
  const url = requireHttpUrl("issuer", issuer);
  // RFC 8414, section 3.1, removes a slash at the end before it inserts the path.
  // Cutting the string keeps the host of a path that begins with `//`.
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
 * Returns metadata for an authorization server that publishes none: the endpoints
 * `/authorize`, `/token` and `/register` of its origin.
 *
 * @param authorizationServer URL of the server; it becomes the `issuer`.
 * @throws {OAuthClientError} `invalid_argument`: not an http or https URL.
 * @see Model Context Protocol 2025-03-26, "Authorization", section 2.3.3.
 *
 * @example Continue without metadata
 * ```ts
 * import { getDefaultMetadataForUrl } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const metadata = getDefaultMetadataForUrl(new URL("https://as.example/v1"));
 * assertEquals(metadata.token_endpoint, "https://as.example/token");
 * ```
 */
export function getDefaultMetadataForUrl(
  authorizationServer: URL | string,
): IAuthorizationServerMetadata {
  const issuer = requireHttpUrl("authorizationServer", authorizationServer);
  return {
    issuer: issuer.toString(),
    authorization_endpoint: new URL("/authorize", issuer).toString(),
    token_endpoint: new URL("/token", issuer).toString(),
    registration_endpoint: new URL("/register", issuer).toString(),
    response_types_supported: ["code", "id_token", "id_token token"],
  };
}
