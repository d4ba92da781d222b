import {
  requireNonEmptyString,
  requireString,
  requireStrings,
} from "../core/_arguments.ts";
import {
  type Members,
  numberMember,
  stringMember,
  stringsIn,
  withoutNulls,
} from "../core/_members.ts";
import { requireEndpoint, requireSafeUrl, urlString } from "../core/_url.ts";
import {
  AUTH_SCOPE_SEPARATOR,
  DEFAULT_CLIENT_URI,
  DEFAULT_REDIRECT_URIS,
  REGISTRATION_GRANT_TYPES,
} from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import type {
  IAuthorizationServerMetadata,
  ServerMetadata,
} from "../core/metadata.ts";
import type {
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
} from "../core/types.ts";
import { type Context, contextOf, report } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import { mergeHeaders } from "../http/_request.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { applicationTypeOf } from "./_application_type.ts";
import {
  postRegistration,
  type RegistrationPost,
} from "./_registration_post.ts";
import {
  DEFAULT_METHOD,
  REGISTERED_METHODS,
  registeredMethod,
} from "./_authentication_methods.ts";
import {
  type ClientConfiguration,
  receivedConfiguration,
} from "./client_configuration.ts";
import type { KnownClient } from "./known_client.ts";

/** Options of {@linkcode fetchDynamicRegistration}. */
export interface FetchDynamicRegistrationOptions extends RequestOptions {
  /** URL of your home page; {@linkcode DEFAULT_CLIENT_URI} when absent. */
  clientUri?: string | URL | undefined;
  /** Your redirect URIs; {@linkcode DEFAULT_REDIRECT_URIS} when absent. */
  redirectUris?: readonly (string | URL)[] | undefined;
  /** Other members of the request; they replace the library's own. */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
}

function supportedGrantTypes(listed: unknown): string[] {
  return stringsIn(listed)
    ?.filter((type) => REGISTRATION_GRANT_TYPES.includes(type)) ??
    [...REGISTRATION_GRANT_TYPES];
}

/**
 * Registers a public native client with fixed defaults. Prefer
 * {@linkcode registerClient}, which sends your metadata and returns a client bound to
 * its issuer.
 *
 * The defaults are the grant types `authorization_code`, `refresh_token` and device
 * code (only listed ones, if the server lists any), the response type `code`, and the
 * method `none`. Set `clientUri` and `redirectUris`: the https URLs of the defaults are
 * placeholders. Redirects are not followed.
 *
 * @param serverMetadata Metadata with a `registration_endpoint`.
 * @param clientName Display name of the client.
 * @param scopes Scope values that the client may request; omitted if undefined.
 * @param options URLs of the client, other client metadata, and the options of every
 * request.
 * @returns The registration. Only `client_id` is certain to be present.
 * @throws {OAuthClientError} As {@linkcode registerClient}.
 * @see RFC 7591, section 3; OpenID Connect Dynamic Client Registration 1.0.
 *
 * @example Register with your own redirect URI
 * ```ts
 * import { fetchDynamicRegistration } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const registration = await fetchDynamicRegistration(
 *   { registration_endpoint: "https://as.example/register" },
 *   "My client",
 *   ["read"],
 *   {
 *     clientUri: "https://my-client.example/",
 *     redirectUris: ["http://127.0.0.1:8123/callback"],
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         Response.json({ client_id: "c1", ...JSON.parse(body ?? "") }),
 *       ),
 *   },
 * );
 * assertEquals(registration.client_id, "c1");
 * assertEquals(registration.redirect_uris, ["http://127.0.0.1:8123/callback"]);
 * ```
 *
 * @category Literal layer
 */
export async function fetchDynamicRegistration(
  serverMetadata: Pick<
    IAuthorizationServerMetadata,
    "registration_endpoint" | "grant_types_supported"
  >,
  clientName: string,
  scopes?: readonly string[],
  options?: FetchDynamicRegistrationOptions,
): Promise<IAuthorizationDynamicClientRegistrationResponse> {
  const { registration_endpoint, grant_types_supported } = serverMetadata;
  if (!registration_endpoint) {
    throw new OAuthClientError(
      "unsupported",
      "Server does not support dynamic registration",
    );
  }
  const context = contextOf(options);
  const {
    clientUri = DEFAULT_CLIENT_URI,
    redirectUris = DEFAULT_REDIRECT_URIS,
    clientMetadata,
    headers,
  } = options ?? {};
  const metadata: IAuthorizationDynamicClientRegistrationRequest = {
    client_name: requireString("clientName", clientName),
    client_uri: requireString("clientUri", urlString(clientUri)),
    grant_types: supportedGrantTypes(grant_types_supported),
    response_types: ["code"],
    redirect_uris: requireStrings("redirectUris", redirectUris.map(urlString)),
    ...(scopes && {
      scope: requireStrings("scopes", scopes).join(AUTH_SCOPE_SEPARATOR),
    }),
    token_endpoint_auth_method: "none",
    application_type: "native",
    ...clientMetadata,
  };
  const url = requireString("registration_endpoint", registration_endpoint);
  requireSafeUrl("the registration_endpoint", url, { allowHttp: true });
  return await postRegistration(context, url, metadata, {
    headers: mergeHeaders({ "Content-Type": "application/json" }, headers),
  });
}

/** Options of {@linkcode registerClient}. */
export interface RegisterClientOptions extends RequestOptions {
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
}

function authMethodFor(listed: string[] = []): string | undefined {
  const method = REGISTERED_METHODS.find((one) => listed.includes(one));
  return method === DEFAULT_METHOD ? undefined : method;
}

