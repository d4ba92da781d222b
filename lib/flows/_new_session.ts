/** How sessions are created. They contain only what later steps use. */

import { requireStringMembers } from "../core/_arguments.ts";
import { areRequestable, scopesFrom } from "../core/_scope_values.ts";
import { registrationOf } from "../client/_authentication_selection.ts";
import type { ClientConfiguration } from "../client/client_configuration.ts";
import type { Dpop } from "../client/dpop.ts";
import type { Client, KnownClient } from "../client/known_client.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { type Token, tokenWith } from "../token/token.ts";
import {
  namedIndicator,
  requestedResource,
} from "../session/_requested_resource.ts";
import type { Others } from "./_sharing.ts";
import type { FlowOptions } from "./flow.ts";
import type {
  Session,
  SessionApi,
  SessionServerMetadata,
} from "../session/session.ts";

/** What a token is requested for, and by which client. */
export interface Grant {
  readonly resource: string;
  readonly omitResource?: true | undefined;
  readonly resourceIndicator?: string | undefined;
  readonly sendScopeOnRefresh?: true | undefined;
  readonly tokenParameters?: Readonly<Record<string, string>> | undefined;
  readonly sendRedirectUriOnRefresh?: string | undefined;
  readonly apis?: Readonly<Record<string, SessionApi>> | undefined;
  readonly isAlone?: true | undefined;
  readonly serverMetadata: SessionServerMetadata;
  readonly client: KnownClient;
  /** The requested scopes. */
  readonly scopes: readonly string[];
}

/** All members of a type: the compiler reports one that is missing. */
type Complete<T> = { [Name in keyof Required<T>]: T[Name] };

type Kept = Omit<
  Session,
  "token" | "bearer" | "dpopThumbprint" | "isUserAway" | "idJag"
>;

/**
 * Members of a client that no later step uses; and those that delete it, which only the
 * flow that has registered the client adds to the session.
 */
type UnkeptMember =
  | "client_name"
  | "client_uri"
  | "response_types"
  | keyof ClientConfiguration;

/** Returns the part of a grant that is kept, as plain JSON. */
export function keptGrant(
  {
    resource,
    omitResource,
    resourceIndicator,
    sendScopeOnRefresh,
    tokenParameters,
    sendRedirectUriOnRefresh,
    apis,
    isAlone,
    serverMetadata,
    scopes,
    client,
  }: Grant,
): Kept {
  const keptServer: Complete<SessionServerMetadata> = {
    issuer: serverMetadata.issuer,
    token_endpoint: serverMetadata.token_endpoint,
    revocation_endpoint: serverMetadata.revocation_endpoint,
    end_session_endpoint: serverMetadata.end_session_endpoint,
    authorization_response_iss_parameter_supported:
      serverMetadata.authorization_response_iss_parameter_supported,
    token_endpoint_auth_methods_supported:
      serverMetadata.token_endpoint_auth_methods_supported,
  };
  const keptClient: Complete<Omit<KnownClient, UnkeptMember>> = {
    issuer: client.issuer,
    client_id: client.client_id,
    client_secret: client.client_secret,
    client_secret_expires_at: client.client_secret_expires_at,
    redirect_uris: client.redirect_uris,
    grant_types: client.grant_types,
    token_endpoint_auth_method: client.token_endpoint_auth_method,
    formEncode: client.formEncode,
  };
  const kept: Complete<Kept> = {
    issuer: serverMetadata.issuer,
    resource,
    omitResource,
    resourceIndicator,
    sendScopeOnRefresh,
    tokenParameters,
    sendRedirectUriOnRefresh,
    apis,
    isAlone,
    serverMetadata: keptServer,
    client: keptClient,
    scopes: [...scopes],
  };
  // Without the members that are undefined.
  return JSON.parse(JSON.stringify(kept));
}

/** Returns the grant of a flow; without a client, the session of an assertion alone. */
export function grantOf(
  { resource, serverMetadata }: Pick<
    AuthorizationContext,
    "resource" | "serverMetadata"
  >,
  flow: Pick<
    FlowOptions,
    "resourceIndicator" | "sendScopeOnRefresh" | "tokenParameters"
  >,
  client: Client | undefined,
  scopes: readonly string[],
): Grant {
  const { issuer } = serverMetadata;
  return {
    resource,
    omitResource: flow.resourceIndicator === false || undefined,
    resourceIndicator: namedIndicator(flow.resourceIndicator),
    sendScopeOnRefresh: flow.sendScopeOnRefresh || undefined,
    tokenParameters: flow.tokenParameters &&
      requireStringMembers("tokenParameters", flow.tokenParameters),
    serverMetadata,
    // A session without a `client_id` has no client that could be used again.
    client: client ? registrationOf(client, issuer) : { issuer, client_id: "" },
    scopes,
  };
}

/** Returns the resource indicators of a sign-in: its own API, then the other APIs. */
export function resourcesOf(
  grant: Grant,
  others: Others | undefined,
): string | false | readonly string[] {
  const resource = requestedResource(grant);
  return others ? [resource || [], others.resources].flat() : resource;
}

/** Returns the other parameters of the token request after an authorization. */
export function tokenParametersOf(
  { apis, sendScopeOnRefresh, scopes, tokenParameters }: Pick<
    Kept,
    "apis" | "sendScopeOnRefresh" | "scopes" | "tokenParameters"
  >,
): Record<string, string> {
  // A server without resource indicators knows one of several APIs by its scopes.
  const scope = apis && sendScopeOnRefresh ? scopes.join(" ") : "";
  return { scope, ...tokenParameters };
}

/** Requests the token of a grant without a user, and creates a session from it. */
export async function sessionWith(
  context: GrantContext,
  grant: Grant,
  body: URLSearchParams,
): Promise<Session> {
  const token = await tokenWith(context, grant.serverMetadata, body);
  // A new token needs no more requests than a refresh (RFC 6749, section 4.4.3).
  delete token.refresh_token;
  return newSession(grant, token, context.dpop);
}

export function newSession(
  grant: Grant,
  token: Token,
  dpop: Dpop | undefined,
): Session {
  const kept = keptGrant(grant);
  // The next sign-in requests these.
  const granted = scopesFrom(token.scope);
  const scopes = areRequestable(granted) ? granted : [];
  return {
    ...kept,
    token,
    scopes: kept.scopes.length > 0 ? kept.scopes : scopes,
    ...(dpop && { dpopThumbprint: dpop.thumbprint }),
  };
}
