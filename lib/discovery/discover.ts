/**
 * Strict discovery: from a `401` to an authorization server.
 *
 * @module
 */

import { requireArgument, requireHttpUrl } from "../core/_arguments.ts";
import { OTHER_SERVERS, UNPUBLISHED } from "../core/_hints.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { areRequestable, scopesFrom } from "../core/_scope_values.ts";
import { isLoopback, requireSafeUrl, urlString } from "../core/_url.ts";
import { type ChallengeHeaders, findChallenges } from "../core/challenge.ts";
import type { DiscoveryAttempt } from "../core/errors.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
  ServerMetadata,
} from "../core/metadata.ts";
import { selectScopes } from "../core/scopes.ts";
import type { IAuthenticationChallenge } from "../core/types.ts";
import { type Context, contextOf, report } from "../http/_context.ts";
import { type Quoted, requireUrl, words } from "../http/_error.ts";
import { identifierOf, responseIssuerOf } from "./_identifiers.ts";
import { serverError } from "./_search.ts";
import {
  challengeToFollow,
  type FoundResource,
  searchResource,
  searchServer,
} from "./_strict_search.ts";
import type { DiscoverAuthorizationServerOptions } from "./discover_server.ts";
import {
  assumedMetadata,
  completeMetadata,
  isUnpublished,
} from "./_unpublished_metadata.ts";

/** Options of {@linkcode discoverAuthorization}. */
export interface DiscoverAuthorizationOptions
  extends DiscoverAuthorizationServerOptions {
  /** The `401` of the resource, its headers, or its `WWW-Authenticate` value. */
  challenge?:
    | { headers: ChallengeHeaders }
    | ChallengeHeaders
    | string
    | undefined;
  /** Header fields for requests to the origin of the resource only. */
  resourceMetadataHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Which `resource` the metadata may contain: the target, or with `parent` also a
   * parent path that publishes the metadata at its own well-known URL. Set `exact`
   * where several tenants share a host: with `parent`, a tenant whose challenge points
   * to the document of the host receives a token that is valid for the whole host.
   *
   * @default {"parent"}
   */
  resourceMatch?: "parent" | "exact" | undefined;
  /**
   * Issuer identifier of the authorization server. Set it for a resource that publishes
   * no metadata, or metadata with another `resource`, such as behind a gateway; or to
   * use a server that is not the first in the metadata. The metadata of the resource is
   * then not requested.
   */
  authorizationServer?: string | URL | undefined;
  /**
   * Metadata of an authorization server that publishes none, from its documentation. No
   * metadata is requested. `S256` is assumed without `code_challenge_methods_supported`; a
   * list without `S256` is `unsupported`. Cannot be combined with `authorizationServer`.
   */
  serverMetadata?: ServerMetadata | undefined;
  /** Adds the scope `offline_access` if the server lists it. */
  offlineAccess?: boolean | undefined;
}

/** What a client needs to request a token. */
export interface AuthorizationContext {
  /**
   * Resource indicator for the authorization and token requests (RFC 8707): the
   * `resource` of the metadata byte for byte, or else the URL of the target.
   */
  resource: string;
  /** Issuer in the server's metadata: bind what you store to it. */
  issuer: string;
  /**
   * Another issuer that authorization responses may contain, from `trustedIssuers`, for
   * a server behind a proxy.
   */
  responseIssuer?: string;
  /** Metadata of the authorization server. Its endpoints may be used. */
  serverMetadata: IAuthorizationServerMetadata;
  /** URL of `serverMetadata`; undefined if the endpoints are assumed. */
  serverMetadataUrl?: string;
  /**
   * Where the authorization server comes from: the metadata of the resource, an option
   * (`authorizationServer`, `serverMetadata`, or the `issuer` of a `client`), or neither
   * (`fallback`: the origin of the resource).
   */
  source: "resource_metadata" | "option" | "fallback";
  /** Metadata of the resource. */
  resourceMetadata?: IAuthorizationProtectedResourceMetadata;
  /** The challenge that was used. */
  challenge?: IAuthenticationChallenge;
  /** Scopes to request, at most 100 of 4,096 characters; undefined: the server's choice. */
  scopes?: string[];
  /** Every URL that was requested, in order. */
  attempts: DiscoveryAttempt[];
}

