import { requireHttpUrl } from "../core/_arguments.ts";
import { isLoopback, requireSafeUrl } from "../core/_url.ts";
import type { DiscoveryAttempt } from "../core/errors.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import { type Context, contextOf } from "../http/_context.ts";
import { words } from "../http/_error.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { serverError } from "./_search.ts";
import { searchServer } from "./_strict_search.ts";

/** Options of {@linkcode discoverAuthorizationServer}. */
export interface DiscoverAuthorizationServerOptions
  extends Omit<RequestOptions, "headers"> {
  /**
   * Header fields for requests for server metadata. In
   * {@linkcode discoverAuthorization}, every server that the resource lists receives
   * them, unless you set `authorizationServer` or restrict servers by `allowUrl`.
   */
  serverMetadataHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * The issuer in a server's metadata, by the identifier that the resource or you gave.
   * Set it only if both are the same server.
   */
  trustedIssuers?: Readonly<Record<string, string>> | undefined;
  /** Accepts all http URLs, and all URLs on loopback. */
  allowHttp?: boolean | undefined;
}

/**
 * An authorization server whose metadata contains the expected issuer.
 *
 * @category Messages of the protocol
 */
export interface AuthorizationServer {
  /** Issuer in the metadata. Store it with credentials and tokens. */
  issuer: string;
  /** Metadata of the authorization server. Its endpoints may be used. */
  serverMetadata: IAuthorizationServerMetadata;
  /** URL of the metadata. */
  serverMetadataUrl: string;
  /** Every URL that was requested, in order. */
  attempts: DiscoveryAttempt[];
}

/**
 * Discovers an authorization server's metadata from its issuer. The rules are those in
 * {@linkcode discoverAuthorization}, which starts with a resource's URL.
 *
 * @param issuer Issuer identifier.
 * @param options Header fields, and the options of every request.
 * @throws {OAuthClientError} `discovery_failed`: no URL returned metadata of this
 * issuer. `timeout`. `url_refused`: the issuer is neither https nor http on loopback.
 * `invalid_argument`: not a URL, or an invalid option.
 * @see RFC 8414, section 3.3; OpenID Connect Discovery 1.0, section 4.3.
 *
 * @example Discover the token endpoint of an identity provider
 * ```ts
 * import { discoverAuthorizationServer } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { serverMetadata } = await discoverAuthorizationServer(
 *   "https://idp.example",
 *   {
 *     // Replaces the server.
 *     fetch: () =>
 *       Promise.resolve(Response.json({
 *         issuer: "https://idp.example",
 *         token_endpoint: "https://idp.example/token",
 *       })),
 *   },
 * );
 * assertEquals(serverMetadata.token_endpoint, "https://idp.example/token");
 * ```
 *
 * @category Messages of the protocol
 */
export async function discoverAuthorizationServer(
  issuer: string | URL,
  options?: DiscoverAuthorizationServerOptions,
): Promise<AuthorizationServer> {
  return await discoverServerWith(contextOf(options), issuer, options ?? {});
}

type ServerDiscovery = Omit<
  DiscoverAuthorizationServerOptions,
  keyof Context
>;

export async function discoverServerWith(
  context: Context,
  issuer: string | URL,
  { trustedIssuers, serverMetadataHeaders }: ServerDiscovery,
): Promise<AuthorizationServer> {
  const { allowHttp } = context;
  const named = requireHttpUrl("issuer", issuer);
  const rules = { allowHttp, allowLoopback: isLoopback(named) };
  requireSafeUrl("issuer", named, rules);
  const { metadata, url, attempts } = await searchServer(context, {
    issuer: String(issuer),
    rules,
    trustedIssuers,
    serverMetadataHeaders,
  });
  if (!metadata || url === undefined) {
    throw serverError(
      context,
      words`No metadata of the authorization server ${{ url: String(issuer) }}`,
      attempts,
      attempts,
    );
  }
  return {
    issuer: metadata.issuer,
    serverMetadata: metadata,
    serverMetadataUrl: url,
    attempts,
  };
}
