import { requireHttpUrl } from "../core/_arguments.ts";
import { isTemporary } from "../core/advice.ts";
import { type DiscoveryAttempt, OAuthClientError } from "../core/errors.ts";
import type {
  IAuthorizationServerMetadata,
  ServerMetadata,
} from "../core/metadata.ts";
import { getDefaultMetadataForUrl } from "./metadata_urls.ts";

/**
 * Completes metadata from the caller. Adds `S256` if there is no list of PKCE methods.
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
 * Checks whether nothing is published at a URL. Outages and invalid metadata do not
 * count.
 */
export function isUnpublished({ error }: DiscoveryAttempt): boolean {
  if (!(error instanceof OAuthClientError)) return false;
  const { code, status = 0, cause } = error;
  const isClientError = status >= 400 && !isTemporary(status);
  return (code === "unexpected_status" && isClientError) ||
    (code === "invalid_metadata" && cause === undefined);
}

/** The endpoints of a server without metadata (MCP revision 2025-03-26). */
export function assumedMetadata(target: URL): IAuthorizationServerMetadata {
  return {
    ...getDefaultMetadataForUrl(target),
    issuer: target.origin,
    // That revision requires PKCE.
    code_challenge_methods_supported: ["S256"],
  };
}
