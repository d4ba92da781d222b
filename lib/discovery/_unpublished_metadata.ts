/**
 * Metadata of authorization servers that publish no metadata.
 *
 * @module
 */

import { requireHttpUrl } from "../core/_arguments.ts";
import { isTemporary } from "../core/advice.ts";
import { type DiscoveryAttempt, OAuthClientError } from "../core/errors.ts";
import type {
  IAuthorizationServerMetadata,
  ServerMetadata,
} from "../core/metadata.ts";
import { getDefaultMetadataForUrl } from "./metadata_urls.ts";

/**
 * Returns metadata that the caller knows. If it has no list of PKCE methods, `S256` is
 * added.
 */
export function completeMetadata(
  known: ServerMetadata,
): IAuthorizationServerMetadata {
  requireHttpUrl("serverMetadata.issuer", known.issuer);
  const methods = known.code_challenge_methods_supported ?? ["S256"];
  return {
    response_types_supported: ["code"],
    ...known,
    code_challenge_methods_supported: methods,
  };
}

/**
 * Checks whether an attempt shows that nothing is published at its URL: an outage does
 * not, nor does metadata that must not be used.
 */
export function isUnpublished({ error }: DiscoveryAttempt): boolean {
  if (!(error instanceof OAuthClientError)) return false;
  const { code, status = 0, cause } = error;
  const isClientError = status >= 400 && !isTemporary(status);
  return (code === "unexpected_status" && isClientError) ||
    (code === "invalid_metadata" && cause === undefined);
}

/** Returns the endpoints of a server without metadata (MCP revision 2025-03-26). */
export function assumedMetadata(target: URL): IAuthorizationServerMetadata {
  return {
    ...getDefaultMetadataForUrl(target),
    issuer: target.origin,
    // That revision requires PKCE of every client and server.
    code_challenge_methods_supported: ["S256"],
  };
}
