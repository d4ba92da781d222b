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
  /** Header fields for requests to the resource's origin only. */
  resourceMetadataHeaders?: Readonly<Record<string, string>> | undefined;
  /**
   * Which `resource` the metadata may contain: the target, or with `parent` also a
   * parent path that publishes the metadata at its own well-known URL. Set `exact` if
   * tenants share a host: otherwise a tenant can obtain a token for the whole host.
   *
   * @default {"parent"}
   */
  resourceMatch?: "parent" | "exact" | undefined;
  /**
   * Issuer identifier of the authorization server. Set it if the resource publishes no
   * metadata or a wrong `resource`, for example behind a gateway, or to use another
   * server than the first. The resource's metadata is then not requested.
   */
  authorizationServer?: string | URL | undefined;
  /**
   * Metadata from the documentation of a server that publishes none. No metadata is
   * requested. `S256` is assumed without `code_challenge_methods_supported`; a list
   * without `S256` is `unsupported`. Excludes `authorizationServer`.
   */
  serverMetadata?: ServerMetadata | undefined;
  /** Adds the scope `offline_access` if the server lists it. */
  offlineAccess?: boolean | undefined;
}

/** Everything a client needs to request a token. */
export interface AuthorizationContext {
  /**
   * Resource indicator for authorization and token requests (RFC 8707): the metadata's
   * `resource` byte for byte, otherwise the target's URL.
   */
  resource: string;
  /** Issuer in the server's metadata. Store it with credentials and tokens. */
  issuer: string;
  /** Another issuer that authorization responses may contain, from `trustedIssuers`. */
  responseIssuer?: string;
  /** Metadata of the authorization server. Its endpoints may be used. */
  serverMetadata: IAuthorizationServerMetadata;
  /** URL of `serverMetadata`; undefined if the endpoints are assumed. */
  serverMetadataUrl?: string;
  /**
   * Which source named the authorization server: the resource's metadata, an option
   * (`authorizationServer`, `serverMetadata`, or a `client`'s `issuer`), or neither
   * (`fallback`: the resource's origin).
   */
  source: "resource_metadata" | "option" | "fallback";
  /** Metadata of the resource. */
  resourceMetadata?: IAuthorizationProtectedResourceMetadata;
  /** The challenge that was used. */
  challenge?: IAuthenticationChallenge;
  /**
   * Scopes to request, at most 100 with 4,096 characters; undefined for the server's
   * default.
   */
  scopes?: string[];
  /** Every URL that was requested, in order. */
  attempts: DiscoveryAttempt[];
}

/**
 * Discovers the authorization server, its metadata, the resource indicator and the
 * scopes for a resource. If you know the issuer, use
 * {@linkcode discoverAuthorizationServer}.
 *
 * First requests the resource's metadata, at the challenge's URL and the well-known
 * URLs, then the metadata of the first server that it lists. Without metadata, the
 * resource's origin counts as the server, as in MCP revision 2025-03-26; if it
 * publishes no server metadata either, the endpoints of
 * {@linkcode getDefaultMetadataForUrl} are assumed. `source` distinguishes these cases.
 * The rules are strict:
 *
 * - `resource` must be the target, or a parent path that publishes the document at its
 *   own well-known URL. Metadata of another resource fails.
 * - `issuer` must be the identifier that the resource or you gave, except for one final
 *   slash (`trustedIssuers` allows another issuer).
 * - URLs must be https, or http on loopback. Only a target on loopback may refer to
 *   loopback (`allowHttp` removes both restrictions).
 * - Members that are `null`, and URLs that are not http or https, count as absent.
 * - Endpoints are assumed only if the challenge contains no `resource_metadata` and
 *   nothing is published: each response is a 4xx, or not metadata.
 *
 * @param targetResource URL of the resource.
 * @param options The challenge, the rules, and the options of every request.
 * @throws {OAuthClientError} `discovery_failed`: no URL returned usable metadata; the
 * message and `attempts` contain each outcome. `timeout`. `url_refused`: the URL of the
 * resource or its server is not allowed. `invalid_argument`: not a URL, or an invalid
 * option.
 * @see RFC 9728, section 5; RFC 8414, section 3.3; Model Context Protocol 2025-11-25,
 * "Authorization".
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

export type Discovery = Omit<DiscoverAuthorizationOptions, keyof Context> & {
  /** Assumes endpoints only after a Bearer or DPoP challenge. */
  readonly requiresChallenge?: boolean;
  /** The issuer of the caller's client: the server if the resource names no server. */
  readonly clientIssuer?: string | undefined;
};

/** A discovery's result before scopes are selected. */
type Found = Omit<AuthorizationContext, "resource" | "issuer" | "scopes">;

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

/** Checks whether no failure may hide metadata. */
function areClear(attempts: readonly DiscoveryAttempt[]): boolean {
  return attempts.every((one) => !one.error || isUnpublished(one));
}

function noMetadataHint(
  attempts: readonly DiscoveryAttempt[],
  servers: readonly string[],
): Quoted {
  if (areClear(attempts)) return [UNPUBLISHED];
  return servers.length > 1 ? [OTHER_SERVERS] : [];
}

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
  // The client's credentials are sent to no other server. But after an outage, or if it
  // is unusable, the resource's metadata may still name another server.
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
