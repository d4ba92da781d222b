import { requireHttpUrl } from "../core/_arguments.ts";
import { withoutSlash } from "../core/_issuer.ts";
import {
  AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH,
  AUTH_SERVER_METADATA_DISCOVERY_PATH,
  OPENID_CONNECT_DISCOVERY_PATH,
} from "../core/constants.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";

/**
 * Returns a resource's well-known URLs in order (RFC 9728, section 3.1): with its path,
 * then of its origin. Strings are joined, not resolved, so a path that starts with `//`
 * cannot change the host.
 */
export function resourceMetadataUrls(
  { origin, pathname }: URL,
): [ofPath: string, ofOrigin: string] {
  const root = origin + AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH;
  return [pathname === "/" ? root : root + pathname, root];
}

/**
 * Returns the metadata URLs of a server in order. The first two insert the issuer's
 * path (RFC 8414, section 3.1). The last appends the path of OpenID Connect (Discovery
 * 1.0, section 4.1).
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
 * Returns default metadata for a server that publishes none: `/authorize`, `/token` and
 * `/register` of its origin.
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
