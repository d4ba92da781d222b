import { standardCode } from "../core/_hints.ts";
import { isTemporary } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { FormRequestOptions } from "./form_options.ts";
import { isAuthentication } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import { buildAuthorizationCodeBody } from "./grant_body.ts";
import { createState } from "./pkce.ts";
import { type TokenServer, tokenWith } from "./token.ts";

/** Options of {@linkcode isClientKnown}. */
export interface IsClientKnownOptions
  extends Omit<FormRequestOptions, "client"> {}

/** Codes of errors that the server did not cause. */
const LOCAL_CODES = [
  "invalid_argument",
  "issuer_mismatch",
  "unsupported",
  "url_refused",
];

/**
 * Checks whether a server still knows a registered client before the user is redirected
 * to it. An authorization endpoint reports an unknown client to the user only.
 *
 * Sends a token request with a random authorization code. Servers authenticate the
 * client first, so `invalid_client` means unknown, and `invalid_grant` known. Some
 * servers do not distinguish them: an unknown client then counts as known. Many servers
 * delete unused registrations.
 *
 * @param serverMetadata Metadata with a `token_endpoint`.
 * @param client The registration, or a client with its own authentication.
 * @param options The options of every request.
 * @returns Undefined if that is uncertain: the request failed, or the server returned
 * another error, such as `unauthorized_client`.
 * @throws {OAuthClientError} `issuer_mismatch`: the client is registered with another
 * issuer. `unsupported`: no `token_endpoint`, or an authentication method that needs
 * more than the registration. `url_refused`: the endpoint is neither https nor http on
 * loopback. `invalid_argument`: an argument is invalid.
 * @see RFC 6749, section 5.2; RFC 7591, section 5.
 *
 * @example Register again if the server has deleted the client
 * ```ts
 * import {
 *   type IAuthorizationServerMetadata,
 *   type KnownClient,
 *   isClientKnown,
 *   registerClient,
 * } from "@oauth-helper/client";
 *
 * export async function clientFor(
 *   serverMetadata: IAuthorizationServerMetadata,
 *   stored: KnownClient,
 * ): Promise<KnownClient> {
 *   if (await isClientKnown(serverMetadata, stored) !== false) return stored;
 *   return await registerClient(serverMetadata, {
 *     client_name: "My client",
 *     redirect_uris: stored.redirect_uris,
 *   });
 * }
 * ```
 *
 * @category Clients
 */
export async function isClientKnown(
  serverMetadata: ServerMetadata,
  client: Client,
  options?: IsClientKnownOptions,
): Promise<boolean | undefined> {
  return await isKnownWith(grantContextOf(options), serverMetadata, client);
}

export async function isKnownWith(
  context: GrantContext,
  serverMetadata: TokenServer,
  client: Client,
): Promise<boolean | undefined> {
  const [redirectUri = "http://127.0.0.1/"] = isAuthentication(client)
    ? []
    : client.redirect_uris ?? [];
  const body = buildAuthorizationCodeBody({
    code: createState(),
    codeVerifier: createState(),
    redirectUri,
  });
  try {
    await tokenWith({ ...context, client }, serverMetadata, body);
    return undefined;
  } catch (error) {
    context.signal?.throwIfAborted();
    if (!isOAuthClientError(error) || LOCAL_CODES.includes(error.code)) {
      throw error;
    }
    // An outage does not concern the client, whatever its error code.
    switch (isTemporary(error.status) ? undefined : standardCode(error.error)) {
      case "invalid_grant":
        return true;
      case "invalid_client":
        return false;
    }
    return undefined;
  }
}
