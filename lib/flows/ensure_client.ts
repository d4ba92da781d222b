/**
 * A client for a flow: a known client, a client metadata document, or a new
 * registration.
 *
 * @module
 */

import { requireArgument, requireNonEmptyString } from "../core/_arguments.ts";
import { clientHints, guessHint, registrationHint } from "../core/_hints.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { stringsIn } from "../core/_members.ts";
import {
  areRequestable,
  requireScopes,
  scopesFrom,
} from "../core/_scope_values.ts";
import { quoteUrl } from "../core/_url.ts";
import {
  AUTH_SCOPE_SEPARATOR,
  GRANT_TYPE_DEVICE_CODE,
} from "../core/constants.ts";
import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { mergeScopes, missingScopes } from "../core/scopes.ts";
import type { IAuthorizationDynamicClientRegistrationRequest } from "../core/types.ts";
import { type Context, contextOf } from "../http/_context.ts";
import { errorOf, literal, words } from "../http/_error.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { REGISTERED_METHODS } from "../client/_authentication_methods.ts";
import { authenticationOf } from "../client/_authentication_selection.ts";
import { registerWith } from "../client/registration.ts";
import { type KnownClient, selectClient } from "../client/selection.ts";
import { isUriRefused, mayUse } from "./_registered_uri.ts";
import {
  authorizationFor,
  type InitialAccessToken,
} from "./initial_access_token.ts";

