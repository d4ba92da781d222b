import {
  requireArgument,
  requireNames,
  requireStringMembers,
} from "../core/_arguments.ts";
import { requireScopes, scopesFrom } from "../core/_scope_values.ts";
import { mergeScopes, OFFLINE_ACCESS } from "../core/scopes.ts";
import { requireBoundClient } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import type { Context } from "../http/_context.ts";
import { type FlowClient, knownRegistrationOf } from "./_flow_client.ts";
import { namedIndicator } from "../session/_requested_resource.ts";
import type { Flow, FlowOptions, FlowRequest } from "./flow.ts";
import { ensureWith } from "./ensure_client.ts";
import { clientIn } from "../session/_parties.ts";
import type { Session } from "../session/session.ts";

const OPENID = "openid";

export function requireFlowOptions(
  {
    client,
    knownClients = [],
    scopes,
    resourceIndicator: resource,
    initialAccessToken,
    parameters,
    tokenParameters,
  }: FlowOptions,
): void {
  requireBoundClient(client);
  requireArgument(
    Array.isArray(knownClients),
    "knownClients",
    "an array of clients",
  );
  if (scopes !== undefined) requireScopes("scopes", scopes);
  namedIndicator(resource);
  requireStringMembers("parameters", parameters);
  requireStringMembers("tokenParameters", tokenParameters);
  requireArgument(
    ["undefined", "string", "function"].includes(typeof initialAccessToken),
    "initialAccessToken",
    "a string or a function",
  );
}

/**
 * Fails for unknown options. If a flow function was passed to a fetch without being
 * called, its options are the fetch's request.
 */
export function requireFlowNames(
  options: object,
  names: Readonly<Record<string, true>>,
  flow: string,
  ignored?: string,
): void {
  requireArgument(
    !("context" in options),
    "flow",
    `${flow}({ ... }), not ${flow}`,
  );
  const place = "it in createAuthorizedFetch; here, use ";
  requireNames(options, Object.keys(names), flow, place, ignored);
}

export function scopesOf(
  { scopes, requiredScopes, requiresIdToken }: FlowRequest,
  flow: Pick<FlowOptions, "scopes">,
): string[] {
  const all = flow.scopes
    ? mergeScopes(requireScopes("scopes", flow.scopes), requiredScopes)
    : scopes;
  return requiresIdToken ? mergeScopes(all, OPENID) : all;
}

/** A client may have no use for a refresh token. */
export function wantsOffline(
  { offlineAccess, clientMetadata }: FlowOptions,
): boolean {
  return offlineAccess ??
    clientMetadata?.grant_types?.includes("refresh_token") ?? true;
}

/** Scopes of OpenID Connect that a resource or server lists for users. */
const USER_SCOPES = [OPENID, OFFLINE_ACCESS];

export function userlessScopesOf(
  request: FlowRequest,
  flow: Pick<FlowOptions, "scopes">,
): string[] {
  const all = scopesOf(request, flow);
  // Without a user, some servers reject these; others require a scope.
  const withoutUserScopes = all.filter((scope) => !USER_SCOPES.includes(scope));
  return flow.scopes || withoutUserScopes.length === 0
    ? all
    : withoutUserScopes;
}

export function needsIdToken(
  { requiresIdToken }: FlowRequest,
  { scopes }: Pick<FlowOptions, "scopes">,
): boolean {
  return requiresIdToken || (scopes?.includes(OPENID) ?? false);
}

/**
 * Adds the parameters of RFC 9470, section 4. A challenge never increases the flow's
 * `max_age`.
 */
export function parametersOf(
  { acrValues, maxAge }: FlowRequest,
  { parameters }: FlowOptions,
): Record<string, string> {
  const flowMaxAge = parameters?.max_age;
  const isSmaller = maxAge !== undefined &&
    !(flowMaxAge && Number(flowMaxAge) <= maxAge);
  return {
    ...parameters,
    ...(acrValues && { acr_values: acrValues }),
    ...(isSmaller && { max_age: String(maxAge) }),
  };
}

/**
 * Returns the first client: of the fetch, of the flow, a known one, the session's, one
 * from a declined sign-in, or a new registration.
 */
export async function clientOf(
  context: Context,
  request: FlowRequest,
  flow: FlowOptions,
  redirectUri?: string,
): Promise<FlowClient> {
  const { context: { serverMetadata, source, serverMetadataUrl }, session } =
    request;
  const { scopes_supported } = request.context.resourceMetadata ?? {};
  const { knownClients = [], clientMetadataUrl } = flow;
  const { mark, shared, memory } = knownRegistrationOf(request);
  const given = request.client ?? flow.client;
  if (given) return { client: given, origin: "named" };
  const stored = clientIn(session);
  const isDocument = stored?.client_id === String(clientMetadataUrl);
  // The server may no longer accept documents.
  const mayKeep = !isDocument ||
    serverMetadata.client_id_metadata_document_supported === true;
  const kept = (mayKeep && stored) || memory?.client;
  const client = await ensureWith(context, serverMetadata, {
    ...flow,
    knownClients: kept ? [...knownClients, kept] : knownClients,
    scopes: mergeScopes(scopesOf(request, flow), shared?.scopes),
    ofResource: scopesFrom(scopes_supported),
    redirectUri,
    isAssumed: source === "fallback" && !serverMetadataUrl,
  });
  // The store contains a session's client, and its mark.
  if (!session) memory?.clientChosen(client);
  const isRegistered = client.client_id !== String(clientMetadataUrl);
  if (session && client === kept) {
    // Some servers would issue no refresh token again without the prompt, and sharing
    // needs one.
    const hadRefresh = Boolean(shared ?? session.token?.refresh_token);
    const needsConsent = isRegistered && hadRefresh;
    return { client, origin: "kept", mark, needsConsent };
  }
  if (knownClients.includes(client)) return { client, origin: "named" };
  return { client, origin: "new", needsConsent: isRegistered };
}

/**
 * Adds the caller's clients to a flow, as members. {@linkcode createAuthorizedFetch}
 * uses them for refreshes: a key is not stored, and a stored secret may be outdated.
 */
export function carrying(
  { client, knownClients }: Pick<FlowOptions, "client" | "knownClients">,
  obtain: (request: FlowRequest) => Promise<Session>,
): Flow {
  return Object.assign(obtain, { client, knownClients });
}

export function withoutUser(
  client: Client | undefined,
  obtain: (request: FlowRequest) => Promise<Session>,
): Flow {
  const flow = carrying({ client }, obtain);
  return Object.assign(flow, { needsUser: false });
}
