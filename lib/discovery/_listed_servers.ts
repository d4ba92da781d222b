/** Which of the authorization servers that a resource lists is used. */

import { requireArgument } from "../core/_arguments.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { stringsIn } from "../core/_members.ts";
import { type IUrlRules, quoteUrl, urlProblem } from "../core/_url.ts";
import { type IDiscoveryAttempt, isOAuthClientError } from "../core/errors.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "../core/metadata.ts";
import { type IContext, secretsIn } from "../http/_context.ts";
import type { ISearchResult } from "./_search.ts";

type ServerSearch = ISearchResult<IAuthorizationServerMetadata>;

/** Returns the servers that a resource lists; undefined if the list is malformed. */
export function serversOf(
  metadata: IAuthorizationProtectedResourceMetadata | undefined,
): string[] | undefined {
  const servers: unknown = metadata?.authorization_servers ?? [];
  // Some resources publish their only server as a string.
  if (typeof servers === "string") return [servers];
  const strings = stringsIn(servers);
  return strings?.length === (servers as unknown[]).length
    ? strings
    : undefined;
}

/** Selects one of the servers that the resource lists; undefined if there is none. */
export function selectServer(
  servers: readonly string[],
  select: ((servers: readonly string[]) => string) | undefined,
): string | undefined {
  if (!select || servers.length === 0) return servers[0];
  const selected = select(servers);
  requireArgument(
    servers.includes(selected),
    "The result of selectAuthorizationServer",
    "one of the given servers",
  );
  return selected;
}

/** What determines which server is tried after the first of a list. */
export interface INextServer {
  readonly rules: IUrlRules;
  /** The issuers of the clients that the caller has named. */
  readonly clientIssuers: readonly string[];
  readonly trustedIssuers: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the server to try if the first of a list does not respond: the next one whose
 * URL may be used, of those that a named client belongs to if there are any.
 */
export function nextServer(
  [first = "", ...others]: readonly string[],
  { rules, clientIssuers, trustedIssuers = {} }: INextServer,
): string | undefined {
  const hasClient = (server: string) =>
    clientIssuers.some((issuer) =>
      isSameIssuer(issuer, server) ||
      (Object.hasOwn(trustedIssuers, server) &&
        trustedIssuers[server] === issuer)
    );
  const usable = others.filter((server) =>
    !isSameIssuer(server, first) && urlProblem(server, rules) === undefined
  );
  return [first, ...others].some(hasClient)
    ? usable.find(hasClient)
    : usable[0];
}

/** Checks whether a server has not responded, or has failed. */
function isSilent({ error }: IDiscoveryAttempt): boolean {
  return isOAuthClientError(error) &&
    (error.code === "network_error" || error.code === "timeout" ||
      (error.status ?? 0) >= 500);
}

/**
 * Searches for the metadata of a server; if it does not respond, for that of the next
 * one. A server that responds is not replaced, as the resource prefers it. Without a next
 * server, a timeout is thrown.
 */
export async function searchWithNext(
  context: IContext,
  searchFor: (issuer: string) => Promise<ServerSearch>,
  first: string,
  next: string | undefined,
): Promise<{ issuers: string[]; server: ServerSearch }> {
  if (next === undefined) {
    return { issuers: [first], server: await searchFor(first) };
  }
  const trySearch = async (issuer: string): Promise<ServerSearch> => {
    try {
      return await searchFor(issuer);
    } catch (error) {
      context.signal?.throwIfAborted();
      if (!isOAuthClientError(error) || error.code !== "timeout") throw error;
      const url = error.url ?? quoteUrl(issuer, secretsIn(context));
      return { attempts: [{ url, error }] };
    }
  };
  const failed = await trySearch(first);
  if (failed.metadata || !failed.attempts.every(isSilent)) {
    return { issuers: [first], server: failed };
  }
  const server = await trySearch(next);
  const attempts = [...failed.attempts, ...server.attempts];
  return { issuers: [first, next], server: { ...server, attempts } };
}
