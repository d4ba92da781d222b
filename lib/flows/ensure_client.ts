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
   * Client metadata for a registration, at least a `client_name`. Absent
   * `redirect_uris`, `grant_types`, `response_types`, `scope` and
   * `token_endpoint_auth_method` are added.
   */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
  /**
   * The scopes that will be requested. Without them, a registration contains only
   * `clientMetadata`'s `scope`.
   */
  scopes?: readonly string[] | undefined;
  /**
   * Initial access token for a registration (RFC 7591, section 3), or a function that
   * returns it for an issuer. Only the registration endpoint receives it.
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
 * unregistered scopes, and some reject registrations of unlisted ones. So it contains
 * all listed scopes, because a `403` may require other scopes than the first request.
 * If the server lists no scopes, as with MCP's Python SDK, it contains the request's
 * and the resource's scopes.
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
 * Completes client metadata for the code flow or the device flow. The plain form omits
 * members that a server should ignore but may reject (RFC 7591, section 2): `scope`,
 * and an unlisted grant type.
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
  // only from clients registered for it.
  const mayRefresh = !isPlain || grants.includes("refresh_token");
  const scope = isPlain ? undefined : scopeToRegister(registration);
  return {
    grant_types: [
      isDeviceFlow ? GRANT_TYPE_DEVICE_CODE : "authorization_code",
      ...(mayRefresh ? ["refresh_token"] : []),
    ],
    response_types: isDeviceFlow ? [] : ["code"],
    ...(scope && { scope }),
    // A program on a user's device cannot keep a secret, so it avoids one if possible.
    ...(methods?.includes("none") && { token_endpoint_auth_method: "none" }),
    ...clientMetadata,
    redirect_uris: isDeviceFlow
      ? redirect_uris
      : [...new Set([...redirect_uris, redirectUri])],
  };
}

/**
 * Registers a client. If the server rejects the metadata, tries again with the plain
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
 * Fails before a sign-in unless a client can authenticate. There is no check if the
 * caller requested a method that needs more than a registration.
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

/** Returns why no known client was used. */
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
 * only registers.
 *
 * Known clients without the redirect URI are skipped; a loopback port does not count
 * (RFC 8252, section 7.3). A registration contains the grant type `refresh_token`, and
 * all scopes that the server lists, if these include the requested ones; without a
 * list, the requested scopes. After `invalid_client_metadata` or status 400, it is
 * repeated once without `scope`, and without `refresh_token` unless the server lists
 * this grant type.
 *
 * @param serverMetadata Metadata of the server.
 * @param options The clients to select from, and the metadata for a registration.
 * @returns The client. Store it for the next time, unless you store a session, which
 * contains it.
 * @throws {OAuthClientError} `unsupported`: there is no client for this server and no
 * registration, or the registered authentication method needs more than the
 * registration. Other codes as for {@linkcode registerClient}.
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
    /** Whether the server's endpoints are assumed. */
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
