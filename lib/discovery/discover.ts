/**
 * From a `401` to everything that is needed next, in one call.
 *
 * @module
 */

import {
  requireArgument,
  requireHttpUrl,
  requireTexts,
  textsIn,
} from "../core/_arguments.ts";
import { requireSafeUrl } from "../core/_endpoint.ts";
import { requireOptions } from "../http/_request.ts";
import { canonicalResource } from "./_identifiers.ts";
import { MetadataSearch } from "./_search.ts";
import { findChallenge, type IChallengeHeaders } from "../core/challenge.ts";
import { type IDiscoveryAttempt, OAuthClientError } from "../core/errors.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import { selectScopes } from "../core/scopes.ts";
import type {
  IAuthenticationChallenge,
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "../core/types.ts";
import { getDefaultMetadataForUrl } from "./metadata_urls.ts";

/** Options of {@linkcode discoverAuthorizationServer}. */
export interface IDiscoverAuthorizationServerOptions
  extends Omit<IRequestOptions, "headers"> {
  /** Header fields for requests to the authorization server. */
  additionalHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Issuers that may stand in the metadata of a server that was named
   * differently, for servers known to contradict themselves.
   */
  trustedIssuers?: readonly string[] | undefined;
  /**
   * The `serverMetadataUrl` of an earlier discovery. It is asked first, and
   * usually alone, if it is one of the addresses in question.
   */
  preferredServerMetadataUrl?: string | undefined;
  /** Takes http addresses that are not on loopback. */
  allowHttp?: boolean | undefined;
}

/** An authorization server that says of itself what it was called. */
export interface IAuthorizationServer {
  /** Issuer as the server's own metadata has it: bind what is stored to it. */
  issuer: string;
  /** Metadata of the authorization server, its endpoints fit for use. */
  serverMetadata: IAuthorizationServerMetadata;
  /** Where that was found. */
  serverMetadataUrl: string;
  /** Every address that was tried, in order. */
  attempts: IDiscoveryAttempt[];
}

/** Options of {@linkcode discoverAuthorization}. */
export interface IDiscoverAuthorizationOptions
  extends IDiscoverAuthorizationServerOptions {
  /** The resource's `401`, its headers, or the value of `WWW-Authenticate`. */
  challenge?:
    | { headers: IChallengeHeaders }
    | IChallengeHeaders
    | string
    | undefined;
  /** Header fields for requests to the resource's own origin only. */
  sameOriginHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Which `resource` the metadata may name: the target or a parent of it on its
   * origin (`parent`, when absent), or the target alone.
   */
  resourceMatch?: "parent" | "exact" | undefined;
  /** Chooses among the servers that the resource names; the first when absent. */
  selectAuthorizationServer?:
    | ((authorizationServers: readonly string[]) => string)
    | undefined;
  /** Asks for `offline_access` where the server lists it. */
  offlineAccess?: boolean | undefined;
}

/** Everything that is needed to ask for a token. */
export interface IAuthorizationContext {
  /**
   * Resource indicator to send in the authorization and the token request: what
   * the resource's metadata says, byte for byte; else the target's address.
   */
  resource: string;
  /** Issuer as the server's own metadata has it: bind what is stored to it. */
  issuer: string;
  /** Metadata of the authorization server, its endpoints fit for use. */
  serverMetadata: IAuthorizationServerMetadata;
  /** Where that was found; undefined when the server publishes none. */
  serverMetadataUrl?: string;
  /** Who named the server: the resource's metadata, or nobody. */
  source: "resource_metadata" | "fallback";
  /** Metadata of the resource. */
  resourceMetadata?: IAuthorizationProtectedResourceMetadata;
  /** The challenge that was read. */
  challenge?: IAuthenticationChallenge;
  /** Scopes to ask for; undefined to let the server choose. */
  scopes?: string[];
  /** Every address that was tried, in order. */
  attempts: IDiscoveryAttempt[];
}

/**
 * Whether an address told that nothing is published there. A server that is down,
 * or says something of use that is wrong, has not told that.
 */
function isUnpublished({ error }: IDiscoveryAttempt): boolean {
  if (error === undefined) return true;
  if (!(error instanceof OAuthClientError)) return false;
  const { code, status = 0, cause } = error;
  return (code === "unexpected_status" && status < 500 && status !== 429) ||
    (code === "invalid_metadata" && cause === undefined);
}

/** The servers that a resource names; undefined when it does so in no way known. */
function serversNamed(
  metadata: IAuthorizationProtectedResourceMetadata | undefined,
): string[] | undefined {
  const servers: unknown = metadata?.authorization_servers ?? [];
  // Some resources leave out the brackets around their only server.
  const list = typeof servers === "string" ? [servers] : servers;
  const texts = textsIn(list);
  return Array.isArray(list) && texts?.length === list.length
    ? texts
    : undefined;
}

/** What the 2025-03-26 revision assumes of a server without metadata. */
function assumedMetadata(target: URL): IAuthorizationServerMetadata {
  return {
    ...getDefaultMetadataForUrl(target),
    issuer: target.origin,
    // That revision requires PKCE of every client and server.
    code_challenge_methods_supported: ["S256"],
  };
}

/**
 * Finds what a client needs to ask for a token: which authorization server the
 * resource names, that server's metadata, the resource indicator and the scopes.
 *
 * In this order: metadata of the resource at the address that the challenge named
 * and at the well-known ones; metadata of the first authorization server that
 * they name, or that you select. A resource without metadata is taken to be its
 * own authorization server, as the 2025-03-26 revision of the Model Context
 * Protocol has it, with {@linkcode getDefaultMetadataForUrl} where that publishes
 * nothing either. `source` tells which it was.
 *
 * Strict where {@linkcode fetchResourceMetadata} and
 * {@linkcode fetchAuthorizationServerMetadata} are literal: the metadata's
 * `resource` must be the target or a parent on its origin, and one that is not
 * ends the discovery; the `issuer` must be the one named, an empty path with or
 * without its slash; the endpoints that a request or the user is sent to must be
 * https, or http on loopback; members that are `null`, and addresses of neither
 * http nor https, count as absent. Endpoints are assumed only where every address
 * has told that nothing is there, by 4xx or by something that is no metadata.
 *
 * @param targetResource The address of the resource.
 * @param options The challenge, and what every request takes.
 * @throws {OAuthClientError} `discovery_failed`: no address led to usable
 * metadata; the message names each with its status or code, `attempts` holds the
 * errors. `url_refused`: the resource, or the authorization server that it names,
 * is not https, nor http on loopback. `invalid_argument`: not a URL, or an option
 * of the wrong type.
 * @see RFC 9728, section 5; RFC 8414, section 3.3; Model Context Protocol
 * 2025-11-25, "Authorization".
 *
 * @example From a `401` to the address for the user
 * ```ts
 * import { discoverAuthorization } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const documents: Record<string, unknown> = {
 *   "https://api.example/meta": {
 *     resource: "https://api.example/mcp",
 *     authorization_servers: ["https://as.example"],
 *   },
 *   "https://as.example/.well-known/oauth-authorization-server": {
 *     issuer: "https://as.example",
 *     token_endpoint: "https://as.example/token",
 *   },
 * };
 * const context = await discoverAuthorization("https://api.example/mcp", {
 *   challenge: 'Bearer resource_metadata="https://api.example/meta", scope="read"',
 *   // Stands in for both servers.
 *   fetch: (url) => Promise.resolve(Response.json(documents[url])),
 * });
 * assertEquals(context.issuer, "https://as.example");
 * assertEquals(context.scopes, ["read"]);
 * assertEquals(context.attempts.length, 2);
 * ```
 */
export async function discoverAuthorization(
  targetResource: string,
  options?: IDiscoverAuthorizationOptions,
): Promise<IAuthorizationContext> {
  const {
    challenge: source,
    sameOriginHeaders,
    additionalHeaders,
    resourceMatch,
    trustedIssuers,
    preferredServerMetadataUrl: preferredUrl,
    selectAuthorizationServer = (servers: readonly string[]) =>
      servers[0] ?? "",
    offlineAccess,
    ...searchOptions
  } = requireOptions(options);
  const { allowHttp } = searchOptions;
  requireHttpUrl("targetResource", targetResource);
  requireTexts("trustedIssuers", trustedIssuers ?? []);
  requireArgument(
    typeof selectAuthorizationServer === "function",
    "options.selectAuthorizationServer",
    "a function",
  );
  const target = requireSafeUrl("targetResource", targetResource, allowHttp);
  const challenge = source === undefined ? undefined : findChallenge(source);

  const search = new MetadataSearch(searchOptions);
  const found = await search.findResource(target, {
    resourceMetadataUrl: challenge?.params.resource_metadata,
    resourceMatch,
    headers: sameOriginHeaders,
  });
  const resourceMetadata = found?.metadata;
  const servers = serversNamed(resourceMetadata);
  if (!servers) {
    throw search.failed(
      `Metadata of ${target.href} does not list its authorization servers ` +
        "as texts",
    );
  }
  const isNamed = servers.length > 0;
  const named = isNamed ? selectAuthorizationServer(servers) : target.origin;
  requireArgument(
    !isNamed || servers.includes(named),
    "The choice of selectAuthorizationServer",
    "one of the servers named",
  );
  requireSafeUrl("The authorization server", named, allowHttp);

  const server = await search.findServer(named, {
    trustedIssuers,
    preferredUrl,
    headers: additionalHeaders,
  });
  // Endpoints are assumed only where every address has told that nothing is there:
  // metadata of a resource that is down may name another server.
  if (!server && (isNamed || !search.attempts.every(isUnpublished))) {
    throw search.failed(
      `No metadata of the authorization server ${named} for ${target.href}`,
    );
  }
  const serverMetadata = server?.metadata ?? assumedMetadata(target);
  const scopes = selectScopes({
    challenge,
    resourceMetadata,
    serverMetadata,
    offlineAccess,
  });
  return {
    resource: resourceMetadata?.resource ?? canonicalResource(target),
    issuer: serverMetadata.issuer,
    serverMetadata,
    ...(server && { serverMetadataUrl: server.discoveryUrl }),
    source: isNamed ? "resource_metadata" : "fallback",
    ...(resourceMetadata && { resourceMetadata }),
    ...(challenge && { challenge }),
    ...(scopes && { scopes }),
    attempts: search.attempts,
  };
}

/**
 * Finds the metadata of an authorization server whose issuer is known, such as a
 * user's identity provider, under the same strict rules as
 * {@linkcode discoverAuthorization}.
 *
 * @param issuer The issuer identifier.
 * @param options Header fields, and what every request takes.
 * @throws {OAuthClientError} `discovery_failed`: no address led to metadata of this
 * issuer. `url_refused`: the issuer is not https, nor http on loopback.
 * `invalid_argument`: not a URL, or an option of the wrong type.
 * @see RFC 8414, section 3.3; OpenID Connect Discovery 1.0, section 4.3.
 *
 * @example Find the identity provider's token endpoint
 * ```ts
 * import { discoverAuthorizationServer } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { serverMetadata } = await discoverAuthorizationServer(
 *   "https://idp.example",
 *   {
 *     // Stands in for the server.
 *     fetch: () =>
 *       Promise.resolve(Response.json({
 *         issuer: "https://idp.example",
 *         token_endpoint: "https://idp.example/token",
 *       })),
 *   },
 * );
 * assertEquals(serverMetadata.token_endpoint, "https://idp.example/token");
 * ```
 */
export async function discoverAuthorizationServer(
  issuer: string,
  options?: IDiscoverAuthorizationServerOptions,
): Promise<IAuthorizationServer> {
  const {
    additionalHeaders,
    trustedIssuers,
    preferredServerMetadataUrl: preferredUrl,
    ...searchOptions
  } = requireOptions(options);
  requireHttpUrl("issuer", issuer);
  requireTexts("trustedIssuers", trustedIssuers ?? []);
  requireSafeUrl("issuer", issuer, searchOptions.allowHttp);
  const search = new MetadataSearch(searchOptions);
  const found = await search.findServer(issuer, {
    trustedIssuers,
    preferredUrl,
    headers: additionalHeaders,
  });
  if (!found) {
    throw search.failed(`No metadata of the authorization server ${issuer}`);
  }
  return {
    issuer: found.metadata.issuer,
    serverMetadata: found.metadata,
    serverMetadataUrl: found.discoveryUrl,
    attempts: search.attempts,
  };
}