/**
 * Returns undefined if there is no usable `client_id`. Drops members with the wrong
 * type that later steps read.
 */
function clientIn(
  registration: IAuthorizationDynamicClientRegistrationResponse,
  issuer: string,
  { requested, listed, configuration }: {
    requested: string | undefined;
    listed: readonly string[] | undefined;
    configuration: ClientConfiguration;
  },
): KnownClient | undefined {
  const members = withoutNulls({ ...registration, issuer }) as Members;
  const client_secret = stringMember(members, "client_secret");
  const read: Members = {
    client_id: stringMember(members, "client_id"),
    client_secret,
    client_secret_expires_at: numberMember(members, "client_secret_expires_at"),
    redirect_uris: stringsIn(members.redirect_uris),
    grant_types: stringsIn(members.grant_types),
    response_types: stringsIn(members.response_types),
    token_endpoint_auth_method: registeredMethod({
      named: stringMember(members, "token_endpoint_auth_method"),
      requested,
      hasSecret: client_secret !== undefined,
      listed,
    }),
    ...configuration,
    // A caller's option; servers cannot set it.
    formEncode: undefined,
  };
  for (const name of Object.keys(read)) {
    if (read[name] === undefined) delete members[name];
    else members[name] = read[name];
  }
  return members.client_id === undefined
    ? undefined
    : members as unknown as KnownClient;
}

/**
 * Registers a new client with your metadata. {@linkcode ensureClient} registers only if
 * no known client fits.
 *
 * Adds two absent members: `application_type`, which is `web` if every redirect URI is
 * https, or one is http on another host than loopback, otherwise `native`; and
 * `token_endpoint_auth_method`, if the server does not list `client_secret_basic`.
 *
 * The result contains the `token_endpoint_auth_method` of the response, otherwise the
 * requested one. Some servers repeat metadata that they ignore. A method without its
 * secret becomes `none` if `none` was requested or is listed. `none` is dropped if
 * there is a secret and `none` is not listed.
 *
 * Store the result for {@linkcode selectClient}. If a token request later fails with
 * `invalid_client`, the server has deleted the registration.
 *
 * @param serverMetadata Metadata with a `registration_endpoint`.
 * @param request Client metadata. For refresh tokens, include `refresh_token` in
 * `grant_types`.
 * @param options The options of every request.
 * @returns The registration with the server's `issuer`. `client_id` is a non-empty
 * string; members that are `null` or have the wrong type are dropped.
 * @throws {OAuthClientError} `unsupported`: there is no `registration_endpoint`.
 * `url_refused`: the endpoint is not allowed. `oauth_error`: the server returned an
 * error code. `unexpected_status`: the status is not 2xx, and there is no error code.
 * `invalid_response`: there is no usable `client_id`. `invalid_argument`: an argument
 * is invalid. `network_error`, `timeout`, `response_too_large`, `redirect_refused`.
 * @see RFC 7591, sections 2 and 3.
 *
 * @example Register a native client
 * ```ts
 * import { registerClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const client = await registerClient(
 *   {
 *     issuer: "https://as.example",
 *     registration_endpoint: "https://as.example/register",
 *   },
 *   {
 *     client_name: "My client",
 *     redirect_uris: ["http://127.0.0.1:8123/callback"],
 *     grant_types: ["authorization_code", "refresh_token"],
 *     token_endpoint_auth_method: "none",
 *   },
 *   {
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         Response.json({ client_id: "c1", ...JSON.parse(body ?? "") }),
 *       ),
 *   },
 * );
 * assertEquals([client.issuer, client.client_id], ["https://as.example", "c1"]);
 * ```
 *
 * @category Clients
 */
export async function registerClient(
  serverMetadata: ServerMetadata,
  request: IAuthorizationDynamicClientRegistrationRequest,
  options?: RegisterClientOptions,
): Promise<KnownClient> {
  const context = contextOf(options);
  const { headers } = options ?? {};
  return await registerWith(context, serverMetadata, request, { headers });
}

export async function registerWith(
  context: Context,
  serverMetadata: Parameters<typeof registerClient>[0],
  request: IAuthorizationDynamicClientRegistrationRequest,
  { headers, hintFor }: RegistrationPost,
): Promise<KnownClient> {
  const { issuer, token_endpoint_auth_methods_supported } = serverMetadata;
  requireNonEmptyString("serverMetadata.issuer", issuer);
  const url = requireEndpoint(
    serverMetadata,
    "registration_endpoint",
    context.allowHttp,
  );
  const listed = stringsIn(token_endpoint_auth_methods_supported);
  const method = request.token_endpoint_auth_method ?? authMethodFor(listed);
  const metadata = {
    ...request,
    application_type: request.application_type ??
      applicationTypeOf(request.redirect_uris),
    token_endpoint_auth_method: method,
  };
  const json = "application/json";
  const registration = await postRegistration(
    context,
    url,
    metadata,
    {
      headers: mergeHeaders({ Accept: json, "Content-Type": json }, headers),
      hintFor,
    },
  );
  const configuration = receivedConfiguration(
    registration as unknown as Members,
    issuer,
    url,
  );
  // From now on, errors must not repeat this secret.
  context.sent.push(configuration.registration_access_token ?? "");
  const client = clientIn(registration, issuer, {
    requested: method,
    listed,
    configuration,
  });
  if (client) {
    const { client_id } = client;
    report(context, { type: "registered", issuer, client_id });
    return client;
  }
  throw errorOf(
    context,
    "invalid_response",
    words`Registration at ${{ url }} returned no client_id that is a \
non-empty string`,
    { url },
  );
}
