import { requireNonEmptyString, requireObject } from "../core/_arguments.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { numberMember } from "../core/_members.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { requireDocumentUrl } from "./_metadata_document.ts";
import { requireBound } from "./_authentication_selection.ts";
import type { KnownClient } from "./known_client.ts";

export type { KnownClient };

/** Options of {@linkcode selectClient}. */
export interface SelectClientOptions {
  /** Clients stored earlier, of any issuer. */
  knownClients?: readonly KnownClient[] | undefined;
  /**
   * URL of your client metadata document: https with a path, without a fragment or
   * credentials, as `URL` writes it. It is the `client_id` at every server that
   * supports such documents.
   */
  clientMetadataUrl?: string | URL | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/**
 * The result of {@linkcode selectClient}. `kind` is one of these:
 *
 * - `known_client`: use the stored client.
 * - `client_metadata_document`: use the client that the document describes.
 * - `register`: register a client with {@linkcode registerClient}.
 * - `ask_user`: let the user enter a client, because the server offers nothing else.
 *
 * @category Clients
 */
export type ClientSelection =
  | { kind: "known_client"; client: KnownClient }
  | { kind: "client_metadata_document"; client: KnownClient }
  | { kind: "register" }
  | { kind: "ask_user" };

function isExpired(client: KnownClient, now: () => number): boolean {
  const seconds = numberMember({ ...client }, "client_secret_expires_at") ?? 0;
  // 0 means that the secret does not expire (RFC 7591, section 3.2.1).
  return seconds !== 0 && seconds <= now() / 1000;
}

/**
 * Selects a client for a server, without a request. {@linkcode ensureClient} also
 * registers one.
 *
 * The first possible kind is selected: a known client of this issuer with an unexpired
 * secret; your client metadata document, if the server supports it; registration, if
 * the server offers it; otherwise `ask_user`.
 *
 * @param serverMetadata Metadata of the server.
 * @param options The clients to select from.
 * @returns The kind of the client, and the client if it exists.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid, or
 * `clientMetadataUrl` cannot be a `client_id`.
 * @see Model Context Protocol 2025-11-25, "Authorization", client registration;
 * draft-ietf-oauth-client-id-metadata-document, section 3.
 *
 * @example Use a stored client, or register one
 * ```ts
 * import {
 *   type IAuthorizationServerMetadata,
 *   type KnownClient,
 *   registerClient,
 *   selectClient,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const stored: KnownClient[] = [
 *   { issuer: "https://as.example", client_id: "c1" },
 * ];
 *
 * async function clientFor(
 *   serverMetadata: IAuthorizationServerMetadata,
 * ): Promise<KnownClient> {
 *   const selection = selectClient(serverMetadata, { knownClients: stored });
 *   switch (selection.kind) {
 *     case "known_client":
 *     case "client_metadata_document":
 *       return selection.client;
 *     case "register": {
 *       const client = await registerClient(serverMetadata, {
 *         client_name: "My client",
 *         redirect_uris: ["http://127.0.0.1:8123/callback"],
 *       });
 *       stored.push(client);
 *       return client;
 *     }
 *     case "ask_user":
 *       throw new Error(`Please register a client at ${serverMetadata.issuer}`);
 *   }
 * }
 *
 * const { client_id } = await clientFor({
 *   issuer: "https://as.example",
 *   response_types_supported: ["code"],
 * });
 * assertEquals(client_id, "c1");
 * ```
 *
 * @category Clients
 */
export function selectClient(
  serverMetadata: ServerMetadata,
  options?: SelectClientOptions,
): ClientSelection {
  const { issuer, registration_endpoint, ...server } = requireObject(
    "serverMetadata",
    serverMetadata,
  );
  requireNonEmptyString("serverMetadata.issuer", issuer);
  const { knownClients, clientMetadataUrl, now = Date.now } = options ?? {};
  const documentUrl = clientMetadataUrl !== undefined &&
    requireDocumentUrl("clientMetadataUrl", clientMetadataUrl);

  knownClients?.forEach(requireBound);
  const client = knownClients?.find((one) =>
    isSameIssuer(one.issuer ?? issuer, issuer) && !isExpired(one, now)
  );
  if (client) {
    const isSame = client.issuer === issuer;
    return {
      kind: "known_client",
      client: isSame ? client : { ...client, issuer },
    };
  }
  if (documentUrl && server.client_id_metadata_document_supported === true) {
    return {
      kind: "client_metadata_document",
      client: {
        issuer,
        client_id: documentUrl,
        token_endpoint_auth_method: "none",
      },
    };
  }
  return { kind: registration_endpoint ? "register" : "ask_user" };
}
