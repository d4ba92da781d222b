import { requireObject } from "../core/_arguments.ts";
import { numberMember, stringMember } from "../core/_members.ts";
import { requireEndpoint } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { authenticationOf } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import type { FormRequestOptions } from "./form_options.ts";
import { words } from "../http/_error.ts";
import {
  type AuthorizationQuery,
  authorizationQuery,
  boundParameters,
  endpointUrl,
} from "./_authorization_parameters.ts";
import { requestedOf } from "./_form.ts";
import { postForm, unusableResponse } from "./_form_post.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import type { AuthorizationParameters } from "./authorization_parameters.ts";

/** Options of {@linkcode pushAuthorizationRequest}. */
export interface PushAuthorizationRequestOptions extends FormRequestOptions {
  /** The client and its credentials; the request must identify the client. */
  client: Client;
  /** Accepts a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/**
 * An authorization request that the server has stored.
 *
 * @category Messages of the protocol
 */
export interface PushedAuthorization {
  /** Reference to the request. It can be used once. */
  requestUri: string;
  /** When the reference expires, in seconds since the Unix epoch. */
  expires_at: number;
  /** The URL to open in the user's browser, with the reference. */
  url: URL;
}

/**
 * Sends an authorization request to the server and returns the URL for the user's
 * browser, with only `client_id` and `request_uri`.
 *
 * The parameters are those in {@linkcode buildAuthorizationUrl};
 * {@linkcode parseAuthorizationResponse} parses the response. With `dpop`, the code is
 * bound to the key by a proof and `dpop_jkt`: pass the same `dpop` to the token
 * request. {@linkcode startAuthorization} pushes its request if the server requires it.
 *
 * @param serverMetadata Metadata with a `pushed_authorization_request_endpoint` and an
 * `authorization_endpoint`.
 * @param parameters The parameters of the authorization request.
 * @param options The client authentication, DPoP, and the options of every request.
 * @throws {OAuthClientError} `unsupported`: an endpoint is missing, or there is no PKCE
 * with `S256`. `invalid_response`: no `request_uri`, or no positive `expires_in`.
 * `oauth_error`: the server returned an error, such as `invalid_request` or
 * `invalid_redirect_uri`. `invalid_argument`: `parameters` contains one of the
 * parameters that this function sets. Other codes as for {@linkcode fetchToken}.
 * @see RFC 9126, sections 2 and 4; RFC 9449, section 10.1.
 *
 * @example Push a request, then redirect the user
 * ```ts
 * import {
 *   createPkcePair,
 *   createState,
 *   publicClient,
 *   pushAuthorizationRequest,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { codeChallenge } = await createPkcePair();
 * const { url } = await pushAuthorizationRequest(
 *   {
 *     issuer: "https://as.example",
 *     authorization_endpoint: "https://as.example/authorize",
 *     pushed_authorization_request_endpoint: "https://as.example/par",
 *     code_challenge_methods_supported: ["S256"],
 *   },
 *   {
 *     redirectUri: "http://127.0.0.1:8123/callback",
 *     state: createState(),
 *     codeChallenge,
 *     scopes: ["read"],
 *   },
 *   {
 *     client: publicClient("c1"),
 *     // Replaces the server.
 *     fetch: () =>
 *       Promise.resolve(
 *         Response.json({ request_uri: "urn:r:1", expires_in: 60 }, { status: 201 }),
 *       ),
 *   },
 * );
 * assertEquals(
 *   url.href,
 *   "https://as.example/authorize?client_id=c1&request_uri=urn%3Ar%3A1",
 * );
 * ```
 *
 * @category Messages of the protocol
 */
export async function pushAuthorizationRequest(
  serverMetadata: ServerMetadata,
  parameters: AuthorizationParameters,
  options: PushAuthorizationRequestOptions,
): Promise<PushedAuthorization> {
  const { client, assumePkce } = requireObject("options", options);
  requireObject("options.client", client);
  const context = { ...grantContextOf(options), client };
  return await pushWith(
    context,
    requireObject("serverMetadata", serverMetadata),
    {
      ...requestedOf({ ...parameters, resource: undefined }),
      resource: parameters.resource,
      parameters: boundParameters(parameters.parameters, context.dpop),
      redirectUri: parameters.redirectUri,
      state: parameters.state,
      codeChallenge: parameters.codeChallenge,
      assumePkce,
    },
  );
}

/**
 * Pushes the parameters of {@linkcode boundParameters}. See
 * {@linkcode pushAuthorizationRequest}.
 */
export async function pushWith(
  context: GrantContext & { readonly client: Client },
  serverMetadata: Parameters<typeof pushAuthorizationRequest>[0],
  parameters: Omit<AuthorizationQuery, "clientId">,
): Promise<PushedAuthorization> {
  const { client, allowHttp, now } = context;
  const { clientId } = authenticationOf(client, serverMetadata);
  // Checked first, because the result is useless without it.
  const endpoint = requireEndpoint(
    serverMetadata,
    "authorization_endpoint",
    allowHttp,
  );
  const form = authorizationQuery(serverMetadata, { ...parameters, clientId });
  const { members, response } = await postForm(
    context,
    serverMetadata,
    "pushed_authorization_request_endpoint",
    form,
  );
  const requestUri = stringMember(members, "request_uri");
  const expiresIn = numberMember(members, "expires_in") ?? 0;
  if (requestUri === undefined || expiresIn <= 0) {
    const problem = words`has no usable request_uri or expires_in`;
    throw unusableResponse(context, response, "Pushed authorization", problem);
  }
  return {
    requestUri,
    expires_at: Math.floor(now() / 1000 + expiresIn),
    url: endpointUrl(
      endpoint,
      new URLSearchParams({ client_id: clientId, request_uri: requestUri }),
    ),
  };
}
