/** How sessions are created. They contain only what later steps use. */

import { requireStringMembers } from "../core/_arguments.ts";
import { areRequestable, scopesFrom } from "../core/_scope_values.ts";
import { registrationOf } from "../client/_authentication_selection.ts";
import type { ClientConfiguration } from "../client/client_configuration.ts";
import type { IDpop } from "../client/dpop.ts";
import type { Client, IKnownClient } from "../client/known_client.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import type { IGrantContext } from "../token/_grant_context.ts";
import { type IToken, tokenWith } from "../token/token.ts";
import {
  namedIndicator,
  requestedResource,
} from "../session/_requested_resource.ts";
import type { IOthers } from "./_sharing.ts";
import type { IFlowOptions } from "./flow.ts";
import type {
  ISession,
  ISessionApi,
  SessionServerMetadata,
} from "../session/session.ts";

/** What a token is requested for, and by which client. */
export interface IGrant {
  readonly resource: string;
  readonly omitResource?: true | undefined;
  readonly resourceIndicator?: string | undefined;
  readonly refreshScope?: true | undefined;
  readonly tokenParameters?: Readonly<Record<string, string>> | undefined;
  readonly refreshRedirectUri?: string | undefined;
  readonly apis?: Readonly<Record<string, ISessionApi>> | undefined;
  readonly isAlone?: true | undefined;
  readonly serverMetadata: SessionServerMetadata;
  readonly client: IKnownClient;
  /** The requested scopes. */
  readonly scopes: readonly string[];
}

/** All members of a type: the compiler reports one that is missing. */
type Complete<T> = { [Name in keyof Required<T>]: T[Name] };

type Kept = Omit<
  ISession,
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
    refreshScope,
    tokenParameters,
    refreshRedirectUri,
    apis,
    isAlone,
    serverMetadata,
    scopes,
    client,
  }: IGrant,
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
  const keptClient: Complete<Omit<IKnownClient, UnkeptMember>> = {
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
    refreshScope,
    tokenParameters,
    refreshRedirectUri,
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
    IAuthorizationContext,
    "resource" | "serverMetadata"
  >,
  flow: Pick<IFlowOptions, "resource" | "refreshScope" | "tokenParameters">,
  client: Client | undefined,
  scopes: readonly string[],
): IGrant {
  const { issuer } = serverMetadata;
  return {
    resource,
    omitResource: flow.resource === false || undefined,
    resourceIndicator: namedIndicator(flow.resource),
    refreshScope: flow.refreshScope || undefined,
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
  grant: IGrant,
  others: IOthers | undefined,
): string | false | readonly string[] {
  const resource = requestedResource(grant);
  return others ? [resource || [], others.resources].flat() : resource;
}

/** Returns the other parameters of the token request after an authorization. */
export function tokenParametersOf(
  { apis, refreshScope, scopes, tokenParameters }: Pick<
    Kept,
    "apis" | "refreshScope" | "scopes" | "tokenParameters"
  >,
): Record<string, string> {
  // A server without resource indicators knows one of several APIs by its scopes.
  const scope = apis && refreshScope ? scopes.join(" ") : "";
  return { scope, ...tokenParameters };
}

/** Requests the token of a grant without a user, and creates a session from it. */
export async function sessionWith(
  context: IGrantContext,
  grant: IGrant,
  body: URLSearchParams,
): Promise<ISession> {
  const token = await tokenWith(context, grant.serverMetadata, body);
  // A new token needs no more requests than a refresh (RFC 6749, section 4.4.3).
  delete token.refresh_token;
  return newSession(grant, token, context.dpop);
}

export function newSession(
  grant: IGrant,
  token: IToken,
  dpop: IDpop | undefined,
): ISession {
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
