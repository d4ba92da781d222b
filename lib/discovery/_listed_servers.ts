/** Which of the authorization servers that a resource lists is used. */

import { requireArgument } from "../core/_arguments.ts";
import { stringsIn } from "../core/_members.ts";
import type { IAuthorizationProtectedResourceMetadata } from "../core/metadata.ts";

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
