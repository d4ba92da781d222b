/** What a flow requests: its own options and those of the resource. */

import { requireScopes } from "../core/_scope_values.ts";
import { mergeScopes } from "../core/scopes.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { requireSameIssuer } from "../client/_issuer.ts";
import type { IClientAuthentication } from "../client/authentication.ts";
import type { IKnownClient } from "../client/selection.ts";
import type { IAuthorizeRequest, IFlowOptions } from "./authorize_request.ts";
import { ensureClient } from "./client_provision.ts";
import type { ISessionOptions } from "./session.ts";

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
  const isOwn = own !== undefined && maxAge !== undefined &&
    /^\d+$/.test(own) && Number(own) <= maxAge;
  return {
    ...parameters,
    ...(acrValues && { acr_values: acrValues }),
    ...(maxAge !== undefined && !isOwn && { max_age: String(maxAge) }),
  };
}

/** Returns the members of a request that are options of every function here. */
export function sessionOptionsOf(request: IAuthorizeRequest): ISessionOptions {
  const {
    context: _context,
    scopes: _scopes,
    requiredScopes: _requiredScopes,
    session: _session,
    acrValues: _acrValues,
    maxAge: _maxAge,
    ...options
  } = request;
  return options;
}

/** Returns the registration that credentials belong to. */
export function clientOf(
  { clientId, method, issuer }: IClientAuthentication,
  context: Pick<IAuthorizationContext, "issuer">,
): IKnownClient {
  // Also checked when credentials are sent, but a user would have signed in by then.
  requireSameIssuer(issuer, context.issuer);
  return {
    issuer: context.issuer,
    client_id: clientId,
    token_endpoint_auth_method: method,
  };
}

/** Returns the client of a flow: that of the credentials, a known one, a new one. */
export async function clientFor(
  request: IAuthorizeRequest,
  { knownClients = [], clientMetadata, clientMetadataUrl }: IFlowOptions,
  redirectUri?: string,
): Promise<IKnownClient> {
  const { context, session } = request;
  const { client, dpop: _dpop, ...options } = sessionOptionsOf(request);
  if (client) return clientOf(client, context);
  return await ensureClient(context.serverMetadata, {
    ...options,
    knownClients: [...knownClients, ...(session ? [session.client] : [])],
    clientMetadata,
    clientMetadataUrl,
    redirectUri,
  });
}
