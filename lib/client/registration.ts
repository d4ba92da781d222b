/**
 * Dynamic client registration (RFC 7591).
 *
 * @module
 */

import {
  requireObject,
  requireText,
  requireTexts,
  textsIn,
} from "../core/_arguments.ts";
import { requireEndpoint } from "../core/_endpoint.ts";
import { exchange, mergeHeaders, requireOptions } from "../http/_request.ts";
import { type IReply, parseJson, quoteServerText } from "../http/_response.ts";
import { parseUrl } from "../core/_url.ts";
import {
  AUTH_SCOPE_SEPARATOR,
  DEFAULT_CLIENT_URI,
  DEFAULT_REDIRECT_URIS,
  REGISTRATION_GRANT_TYPES,
} from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import {
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationRegistrationErrorResponse,
} from "../core/guards.ts";
import type { IKnownClient } from "./selection.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import type {
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationRegistrationErrorResponse,
  IAuthorizationServerMetadata,
} from "../core/types.ts";

/** Options of {@linkcode fetchDynamicRegistration}. */
export interface IFetchDynamicRegistrationOptions extends IRequestOptions {
  /** Home page of your client; {@linkcode DEFAULT_CLIENT_URI} when absent. */
  clientUri?: string | undefined;
  /** Where users come back to; {@linkcode DEFAULT_REDIRECT_URIS} when absent. */
  redirectUris?: readonly string[] | undefined;
  /** Further members of the request; they win over the library's own. */
  clientMetadata?: IAuthorizationDynamicClientRegistrationRequest | undefined;
}

/** A member of a refusal as text; servers send other things as well. */
function textOf(reply: IReply, value: unknown): string | undefined {
  return value === undefined || typeof value === "string"
    ? value
    : reply.quoteJson(value);
}

/** The error of a reply that is not 2xx. */
async function refusalOf(
  endpoint: string,
  reply: IReply,
): Promise<OAuthClientError> {
  const body = parseJson(await reply.body() ?? "");
  const failed = `Registration to ${quoteServerText(endpoint)} failed: `;
  if (!isAuthorizationRegistrationErrorResponse(body)) {
    return reply.error(
      "unexpected_status",
      failed + reply.quote(await reply.text()),
    );
  }
  const error = textOf(reply, body.error) ?? "";
  const error_description = textOf(reply, body.error_description);
  const details = error_description ? `${error}: ${error_description}` : error;
  return reply.error("server_error", failed + reply.quote(details), {
    error,
    error_description,
  });
}

/** Client metadata as it is sent. */
function toJson(name: string, client: unknown): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(client);
  } catch (failure) {
    cause = failure;
  }
  if (json?.startsWith("{")) return json;
  throw new OAuthClientError(
    "invalid_argument",
    `${name} must be fit for JSON`,
    { cause },
  );
}

function supportedGrantTypes(
  { grant_types_supported }: IAuthorizationServerMetadata,
): string[] {
  return Array.isArray(grant_types_supported)
    ? grant_types_supported.filter((type) =>
      REGISTRATION_GRANT_TYPES.includes(type)
    )
    : [...REGISTRATION_GRANT_TYPES];
}

/**
 * Registers a public native client.
 *
 * Asks for the code, refresh and device grants, as far as the server lists them;
 * response type `code`; no client authentication. No credentials are sent unless
 * `options.headers` has them, and a redirect is not followed. Give your own
 * `clientUri` and `redirectUris`: the https addresses of the defaults belong to
 * nobody.
 *
 * @param serverMetadata Metadata with a `registration_endpoint`.
 * @param clientName Name of the client to show to people.
 * @param scopes Scope values that the client may ask for; none are named when
 * undefined.
 * @param options The client's addresses, further client metadata, and what every
 * request takes.
 * @returns The registration; of its members only `client_id` is certain.
 * @throws {OAuthClientError} `unsupported`: no `registration_endpoint`.
 * `server_error`: the server refused and said why in `error`.
 * `unexpected_status`: it refused without a reason. `invalid_response`: the reply
 * has no `client_id`. `invalid_argument`: an argument has the wrong type or is
 * empty. `network_error`: no reply came.
 * @see RFC 7591, section 3; OpenID Connect Dynamic Client Registration 1.0.
 *
 * @example Register with your own redirect URI
 * ```ts
 * import { fetchDynamicRegistration } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const registration = await fetchDynamicRegistration(
 *   {
 *     issuer: "https://as.example",
 *     registration_endpoint: "https://as.example/register",
 *     response_types_supported: ["code"],
 *   },
 *   "My client",
 *   ["read"],
 *   {
 *     clientUri: "https://my-client.example/",
 *     redirectUris: ["http://127.0.0.1:8123/callback"],
 *     // Stands in for the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         Response.json({ client_id: "c1", ...JSON.parse(body ?? "") }),
 *       ),
 *   },
 * );
 * assertEquals(registration.client_id, "c1");
 * assertEquals(registration.redirect_uris, ["http://127.0.0.1:8123/callback"]);
 * ```
 */
