import { requireHttpUrl } from "../core/_arguments.ts";
import { isAuthorizationServerMetadata } from "../core/guards.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import type { DiscoveryResult } from "../core/types.ts";
import { contextOf } from "../http/_context.ts";
import { mergeHeaders } from "../http/_request.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { search, toDiscoveryResult, type Verdict } from "./_search.ts";
import { serverMetadataUrls } from "./metadata_urls.ts";

/** Options of {@linkcode fetchAuthorizationServerMetadata}. */
export interface IFetchAuthorizationServerMetadataOptions
  extends Omit<RequestOptions, "headers"> {
  /** Header fields for every request; `Accept` stays `application/json`. */
  additionalHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * The `discoveryUrl` of an earlier discovery of this server. It is requested first if
   * it is one of the possible URLs.
   */
  preferredServerMetadataUrl?: string | undefined;
}

function check(document: unknown): Verdict<IAuthorizationServerMetadata> {
  try {
    return isAuthorizationServerMetadata(document)
      ? { metadata: document }
      : {};
  } catch (cause) {
    return { cause };
  }
}

/**
 * Fetches server metadata without checking its `issuer`. Prefer
 * {@linkcode discoverAuthorizationServer}, which rejects another issuer's metadata.
 *
 * Requests up to three URLs: two insert the issuer's path into the well-known URLs of
 * RFC 8414 and OpenID Connect, the last appends the path of OpenID Connect. The status
 * must be 200 and {@linkcode isAuthorizationServerMetadata} must hold. Redirects are
 * followed within their origin.
 *
 * @param authorizationServer Issuer identifier, an http or https URL.
 * @param options Header fields for every request, and the options of every request.
 * @returns The metadata, its URL, and the errors of earlier attempts.
 * @throws {OAuthClientError} `invalid_argument`: `authorizationServer` is not an http
 * or https URL, or an option is invalid. `timeout`.
 * @throws {AggregateError} The three errors: `unexpected_status`, `invalid_metadata`
 * with the reason as its `cause`, `redirect_refused`, or an error of `fetch`.
 * @see RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4.
 *
 * @example Fetch the token endpoint
 * ```ts
 * import { fetchAuthorizationServerMetadata } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { metadata, discoveryUrl, errors } =
 *   await fetchAuthorizationServerMetadata("https://as.example/tenant", {
 *     // Replaces a server that publishes OpenID Connect metadata only.
 *     fetch: (url) =>
 *       Promise.resolve(
 *         url.endsWith("/tenant/.well-known/openid-configuration")
 *           ? Response.json({
 *             issuer: "https://as.example/tenant",
 *             token_endpoint: "https://as.example/tenant/token",
 *           })
 *           : new Response("Not found", { status: 404 }),
 *       ),
 *   });
 * assertEquals(metadata.token_endpoint, "https://as.example/tenant/token");
 * assertEquals(
 *   discoveryUrl,
 *   "https://as.example/tenant/.well-known/openid-configuration",
 * );
 * assertEquals(errors.length, 2);
 * ```
 *
 * @category Literal layer
 */
export async function fetchAuthorizationServerMetadata(
  authorizationServer: string | URL,
  options?: IFetchAuthorizationServerMetadataOptions,
): Promise<DiscoveryResult<IAuthorizationServerMetadata>> {
  const issuer = requireHttpUrl("authorizationServer", authorizationServer);
  const context = contextOf(options);
  const { additionalHeaders, preferredServerMetadataUrl: preferred } =
    options ?? {};
  const accept = { Accept: "application/json" };
  // First for the spelling of the name, last for the value.
  const headers = mergeHeaders(accept, additionalHeaders, accept);
  const { origin, pathname } = issuer;
  const urls = serverMetadataUrls(
    origin,
    pathname === "/" ? "" : pathname,
    String(authorizationServer),
  );
  const purpose = "authorization_server_metadata";
  const found = await search(
    context,
    purpose,
    [...urls].sort((a, b) => Number(b === preferred) - Number(a === preferred)),
    () => ({ headers, check }),
  );
  return toDiscoveryResult(purpose, found);
}
