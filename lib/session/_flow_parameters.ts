/** What a flow requests: its own options and those of the resource. */

import { requireSameIssuer } from "../core/_issuer.ts";
import { requireScopes } from "../core/_scope_values.ts";
import { mergeScopes } from "../core/scopes.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { isAuthentication } from "../client/authentication_selection.ts";
import type { Client, IKnownClient } from "../client/known_client.ts";
import type { IAuthorizeRequest, IFlowOptions } from "./flow.ts";
import { ensureClient } from "./ensure_client.ts";
import { sessionOptionsOf } from "./session.ts";

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

/** Returns the registration of a client, without what only authenticates it. */
export function clientOf(
  client: Client,
  { issuer }: Pick<IAuthorizationContext, "issuer">,
): IKnownClient {
  // Also checked when credentials are sent, but a user would have signed in by then.
  requireSameIssuer(client.issuer, issuer);
  if (!isAuthentication(client)) return { ...client, issuer };
  const { clientId, method } = client;
  return { issuer, client_id: clientId, token_endpoint_auth_method: method };
}

/** Returns the client of a flow: that of the credentials, a known one, a new one. */
export async function clientFor(
  request: IAuthorizeRequest,
  { knownClients = [], clientMetadata, clientMetadataUrl }: IFlowOptions,
  redirectUri?: string,
): Promise<IKnownClient> {
  const { context, session, client } = request;
  if (client) return clientOf(client, context);
  return await ensureClient(context.serverMetadata, {
    ...sessionOptionsOf(request),
    knownClients: session ? [...knownClients, session.client] : knownClients,
    clientMetadata,
    clientMetadataUrl,
    redirectUri,
  });
}