export async function fetchDynamicRegistration(
  serverMetadata: IAuthorizationServerMetadata,
  clientName: string,
  scopes?: readonly string[],
  options?: IFetchDynamicRegistrationOptions,
): Promise<IAuthorizationDynamicClientRegistrationResponse> {
  const endpoint = requireObject("serverMetadata", serverMetadata)
    .registration_endpoint;
  if (!endpoint) {
    throw new OAuthClientError(
      "unsupported",
      "Server does not support dynamic registration",
    );
  }
  const {
    clientUri,
    redirectUris,
    clientMetadata,
    headers,
    ...requestOptions
  } = requireOptions(options);
  const client: IAuthorizationDynamicClientRegistrationRequest = {
    client_name: requireText("clientName", clientName),
    client_uri: requireText("clientUri", clientUri ?? DEFAULT_CLIENT_URI),
    grant_types: supportedGrantTypes(serverMetadata),
    response_types: ["code"],
    redirect_uris: [
      ...requireTexts("redirectUris", redirectUris ?? DEFAULT_REDIRECT_URIS),
    ],
    ...(scopes && {
      scope: requireTexts("scopes", scopes).join(AUTH_SCOPE_SEPARATOR),
    }),
    token_endpoint_auth_method: "none",
    application_type: "native",
    ...requireObject("clientMetadata", clientMetadata ?? {}),
  };
  return await postRegistration(
    requireText("registration_endpoint", endpoint),
    mergeHeaders({ "Content-Type": "application/json" }, headers),
    toJson("clientMetadata", client),
    requestOptions,
  );
}

async function postRegistration(
  url: string,
  headers: Record<string, string>,
  body: string,
  options: IRequestOptions,
): Promise<IAuthorizationDynamicClientRegistrationResponse> {
  const request = { url, purpose: "registration", headers, body } as const;
  return await exchange(request, options, async (reply) => {
    if (!reply.ok) throw await refusalOf(url, reply);
    const body = await reply.json();
    if (isAuthorizationDynamicClientRegistrationResponse(body)) return body;
    // Some servers refuse with a 200.
    const { error, error_description } =
      isAuthorizationRegistrationErrorResponse(body)
        ? body
        : {} as IAuthorizationRegistrationErrorResponse;
    throw reply.error(
      error === undefined ? "invalid_response" : "server_error",
      "Invalid authorization dynamic client registration response: " +
        reply.quoteJson(body),
      {
        error: textOf(reply, error),
        error_description: textOf(reply, error_description),
      },
    );
  });
}

/** Options of {@linkcode registerClient}. */
export interface IRegisterClientOptions extends IRequestOptions {
  /** Takes an http endpoint that is not on loopback. */
  allowHttp?: boolean | undefined;
}

/** `native` for what comes back to a program, `web` for what comes to a site. */
function applicationTypeOf(redirectUris: unknown): "native" | "web" {
  const isWeb = (uri: unknown) => parseUrl(String(uri))?.protocol === "https:";
  return Array.isArray(redirectUris) && redirectUris.length > 0 &&
      redirectUris.every(isWeb)
    ? "web"
    : "native";
}

/** A way of authenticating, where the server does not take the default one. */
function authMethodFor(
  { token_endpoint_auth_methods_supported: listed }:
    IAuthorizationServerMetadata,
): IAuthorizationDynamicClientRegistrationRequest {
  const methods = textsIn(listed) ?? ["client_secret_basic"];
  const method = ["client_secret_basic", "client_secret_post", "none"]
    .find((one) => methods.includes(one));
  return method === undefined || method === "client_secret_basic"
    ? {}
    : { token_endpoint_auth_method: method };
}

/**
 * Registers a client with the metadata given. Two members are added where they
 * are missing: `application_type`, which is `web` when every redirect URI is https
 * and else `native`; and `token_endpoint_auth_method`, where the server does not
 * list the default, `client_secret_basic`.
 *
 * The answer names the issuer that it belongs to. Keep it as it is, and hand it to
 * {@linkcode selectClient} next time; an `invalid_client` from a token request
 * later on means that the server has forgotten it.
 *
 * @param serverMetadata Metadata with a `registration_endpoint`.
 * @param request Client metadata. To be given refresh tokens, list
 * `refresh_token` in `grant_types`.
 * @returns The registration with its `issuer`; `client_id` is a string with
 * something in it.
 * @throws {OAuthClientError} As {@linkcode fetchDynamicRegistration};
 * `url_refused`: the endpoint is not https, nor http on loopback.
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
 *     response_types_supported: ["code"],
 *   },
 *   {
 *     client_name: "My client",
 *     redirect_uris: ["http://127.0.0.1:8123/callback"],
 *     grant_types: ["authorization_code", "refresh_token"],
 *     token_endpoint_auth_method: "none",
 *   },
 *   {
 *     // Stands in for the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         Response.json({ client_id: "c1", ...JSON.parse(body ?? "") }),
 *       ),
 *   },
 * );
 * assertEquals(client.client_id, "c1");
 * ```
 */
export async function registerClient(
  serverMetadata: IAuthorizationServerMetadata,
  request: IAuthorizationDynamicClientRegistrationRequest,
  options?: IRegisterClientOptions,
): Promise<IKnownClient> {
  const { allowHttp, headers, ...requestOptions } = requireOptions(options);
  const { redirect_uris } = requireObject("request", request);
  const url = requireEndpoint(
    requireObject("serverMetadata", serverMetadata),
    "registration_endpoint",
    allowHttp,
  );
  const registration = await postRegistration(
    url,
    mergeHeaders({
      Accept: "application/json",
      "Content-Type": "application/json",
    }, headers),
    toJson("request", {
      ...authMethodFor(serverMetadata),
      ...request,
      application_type: request.application_type ??
        applicationTypeOf(redirect_uris),
    }),
    requestOptions,
  );
  if (typeof registration.client_id !== "string" || !registration.client_id) {
    throw new OAuthClientError(
      "invalid_response",
      `Registration at ${
        quoteServerText(url)
      } gave a client_id that is not a text`,
      { url },
    );
  }
  return { ...registration, issuer: serverMetadata.issuer };
}
