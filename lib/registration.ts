/**
 * Dynamic client registration (RFC 7591).
 *
 * @module
 */

import { requireObject, requireText, requireTexts } from "./_arguments.ts";
import { exchange, mergeHeaders, requireOptions } from "./_http.ts";
import {
  type IReply,
  parseJson,
  quoteJson,
  quoteServerText,
} from "./_reply.ts";
import {
  AUTH_SCOPE_SEPARATOR,
  DEFAULT_CLIENT_URI,
  DEFAULT_REDIRECT_URIS,
  REGISTRATION_GRANT_TYPES,
} from "./constants.ts";
import { OAuthClientError } from "./errors.ts";
import {
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationRegistrationErrorResponse,
} from "./guards.ts";
import type { IRequestOptions } from "./request_options.ts";
import type {
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationServerMetadata,
} from "./types.ts";

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
function textOf(value: unknown): string | undefined {
  return value === undefined || typeof value === "string"
    ? value
    : quoteJson(value);
}

/** The error of a reply that is not 2xx. */
async function refusalOf(
  endpoint: string,
  reply: IReply,
): Promise<OAuthClientError> {
  const body = parseJson(await reply.body() ?? "");
  const failed = `Registration to ${endpoint} failed: `;
  if (!isAuthorizationRegistrationErrorResponse(body)) {
    return reply.error(
      "unexpected_status",
      failed + quoteServerText(await reply.text()),
    );
  }
  const error = textOf(body.error) ?? "";
  const error_description = textOf(body.error_description);
  const details = error_description ? `${error}: ${error_description}` : error;
  return reply.error("server_error", failed + quoteServerText(details), {
    error,
    error_description,
  });
}

/** Client metadata as it is sent. */
function toJson(client: unknown): string {
  try {
    return JSON.stringify(client);
  } catch (cause) {
    throw new OAuthClientError(
      "invalid_argument",
      "clientMetadata must be fit for JSON",
      { cause },
    );
  }
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
 * empty. `network_error`: no reply came. `url_refused`: the endpoint is not an
 * http or https URL without credentials.
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
  return await exchange(
    {
      url: requireText("registration_endpoint", endpoint),
      headers: mergeHeaders({ "Content-Type": "application/json" }, headers),
      body: toJson(client),
    },
    requestOptions,
    async (reply) => {
      if (!reply.ok) throw await refusalOf(endpoint, reply);
      const body = await reply.json();
      if (isAuthorizationDynamicClientRegistrationResponse(body)) return body;
      throw reply.error(
        "invalid_response",
        "Invalid authorization dynamic client registration response: " +
          quoteJson(body),
      );
    },
  );
}