/** Options of {@linkcode ensureClient}. */
export interface EnsureClientOptions extends Omit<RequestOptions, "headers"> {
  /** Clients stored earlier, of any issuer. */
  knownClients?: readonly KnownClient[] | undefined;
  /** URL of your client metadata document. */
  clientMetadataUrl?: string | URL | undefined;
  /**
   * Client metadata for a registration, at least a `client_name`. If absent,
   * `redirect_uris`, `grant_types`, `response_types`, `scope` and
   * `token_endpoint_auth_method` are added for the flow.
   */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
  /**
   * The scopes that will be requested. Without them, a registration contains only the
   * `scope` of `clientMetadata`.
   */
  scopes?: readonly string[] | undefined;
  /**
   * Initial access token for a registration (RFC 7591, section 3), or a function that
   * returns it for an issuer. It is sent to the registration endpoint only.
   */
  initialAccessToken?: InitialAccessToken | undefined;
  /** Redirect URI of the code flow; absent for the device flow. */
  redirectUri?: string | URL | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/** What a registration is made of. */
interface Registration {
  readonly serverMetadata: ServerMetadata;
  readonly clientMetadata: IAuthorizationDynamicClientRegistrationRequest;
  readonly redirectUri: string | undefined;
  readonly scopes: readonly string[] | undefined;
  /** The scopes that the resource lists. */
  readonly ofResource: readonly string[] | undefined;
}

/**
 * Returns the `scope` to register (RFC 7591, section 2). Some servers later reject
 * scopes that are not registered, and some reject to register scopes that they do not
 * list. So it contains all scopes that the server lists, because a `403` may require
 * other scopes than the first request. Where the server lists none, as with the Python
 * SDK of MCP, it contains the scopes of the request and, for the same reason, of the
 * resource.
 */
function scopeToRegister(
  { serverMetadata, scopes: requested, ofResource }: Registration,
): string | undefined {
  const ofServer = scopesFrom(serverMetadata.scopes_supported);
  const wanted = mergeScopes(requested, ofResource);
  const ofRequest = areRequestable(wanted) ? wanted : requested ?? [];
  const all = ofServer.length > 0 ? ofServer : ofRequest;
  const isCovered = requested !== undefined && all.length > 0 &&
    missingScopes(requested, all).length === 0;
  return isCovered ? all.join(AUTH_SCOPE_SEPARATOR) : undefined;
}

/**
 * Completes client metadata for the code flow, or else for the device flow. The plain
 * form omits what a server should ignore but may reject (RFC 7591, section 2): `scope`,
 * and a grant type that the server does not list.
 */
function completeMetadata(
  registration: Registration,
  isPlain: boolean,
): IAuthorizationDynamicClientRegistrationRequest {
  const { serverMetadata, clientMetadata, redirectUri } = registration;
  const { redirect_uris = [] } = clientMetadata;
  const isDeviceFlow = redirectUri === undefined;
  const grants = stringsIn(serverMetadata.grant_types_supported) ?? [];
  const methods = stringsIn(
    serverMetadata.token_endpoint_auth_methods_supported,
  );
  // Some servers issue refresh tokens without listing the grant type, and accept them
  // only from clients that are registered for it.
  const mayRefresh = !isPlain || grants.includes("refresh_token");
  const scope = isPlain ? undefined : scopeToRegister(registration);
  return {
    grant_types: [
      isDeviceFlow ? GRANT_TYPE_DEVICE_CODE : "authorization_code",
      ...(mayRefresh ? ["refresh_token"] : []),
    ],
    response_types: isDeviceFlow ? [] : ["code"],
    ...(scope && { scope }),
    // A program on a user's device cannot keep a secret, so it requests none if
    // possible.
    ...(methods?.includes("none") && { token_endpoint_auth_method: "none" }),
    ...clientMetadata,
    redirect_uris: isDeviceFlow
      ? redirect_uris
      : [...new Set([...redirect_uris, redirectUri])],
  };
}

/**
 * Registers a client; if the server rejects the metadata, tries again with the plain
 * form.
 */
async function register(
  registration: Registration,
  send: (
    metadata: Registration["clientMetadata"],
  ) => Promise<KnownClient>,
): Promise<KnownClient> {
  const full = completeMetadata(registration, false);
  const plain = completeMetadata(registration, true);
  try {
    return await send(full);
  } catch (error) {
    const isMetadataRefused = isOAuthClientError(error) &&
      (error.error === "invalid_client_metadata" || error.status === 400);
    const isSame = JSON.stringify(full) === JSON.stringify(plain);
    if (!isMetadataRefused || isSame || isUriRefused(error)) throw error;
    return await send(plain);
  }
}

/**
 * Returns a client; fails unless it can authenticate, before the user is sent to the
 * server. If the caller has requested a method that needs more than a registration,
 * there is no check.
 */
function requireAuthentication(
  client: KnownClient,
  serverMetadata: ServerMetadata,
  requested = "none",
): KnownClient {
  if (REGISTERED_METHODS.includes(requested)) {
    authenticationOf(client, serverMetadata);
  }
  return client;
}

/** Returns why no known client was used, if clients are known. */
function unfitReason(
  issuer: string,
  knownClients: readonly KnownClient[] = [],
): string {
  const issuers = new Set(knownClients.map((client) => client.issuer));
  if (issuers.size === 0) return "";
  const hasSame = [...issuers].some((one) => isSameIssuer(one ?? "", issuer));
  return hasSame
    ? ": the one in knownClients has another redirect URI, or an expired secret"
    : `: knownClients has clients of ${
      [...issuers].map((one) => quoteUrl(one)).join(", ")
    } only`;
}

/**
 * Returns a client for a server: a known client, your client metadata document, or a
 * new registration. {@linkcode selectClient} only selects, {@linkcode registerClient}
 * only registers. Known clients that were registered without the redirect URI are
 * skipped, because the server would reject the URI; the port of a loopback URI does not
 * count (RFC 8252, section 7.3).
 *
 * A registration contains the grant type `refresh_token`. It contains all scopes that
 * the server lists, if these include the scopes that will be requested. If the server
 * lists no scopes, it contains the scopes that will be requested. If the server rejects
 * the registration with `invalid_client_metadata` or status 400, it is repeated once
 * without `scope`, and without `refresh_token` unless the server lists this grant type.
 *
 * @param serverMetadata Metadata of the server.
 * @param options The clients to select from, and the metadata for a registration.
 * @returns The client. Store it for the next time, unless you store a session, which
 * contains it.
 * @throws {OAuthClientError} `unsupported`: there is no client for this server, and it
 * cannot register one, or it has registered an authentication method that needs more
 * than the registration. Other codes as for {@linkcode registerClient}.
 * @see RFC 7591, sections 2 and 3.2; RFC 8252, section 7.3; {@linkcode selectClient}.
 *
 * @example Register a client unless there is one
 * ```ts
 * import { ensureClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const client = await ensureClient({
 *   issuer: "https://as.example",
 *   registration_endpoint: "https://as.example/register",
 *   token_endpoint_auth_methods_supported: ["none"],
 * }, {
 *   clientMetadata: { client_name: "My client" },
 *   redirectUri: "http://127.0.0.1:8123/callback",
 *   // Replaces the server.
 *   fetch: (_url, { body }) =>
 *     Promise.resolve(Response.json({ client_id: "c1", ...JSON.parse(body!) })),
 * });
 * assertEquals(client.client_id, "c1");
 * assertEquals(client.redirect_uris, ["http://127.0.0.1:8123/callback"]);
 * ```
 *
 * @category Clients
 */
export async function ensureClient(
  serverMetadata: ServerMetadata,
  options?: EnsureClientOptions,
): Promise<KnownClient> {
  return await ensureWith(contextOf(options), serverMetadata, options ?? {});
}

/** Returns the error for a server for which there is no client. */
function noClient(
  context: Context,
  { issuer, registration_endpoint, ...metadata }: ServerMetadata,
  knownClients: readonly KnownClient[] | undefined,
  isAssumed: boolean | undefined,
): OAuthClientError {
  const lacks = registration_endpoint
    ? ""
    : ", which does not support registration";
  const hints = clientHints(
    Boolean(registration_endpoint),
    metadata.client_id_metadata_document_supported === true,
  );
  const why = literal(lacks + unfitReason(issuer, knownClients));
  const message = words`No client for authorization server ${{
    url: issuer,
  }}${why}${hints}${isAssumed ? [guessHint("server")] : []}`;
  return errorOf(context, "unsupported", message);
}

/** Returns a client for a server. See {@linkcode ensureClient}. */
export async function ensureWith(
  context: Context,
  serverMetadata: ServerMetadata,
  {
    knownClients,
    clientMetadataUrl,
    clientMetadata,
    initialAccessToken,
    redirectUri,
    scopes,
    isAssumed,
    ofResource,
  }: Omit<EnsureClientOptions, keyof Context> & {
    /** The scopes that the resource lists. */
    readonly ofResource?: readonly string[] | undefined;
    /** Whether the endpoints of the server are assumed. */
    readonly isAssumed?: boolean;
  },
): Promise<KnownClient> {
  const uri = redirectUri === undefined ? undefined : String(redirectUri);
  requireArgument(
    Array.isArray(knownClients ?? []),
    "knownClients",
    "an array of clients",
  );
  const selection = selectClient(serverMetadata, {
    knownClients: knownClients?.filter((known) =>
      uri === undefined || mayUse(known, uri)
    ),
    clientMetadataUrl,
    now: context.now,
  });
  if ("client" in selection) {
    const { client } = selection;
    const { client_secret, token_endpoint_auth_method: method } = client;
    return client_secret
      ? client
      : requireAuthentication(client, serverMetadata, method);
  }
  if (selection.kind !== "register" || !clientMetadata) {
    throw noClient(context, serverMetadata, knownClients, isAssumed);
  }
  const { client_name, token_endpoint_auth_method: method } = clientMetadata;
  requireNonEmptyString("clientMetadata.client_name", client_name);
  const { issuer } = serverMetadata;
  const headers = await authorizationFor(issuer, initialAccessToken);
  const registration: Registration = {
    serverMetadata,
    clientMetadata,
    redirectUri: uri,
    scopes: scopes && requireScopes("scopes", scopes),
    ofResource,
  };
  const hintFor = (status: number) =>
    registrationHint(status, isAssumed, headers !== undefined);
  const client = await register(
    registration,
    (metadata) =>
      registerWith(context, serverMetadata, metadata, { headers, hintFor }),
  );
  return requireAuthentication(client, serverMetadata, method);
}