/**
 * Discovers what a client needs to request a token for a resource: the authorization
 * server, its metadata, the resource indicator and the scopes. If you know the issuer,
 * use {@linkcode discoverAuthorizationServer}.
 *
 * First, the metadata of the resource is requested, at the URL in the challenge and at
 * the well-known URLs; then the metadata of the first authorization server that it
 * lists. A resource without metadata is assumed to be its own authorization server, as
 * in revision 2025-03-26 of the Model Context Protocol. If it publishes no server
 * metadata either, the endpoints of {@linkcode getDefaultMetadataForUrl} are assumed.
 * `source` distinguishes these cases.
 *
 * The rules are stricter than in {@linkcode fetchResourceMetadata} and
 * {@linkcode fetchAuthorizationServerMetadata}:
 *
 * - The `resource` of the metadata must be the target, or a parent path that
 *   publishes the document at its own well-known URL. Metadata of another resource
 *   ends the discovery; with `authorizationServer`, it is not requested.
 * - The `issuer` must be the identifier that the resource or you gave, except for one
 *   slash at its end (`trustedIssuers` allows another issuer for a server).
 * - All URLs must be https, or http on loopback. Loopback is accepted only if the
 *   target is on loopback as well (`allowHttp` removes both restrictions).
 * - Members that are `null`, and URLs that are not http or https, count as absent.
 * - Endpoints are assumed only if the challenge has no `resource_metadata`, and nothing
 *   is published at any of the URLs: the response is a 4xx, or a document that is not
 *   metadata.
 *
 * @param targetResource URL of the resource.
 * @param options The challenge, the rules, and the options of every request.
 * @throws {OAuthClientError} `discovery_failed`: no URL led to usable metadata; the
 * message contains the outcome for each URL, and `attempts` the errors. `timeout`.
 * `url_refused`: the URL of the resource, or of the server that it lists, must not be
 * used. `invalid_argument`: not a URL, or an option is not valid.
 * @see RFC 9728, section 5; RFC 8414, section 3.3; Model Context Protocol
 * 2025-11-25, "Authorization".
 *
 * @example From a 401 to the issuer and the scopes
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
 *   // Replaces both servers.
 *   fetch: (url) => Promise.resolve(Response.json(documents[url])),
 * });
 * assertEquals(context.issuer, "https://as.example");
 * assertEquals(context.scopes, ["read"]);
 * ```
 *
 * @category Messages of the protocol
 */
export async function discoverAuthorization(
  targetResource: string | URL,
  options?: DiscoverAuthorizationOptions,
): Promise<AuthorizationContext> {
  const context = contextOf(options);
  const target = requireHttpUrl("targetResource", urlString(targetResource));
  return await discover(context, target, options ?? {});
}

/** The options that a discovery uses, except for the options of the transport. */
export type Discovery = Omit<DiscoverAuthorizationOptions, keyof Context> & {
  /** Whether endpoints are assumed only after a Bearer or DPoP challenge. */
  readonly requiresChallenge?: boolean;
  /** The issuer of the caller's client: the server if the resource names none. */
  readonly clientIssuer?: string | undefined;
};

/** What a discovery has found, before the scopes are selected. */
type Found = Omit<AuthorizationContext, "resource" | "issuer" | "scopes">;

/** Returns the result of a discovery. */
function foundWith(
  found: Found,
  target: URL,
  offlineAccess: boolean | undefined,
): AuthorizationContext {
  const { challenge, resourceMetadata, serverMetadata } = found;
  const requested = scopesFrom(challenge?.params.scope);
  const scopes = selectScopes({
    challenge: areRequestable(requested) ? challenge : undefined,
    resourceMetadata,
    serverMetadata,
    offlineAccess,
  });
  return {
    resource: resourceMetadata?.resource ?? identifierOf(target),
    issuer: serverMetadata.issuer,
    ...found,
    ...(scopes && { scopes }),
  };
}

