/**
 * Where metadata stands: addresses derived from other addresses.
 *
 * @module
 */

import { requireHttpUrl } from "./_arguments.ts";
import { OPENID_CONNECT_DISCOVERY_PATH } from "./constants.ts";
import type { IAuthorizationServerMetadata } from "./types.ts";

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
