/**
 * Which client to be at an authorization server.
 *
 * @module
 */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import { parseUrl } from "../core/_url.ts";
import type {
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationServerMetadata,
} from "../core/types.ts";

/** A client known before: registered by hand, or earlier by the program. */
export interface IKnownClient
  extends IAuthorizationDynamicClientRegistrationResponse {
  /** Issuer that the client is registered with; it is never used at another. */
  issuer: string;
}

/** Options of {@linkcode selectClient}. */
export interface ISelectClientOptions {
  /** Clients kept from before, of whatever issuers. */
  knownClients?: readonly IKnownClient[] | undefined;
  /**
   * Where your client id metadata document stands: an https URL with a path. It
   * serves as `client_id` at every server that takes such documents.
   */
  clientMetadataUrl?: string | undefined;
  /** The time in milliseconds since the Unix epoch; `Date.now` when absent. */
  now?: (() => number) | undefined;
}

/**
 * What to do next: use a known client, use the address of the client's metadata
 * document, register, or ask the user for a client.
 */
export type ClientSelection =
  | {
    /** The client is at hand. */
    kind: "known_client" | "client_metadata_document";
    /** What identifies it. */
    client: IAuthorizationDynamicClientRegistrationResponse;
  }
  | {
    /** Nothing is at hand. */
    kind: "register" | "ask_user";
  };

/** Whether a secret is of no use any more; some servers send digits as a text. */
function isExpired(expiresAt: unknown, now: () => number): boolean {
  const seconds = typeof expiresAt === "string" ? Number(expiresAt) : expiresAt;
  // RFC 7591, section 3.2.1: 0 is for a secret that does not expire.
  return typeof seconds === "number" && seconds !== 0 &&
    seconds <= now() / 1000;
}

/** Whether an address may be a client identifier (an https URL with a path). */
function isClientIdUrl(address: string): boolean {
  const url = parseUrl(address);
  // The same text must stand in the document, so only the canonical form will do.
  return url?.href === address && url.protocol === "https:" &&
    url.pathname !== "/" && !address.includes("#") &&
    !url.username && !url.password;
}

/**
 * Chooses a client for a server, in this order: one known for its issuer, unless
 * its secret has expired; the client id metadata document where the server takes
 * them; a registration where it offers one; the user.
 *
 * @returns The kind of client, and the client where there is one already.
 * @see Model Context Protocol 2025-11-25, "Authorization", client registration;
 * draft-ietf-oauth-client-id-metadata-document, section 3.
 *
 * @example A server that takes client id metadata documents
 * ```ts
 * import { selectClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const clientMetadataUrl = "https://my-client.example/oauth/client.json";
 * const serverMetadata = {
 *   issuer: "https://as.example",
 *   response_types_supported: ["code"],
 *   client_id_metadata_document_supported: true,
 * };
 * assertEquals(selectClient(serverMetadata, { clientMetadataUrl }), {
 *   kind: "client_metadata_document",
 *   client: {
 *     client_id: clientMetadataUrl,
 *     token_endpoint_auth_method: "none",
 *   },
 * });
 * assertEquals(selectClient(serverMetadata, {}), { kind: "ask_user" });
 * ```
 */
export function selectClient(
  serverMetadata: IAuthorizationServerMetadata,
  options: ISelectClientOptions,
): ClientSelection {
  requireObject("serverMetadata", serverMetadata);
  const { clientMetadataUrl, now = Date.now, ...rest } = requireObject(
    "options",
    options,
  );
  const knownClients = requireObject("knownClients", rest.knownClients ?? []);
  requireArgument(
    Array.isArray(knownClients) &&
      knownClients.every((one) => typeof one === "object" && one !== null),
    "knownClients",
    "an array of registrations",
  );
  const client = knownClients.find(({ issuer, client_secret_expires_at }) =>
    issuer === serverMetadata.issuer &&
    !isExpired(client_secret_expires_at, now)
  );
  if (client) return { kind: "known_client", client };
  if (
    serverMetadata.client_id_metadata_document_supported === true &&
    clientMetadataUrl && isClientIdUrl(clientMetadataUrl)
  ) {
    return {
      kind: "client_metadata_document",
      client: {
        client_id: clientMetadataUrl,
        token_endpoint_auth_method: "none",
      },
    };
  }
  return {
    kind: serverMetadata.registration_endpoint ? "register" : "ask_user",
  };
}