/** Checks whether no attempt has failed in a way that may hide metadata. */
function areClear(attempts: readonly DiscoveryAttempt[]): boolean {
  return attempts.every((one) => !one.error || isUnpublished(one));
}

/** Returns what may help where a server has no metadata. */
function noMetadataHint(
  attempts: readonly DiscoveryAttempt[],
  servers: readonly string[],
): Quoted {
  if (areClear(attempts)) return [UNPUBLISHED];
  return servers.length > 1 ? [OTHER_SERVERS] : [];
}

/** Discovers the authorization server. See {@linkcode discoverAuthorization}. */
export async function discover(
  context: Context,
  target: URL,
  {
    challenge: received,
    authorizationServer,
    serverMetadata: known,
    requiresChallenge,
    clientIssuer,
    resourceMatch,
    resourceMetadataHeaders,
    serverMetadataHeaders,
    trustedIssuers,
    offlineAccess,
  }: Discovery,
): Promise<AuthorizationContext> {
  requireArgument(
    known === undefined || authorizationServer === undefined,
    "authorizationServer",
    "absent if serverMetadata is set",
  );
  const rules = {
    allowHttp: context.allowHttp,
    allowLoopback: isLoopback(target) || (authorizationServer !== undefined &&
      isLoopback(requireHttpUrl("authorizationServer", authorizationServer))),
  };
  requireSafeUrl("targetResource", target, rules);
  const challenges = received === undefined ? [] : findChallenges(received);
  const challenge = challengeToFollow(challenges);
  const ofChallenge = challenge && { challenge };
  if (known) {
    const serverMetadata = completeMetadata(known);
    const found = { ...ofChallenge, serverMetadata, attempts: [] };
    return foundWith({ ...found, source: "option" }, target, offlineAccess);
  }
  const resourceMetadataUrl = challenge?.params.resource_metadata;
  const { metadata: resourceMetadata, attempts, servers }: FoundResource =
    authorizationServer === undefined
      ? await searchResource(context, {
        target,
        rules,
        resourceMetadataUrl,
        resourceMatch,
        resourceMetadataHeaders,
      })
      : { attempts: [], servers: [] };
  // The credentials of the client go nowhere else. But after an outage, or where it is
  // not usable, the metadata of the resource may still name another server.
  const [listed] = servers;
  const isUnnamed = listed === undefined && areClear(attempts) &&
    !isSameIssuer(clientIssuer ?? "", target.origin);
  const ofCaller = authorizationServer ??
    (isUnnamed ? clientIssuer : undefined);
  const source: AuthorizationContext["source"] = ofCaller !== undefined
    ? "option"
    : listed === undefined
    ? "fallback"
    : "resource_metadata";
  const named = String(ofCaller ?? listed ?? target.origin);
  const serverRules = {
    ...rules,
    allowLoopback: rules.allowLoopback ||
      (source === "option" && isLoopback(requireHttpUrl("issuer", named))),
  };
  requireUrl(context, "the authorization server", named, serverRules);
  const server = await searchServer(context, {
    issuer: named,
    rules: serverRules,
    trustedIssuers,
    serverMetadataHeaders,
  });
  attempts.push(...server.attempts);
  const mayAssume = source === "fallback" && !resourceMetadataUrl &&
    (challenge !== undefined || !requiresChallenge) &&
    attempts.every(isUnpublished);
  if (!server.metadata && !mayAssume) {
    const message = words`No metadata of the authorization server ${{
      url: named,
    }} for ${{ url: target }}${noMetadataHint(attempts, servers)}`;
    throw serverError(context, message, attempts, server.attempts);
  }
  const serverMetadata = server.metadata ?? assumedMetadata(target);
  const { issuer } = serverMetadata;
  report(context, { type: "discovered", issuer, source });
  const responseIssuer = responseIssuerOf(issuer, named, trustedIssuers);
  const found = {
    ...(responseIssuer !== issuer && { responseIssuer }),
    serverMetadata,
    ...(server.url !== undefined && { serverMetadataUrl: server.url }),
    source,
    attempts,
    ...(resourceMetadata && { resourceMetadata }),
    ...ofChallenge,
  };
  return foundWith(found, target, offlineAccess);
}
