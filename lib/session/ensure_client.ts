/**
 * A client for a flow: known, described by a document, or registered.
 *
 * @module
 */

import { requireNonEmptyString } from "../core/_arguments.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { stringsIn } from "../core/_members.ts";
import { quoteUrl } from "../core/_url.ts";
import { GRANT_TYPE_DEVICE_CODE } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import type { IAuthorizationDynamicClientRegistrationRequest } from "../core/types.ts";
import { transportOf } from "../http/_transport.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import { registerClient } from "../client/registration.ts";
import { type IKnownClient, selectClient } from "../client/selection.ts";

/** Options of {@linkcode ensureClient}. */
export interface IEnsureClientOptions extends Omit<IRequestOptions, "headers"> {
  /** Clients stored earlier, of any issuers. */
  knownClients?: readonly IKnownClient[] | undefined;
  /** URL of your client metadata document. */
  clientMetadataUrl?: string | URL | undefined;
  /**
   * Client metadata for a registration, with a `client_name` at least. What is left
   * out of `redirect_uris`, `grant_types`, `response_types` and
   * `token_endpoint_auth_method` is completed for the flow.
   */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
  /** Redirect URI of the code flow; absent for the device flow. */
  redirectUri?: string | URL | undefined;
  /** Accepts an http endpoint that is not on loopback, and any on loopback. */
  allowHttp?: boolean | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** What {@linkcode ensureClient} uses of server metadata. */
export type ClientServerMetadata = Pick<
  IAuthorizationServerMetadata,
  | "issuer"
  | "registration_endpoint"
  | "client_id_metadata_document_supported"
  | "grant_types_supported"
  | "token_endpoint_auth_methods_supported"
>;

/** Completes client metadata for the code flow, or else for the device flow. */
function completeMetadata(
  serverMetadata: ClientServerMetadata,
  clientMetadata: IAuthorizationDynamicClientRegistrationRequest,
  redirectUri: string | undefined,
): IAuthorizationDynamicClientRegistrationRequest {
  const { redirect_uris = [] } = clientMetadata;
  const isDeviceFlow = redirectUri === undefined;
  const grants = stringsIn(serverMetadata.grant_types_supported);
  const methods = stringsIn(
    serverMetadata.token_endpoint_auth_methods_supported,
  );
  const mayRefresh = grants?.includes("refresh_token") ?? true;
  return {
    grant_types: [
      isDeviceFlow ? GRANT_TYPE_DEVICE_CODE : "authorization_code",
      ...(mayRefresh ? ["refresh_token"] : []),
    ],
    response_types: isDeviceFlow ? [] : ["code"],
    // A program on a user's device keeps no secret, where it has the choice.
    ...(methods?.includes("none") && { token_endpoint_auth_method: "none" }),
    ...clientMetadata,
    redirect_uris: isDeviceFlow
      ? redirect_uris
      : [...new Set([...redirect_uris, redirectUri])],
  };
}

/** Returns the options by which a server can be given a client, the simplest first. */
function waysToAClient(
  { registration_endpoint, ...metadata }: ClientServerMetadata,
): string[] {
  return [
    ...(registration_endpoint ? ["clientMetadata to register one"] : []),
    ...(metadata.client_id_metadata_document_supported === true
      ? ["clientMetadataUrl, as the server accepts client metadata documents"]
      : []),
    registration_endpoint
      ? "client to one that you have"
      : "client to one that you have, as the server offers no registration",
  ];
}

/** Returns why no known client was used, if there are any. */
function unfitReason(
  issuer: string,
  knownClients: readonly IKnownClient[] = [],
): string {
  const issuers = new Set(knownClients.map((client) => client.issuer));
  if (issuers.size === 0) return "";
  const hasSame = [...issuers].some((one) => isSameIssuer(one ?? "", issuer));
  return hasSame
    ? "the one in knownClients has another redirect URI, or an expired secret; "
    : `knownClients has clients of ${
      [...issuers].map(quoteUrl).join(", ")
    } only; `;
}

/**
 * Returns a client for a server: a known one, your client metadata document, or one
 * that it registers. Known clients that were registered without the redirect URI are
 * skipped, because the server would refuse it.
 *
 * @param serverMetadata Metadata of the server.
 * @param options The clients to select from, and the metadata for a registration.
 * @returns Store it for the next time, unless you store a session.
 * @throws {OAuthClientError} `unsupported`: there is no client for this server, and
 * none can be registered. Further codes as for {@linkcode registerClient}.
 * @see RFC 7591; {@linkcode selectClient}.
 *
 * @example Register a client unless there is one
 * ```ts
 * import { ensureClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const client = await ensureClient({
 *   issuer: "https://as.example",
 *   registration_endpoint: "https://as.example/register",
 *   token_endpoint_auth_methods_supported: ["none"],
 * }, {
 *   clientMetadata: { client_name: "My client" },
 *   redirectUri: "http://127.0.0.1:8123/callback",
 *   // Replaces the server.
 *   fetch: (_url, { body }) =>
 *     Promise.resolve(Response.json({ client_id: "c1", ...JSON.parse(body!) })),
 * });
 * assertEquals(client.client_id, "c1");
 * assertEquals(client.redirect_uris, ["http://127.0.0.1:8123/callback"]);
 * ```
 */
export async function ensureClient(
  serverMetadata: ClientServerMetadata,
  options?: IEnsureClientOptions,
): Promise<IKnownClient> {
  const { knownClients, clientMetadataUrl, clientMetadata, ...given } =
    options ?? {};
  const { redirectUri, allowHttp, now } = given;
  const uri = redirectUri === undefined ? undefined : String(redirectUri);
  const selection = selectClient(serverMetadata, {
    knownClients: knownClients?.filter(({ redirect_uris }) =>
      uri === undefined || (stringsIn(redirect_uris)?.includes(uri) ?? true)
    ),
    clientMetadataUrl,
    now,
  });
  if ("client" in selection) return selection.client;
  if (selection.kind !== "register" || !clientMetadata) {
    const ways = waysToAClient(serverMetadata).join(", or ");
    throw new OAuthClientError(
      "unsupported",
      `No client for authorization server ${quoteUrl(serverMetadata.issuer)}: ${
        unfitReason(serverMetadata.issuer, knownClients)
      }set ${ways}`,
    );
  }
  requireNonEmptyString(
    "clientMetadata.client_name",
    clientMetadata.client_name,
  );
  const metadata = completeMetadata(serverMetadata, clientMetadata, uri);
  return await registerClient(serverMetadata, metadata, {
    ...transportOf(options),
    allowHttp,
  });
}
