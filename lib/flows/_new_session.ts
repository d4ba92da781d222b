/** Creates sessions, which contain only members that later steps use. */

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
import { type Internal, internalOf } from "../session/_internal.ts";
import { serverOf } from "../session/_parties.ts";
import type {
  Session,
  SessionServer,
  StoredSession,
} from "../session/session.ts";
import type { Others } from "./_sharing.ts";
import type { FlowOptions } from "./flow.ts";

export type Grant = Omit<StoredSession, "token" | "bearer" | "dpopThumbprint">;

/** The names of all members of a type: the compiler reports a missing one. */
type Names<T> = Readonly<Record<keyof T, true>>;

const KEPT_SERVER: Names<SessionServer> = {
  token_endpoint: true,
  revocation_endpoint: true,
  end_session_endpoint: true,
  authorization_response_iss_parameter_supported: true,
  token_endpoint_auth_methods_supported: true,
};

/**
 * Omits unused members, and those that delete the client: the flow that registered it
 * adds them.
 */
const KEPT_CLIENT: Names<
  Omit<
    KnownClient,
    | "issuer"
    | "client_name"
    | "client_uri"
    | "response_types"
    | keyof ClientConfiguration
  >
> = {
  client_id: true,
  client_secret: true,
  client_secret_expires_at: true,
  redirect_uris: true,
  grant_types: true,
  token_endpoint_auth_method: true,
  formEncode: true,
};

function picked<T extends object, Name extends keyof T>(
  from: T,
  names: Readonly<Record<Name, true>>,
): Pick<T, Name> {
  const all = Object.keys(names).map((name) => [name, from[name as Name]]);
  return Object.fromEntries(all);
}

export function keptClient(
  client: Client,
  issuer: string,
): NonNullable<Grant["client"]> {
  return picked(registrationOf(client, issuer), KEPT_CLIENT);
}

/** Terms that are not options of the flow. */
interface FurtherTerms {
  readonly redirectUriOnRefresh?: string | undefined;
  readonly others?: Others | undefined;
}

/** Returns the grant of a flow. An assertion alone needs no client. */
export function grantOf(
  { resource, serverMetadata }: Pick<
    AuthorizationContext,
    "resource" | "serverMetadata"
  >,
  { resourceIndicator, sendScopeOnRefresh, tokenParameters }: Pick<
    FlowOptions,
    "resourceIndicator" | "sendScopeOnRefresh" | "tokenParameters"
  >,
  client: Client | undefined,
  scopes: readonly string[],
  { redirectUriOnRefresh, others }: FurtherTerms = {},
): Grant {
  const { issuer } = serverMetadata;
  const internal: { [Name in keyof Internal]: Internal[Name] | undefined } = {
    resourceIndicator: namedIndicator(resourceIndicator) ??
      (resourceIndicator === false ? false : undefined),
    sendScopeOnRefresh: sendScopeOnRefresh ? true : undefined,
    redirectUriOnRefresh,
    tokenParameters: tokenParameters &&
      requireStringMembers("tokenParameters", tokenParameters),
    isAlone: others?.isAlone,
  };
  // Removes undefined members.
  return JSON.parse(JSON.stringify({
    version: 1,
    issuer,
    resource,
    scopes,
    client: client && keptClient(client, issuer),
    server: picked(serverMetadata, KEPT_SERVER),
    apis: others?.apis,
    internal,
  }));
}

/** Returns the resource indicators of a sign-in, its own API first. */
export function resourcesOf(
  grant: Grant,
  others: Others | undefined,
): string | false | readonly string[] {
  const resource = requestedResource(grant);
  return others ? [resource || [], others.resources].flat() : resource;
}

/** Returns the other parameters of the token request after an authorization. */
export function tokenParametersOf(
  { apis, scopes, internal }: Pick<Grant, "apis" | "scopes" | "internal">,
): Record<string, string> {
  const { sendScopeOnRefresh, tokenParameters } = internalOf({ internal });
  // Without resource indicators, scopes identify one of several APIs.
  const scope = apis && sendScopeOnRefresh ? scopes.join(" ") : "";
  return { scope, ...tokenParameters };
}

export async function sessionWith(
  context: GrantContext,
  grant: Grant,
  body: URLSearchParams,
): Promise<Session> {
  const token = await tokenWith(context, serverOf(grant), body);
  // A new token needs no more requests than a refresh (RFC 6749, section 4.4.3).
  delete token.refresh_token;
  return newSession(grant, token, context.dpop);
}

export function newSession(
  { version, issuer, resource, scopes, client, server, apis, internal }: Grant,
  token: Token,
  dpop: Dpop | undefined,
): Session {
  // The next sign-in requests these.
  const granted = scopesFrom(token.scope);
  const kept = areRequestable(granted) ? granted : [];
  return {
    ...{ version, issuer, resource },
    scopes: scopes.length > 0 ? scopes : kept,
    token,
    ...(client && { client }),
    server,
    ...(dpop && { dpopThumbprint: dpop.thumbprint }),
    ...(apis && { apis }),
    ...(internal && { internal }),
  };
}
