/** What a flow requests: its own options and those of the resource. */

import { requireScopes } from "../core/_scope_values.ts";
import { mergeScopes } from "../core/scopes.ts";
import { isAuthentication } from "../client/authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import type { Authorize, IAuthorizeRequest, IFlowOptions } from "./flow.ts";
import { ensureClient } from "./ensure_client.ts";
import {
  type ISession,
  type ISessionOptions,
  sessionOptionsOf,
} from "./session.ts";

/** Returns the scopes of a flow, and those that the resource requires. */
export function scopesOf(
  { scopes, requiredScopes }: IAuthorizeRequest,
  flow: Pick<IFlowOptions, "scopes">,
): string[] {
  return flow.scopes
    ? mergeScopes(requireScopes("scopes", flow.scopes), requiredScopes)
    : scopes;
}

/**
 * Returns the parameters of a flow, and those of RFC 9470, section 4. A challenge does
 * not make the `max_age` of the flow larger.
 */
export function parametersOf(
  { acrValues, maxAge }: IAuthorizeRequest,
  { parameters }: IFlowOptions,
): Record<string, string> {
  const own = parameters?.max_age;
  const isSmaller = maxAge !== undefined && !(own && Number(own) <= maxAge);
  return {
    ...parameters,
    ...(acrValues && { acr_values: acrValues }),
    ...(isSmaller && { max_age: String(maxAge) }),
  };
}

/**
 * Returns the client of a flow: that of the fetch, that of the flow, a known one, or a
 * new one.
 */
export async function clientOf(
  { context, session }: Pick<IAuthorizeRequest, "context" | "session">,
  { client, knownClients = [], clientMetadata, clientMetadataUrl }:
    IFlowOptions,
  options: ISessionOptions,
  redirectUri?: string,
): Promise<Client> {
  const given = options.client ?? client;
  if (given) return given;
  return await ensureClient(context.serverMetadata, {
    ...sessionOptionsOf(options),
    knownClients: session ? [...knownClients, session.client] : knownClients,
    clientMetadata,
    clientMetadataUrl,
    redirectUri,
  });
}

/**
 * Makes a function that signs in carry a client that is not stored, where
 * {@linkcode createAuthorizedFetch} finds it for refreshes.
 */
export function carrying(
  client: Client | undefined,
  authorize: (request: IAuthorizeRequest) => Promise<ISession>,
): Authorize {
  return client && isAuthentication(client)
    ? Object.assign(authorize, { client })
    : authorize;
}
