/**
 * The URLs where metadata is published, and default metadata.
 *
 * @module
 */

import { requireHttpUrl } from "../core/_arguments.ts";
import { withoutSlash } from "../core/_issuer.ts";
import {
  AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH,
  AUTH_SERVER_METADATA_DISCOVERY_PATH,
  OPENID_CONNECT_DISCOVERY_PATH,
} from "../core/constants.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";

/**
 * Returns the well-known URLs of a resource in the order to request them (RFC 9728,
 * section 3.1): the URL with the path of the resource, then the URL of the origin. Both
 * are the same for the path `/`. The strings are joined, not resolved, so that the host
 * stays the same for a path that starts with `//`.
 */
export function resourceMetadataUrls(
  { origin, pathname }: URL,
): [ofPath: string, ofOrigin: string] {
  const root = origin + AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH;
  return [pathname === "/" ? root : root + pathname, root];
}

/**
 * Returns the URLs of the metadata of a server in the order to request them: the
 * well-known URLs of RFC 8414, section 3.1, and of OpenID Connect, each with the path
 * of the issuer inserted; then the well-known path of OpenID Connect appended to the
 * issuer (OpenID Connect Discovery 1.0, section 4.1).
 */
export function serverMetadataUrls(
  origin: string,
  path: string,
  issuer: string,
): string[] {
  return [
    origin + AUTH_SERVER_METADATA_DISCOVERY_PATH + path,
    origin + OPENID_CONNECT_DISCOVERY_PATH + path,
    withoutSlash(issuer) + OPENID_CONNECT_DISCOVERY_PATH,
  ];
}

/**
 * Returns default metadata for an authorization server that publishes none: the
 * endpoints `/authorize`, `/token` and `/register` of its origin.
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
 *
 * @category Literal layer
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
