/**
 * Discovery of authorization server metadata (RFC 8414, OpenID Connect
 * Discovery 1.0).
 *
 * @module
 */

import { requireHttpUrl } from "../core/_arguments.ts";
import { discover } from "./_attempts.ts";
import { mergeHeaders, requireOptions } from "../http/_request.ts";
import {
  AUTH_SERVER_METADATA_DISCOVERY_PATH,
  OPENID_CONNECT_DISCOVERY_PATH,
} from "../core/constants.ts";
import { isAuthorizationServerMetadata } from "../core/guards.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import type {
  IAuthorizationServerMetadata,
  IDiscoveryResult,
} from "../core/types.ts";
import {
  appendOpenIdPath,
  insertWellKnownPath,
  preferFirst,
} from "./metadata_urls.ts";

/** Options of {@linkcode fetchAuthorizationServerMetadata}. */
export interface IFetchAuthorizationServerMetadataOptions
  extends Omit<IRequestOptions, "headers"> {
  /** Header fields for every request; `Accept` stays `application/json`. */
  additionalHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * The `discoveryUrl` of an earlier discovery of this server. It is asked first,
   * and usually alone, if it is one of the addresses in question.
   */
  preferredUrl?: string | undefined;
}

function accept(body: unknown): IAuthorizationServerMetadata | undefined {
  return isAuthorizationServerMetadata(body) ? body : undefined;
}

/**
 * Finds the metadata of an authorization server.
 *
 * Three addresses are tried, and the first good document wins: RFC 8414's
 * well-known path with the issuer's own path behind it; OpenID's with the same;
 * OpenID's behind the whole issuer. A document is good when the status is 200
 * and {@linkcode isAuthorizationServerMetadata} says so. That its `issuer` is the
 * one asked for is not checked. Redirects are followed within their origin.
 *
 * @param authorizationServer The issuer identifier, an http or https URL.
 * @param options Header fields for every request, and what every request takes.
 * @returns The metadata, the address it came from, and the failures before.
 * @throws {OAuthClientError} `invalid_argument`: `authorizationServer` is not an
 * http or https URL, or an option has the wrong type.
 * @throws {AggregateError} The three failures: `unexpected_status`,
 * `invalid_metadata` with the reason as its `cause`, or what `fetch` threw.
 * @see RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4.
 *
 * @example Find the token endpoint
 * ```ts
 * import { fetchAuthorizationServerMetadata } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { metadata, discoveryUrl, errors } =
 *   await fetchAuthorizationServerMetadata("https://as.example/tenant", {
 *     // Stands in for a server that knows OpenID's address only.
 *     fetch: (url) =>
 *       Promise.resolve(
 *         url.endsWith("/tenant/.well-known/openid-configuration")
 *           ? Response.json({
 *             issuer: "https://as.example/tenant",
 *             token_endpoint: "https://as.example/tenant/token",
 *           })
 *           : new Response("Not here", { status: 404 }),
 *       ),
 *   });
 * assertEquals(metadata.token_endpoint, "https://as.example/tenant/token");
 * assertEquals(
 *   discoveryUrl,
 *   "https://as.example/tenant/.well-known/openid-configuration",
 * );
 * assertEquals(errors.length, 2);
 * ```
 */
export async function fetchAuthorizationServerMetadata(
  authorizationServer: string,
  options?: IFetchAuthorizationServerMetadataOptions,
): Promise<IDiscoveryResult<IAuthorizationServerMetadata>> {
  const issuer = requireHttpUrl("authorizationServer", authorizationServer);
  const { additionalHeaders, preferredUrl, ...requestOptions } = requireOptions(
    options,
  );
  const accepted = { Accept: "application/json" };
  // First for the spelling of the name, last for the value.
  const headers = mergeHeaders(accepted, additionalHeaders, accepted);
  return await discover(
    "authorization_server_metadata",
    preferFirst([
      insertWellKnownPath(AUTH_SERVER_METADATA_DISCOVERY_PATH, issuer),
      insertWellKnownPath(OPENID_CONNECT_DISCOVERY_PATH, issuer),
      appendOpenIdPath(authorizationServer),
    ], preferredUrl).map((url) => ({ url, headers, accept })),
    requestOptions,
  );
}
