/**
 * The flows by which {@linkcode createAuthorizedFetch} comes to a session.
 *
 * @module
 */

import {
  invalidArgument,
  optionalFunction,
  requireArgument,
  requireObject,
} from "../core/_arguments.ts";
import { selectScopes } from "../core/scopes.ts";
import type { IClientAuthentication } from "../client/authentication.ts";
import { selectClientAuthentication } from "../client/authentication_selection.ts";
import {
  fetchDeviceAuthorization,
  type IDeviceAuthorization,
  type IPollDeviceTokenOptions,
  pollDeviceToken,
} from "../token/device_flow.ts";
import { buildClientCredentialsBody } from "../token/grant_body.ts";
import { fetchToken } from "../token/token_request.ts";
import {
  clientFor,
  clientOf,
  parametersOf,
  scopesOf,
} from "./_flow_request.ts";
import { newSession } from "./_new_session.ts";
import {
  finishAuthorization,
  type IPendingAuthorization,
  startAuthorization,
} from "./authorization.ts";
import type { Authorize, IFlowOptions } from "./authorize_request.ts";

/** Options of {@linkcode codeFlow}. */
export interface ICodeFlowOptions extends IFlowOptions {
  /** Redirect URI, or a function that prepares one. */
  redirectUri: string | (() => string | Promise<string>);
  /**
   * Sends the user to the URL and returns the URL that the user was redirected to.
   * A web server stores `pending` and throws its redirect.
   */
  visit: (
    url: URL,
    authorization: IVisit,
  ) => Promise<string | URL | URLSearchParams | Request>;
  /** Continues with a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Pushes the authorization request to the server (RFC 9126).
   *
   * @default {`require_pushed_authorization_requests` of the server metadata}
   */
  par?: boolean | undefined;
}

/** The second argument of {@linkcode ICodeFlowOptions.visit}. */
export interface IVisit {
  /** What {@linkcode finishAuthorization} needs, if another process calls it. */
  pending: IPendingAuthorization;
  /** Aborts when no caller waits any more, and when a session is saved or revoked. */
  signal?: AbortSignal | undefined;
}

/** Options of {@linkcode deviceFlow}. */
export interface IDeviceFlowOptions
  extends IFlowOptions, Pick<IPollDeviceTokenOptions, "onPending" | "delay"> {
  /** Shows the code and the URL to the user. */
  show: (authorization: IDeviceAuthorization) => void | Promise<void>;
}

/** Options of {@linkcode clientCredentialsFlow}. */
export interface IClientCredentialsFlowOptions extends
  Pick<
    IFlowOptions,
    "scopes" | "authorizationDetails" | "parameters" | "resource"
  > {
  /** The client with its credentials and its `issuer`. */
  client: IClientAuthentication;
}

/**
 * Creates the authorization code flow with PKCE, for
 * {@linkcode createAuthorizedFetch}. A registration is made if no client is known,
 * and kept with the session.
 *
 * A web server uses it as well: `visit` stores `pending` by user and `state`, and
 * throws its redirect, which reaches the caller of the fetch unchanged. The callback
 * calls {@linkcode finishAuthorization} and saves the session.
 *
 * @param options The client, the redirect URI, and how the user visits a URL.
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid. The
 * function that is returned throws as {@linkcode ensureClient},
 * {@linkcode startAuthorization} and {@linkcode finishAuthorization}.
 * @see RFC 6749, section 4.1; RFC 7636; RFC 8252.
 *
 * @example Let the user paste the URL of the last page
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 *
 * export const api = createAuthorizedFetch("https://api.example/mcp", {
 *   authorize: codeFlow({
 *     clientMetadata: { client_name: "My client" },
 *     redirectUri: "http://127.0.0.1:33418/callback",
 *     visit: (url) => {
 *       console.log(`Open ${url}`);
 *       return Promise.resolve(prompt("URL of the last page:") ?? "");
 *     },
 *   }),
 * });
 * ```
 */
export function codeFlow(options: ICodeFlowOptions): Authorize {
  const { redirectUri, visit, assumePkce, par, ...flow } = requireObject(
    "options",
    options,
  );
  const { offlineAccess, authorizationDetails, resource } = flow;
  requireArgument(typeof visit === "function", "visit", "a function");
  return async (request) => {
    const { context, signal, client } = request;
    const uri = typeof redirectUri === "function"
      ? await redirectUri()
      : redirectUri;
    const { url, pending } = await startAuthorization(context, {
      ...request,
      clientAuthentication: client,
      client: await clientFor(request, options, uri),
      redirectUri: uri,
      scopes: scopesOf(request, options),
      parameters: parametersOf(request, options),
      offlineAccess,
      authorizationDetails,
      resource,
      assumePkce,
      par,
    });
    signal?.throwIfAborted();
    const callback = await visit(url, { pending, signal });
    return await finishAuthorization(callback, pending, request);
  };
}

/**
 * Creates the device flow, for {@linkcode createAuthorizedFetch}: the user signs in
 * on another device. A registration is made if no client is known, and kept with
 * the session.
 *
 * @param options The client, and how the code is displayed to the user.
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid. The
 * function that is returned throws as {@linkcode ensureClient},
 * {@linkcode fetchDeviceAuthorization} and {@linkcode pollDeviceToken}.
 * @see RFC 8628.
 *
 * @example Show the code in a terminal
 * ```ts
 * import { createAuthorizedFetch, deviceFlow } from "@oauth-helper/client";
 *
 * export const api = createAuthorizedFetch("https://api.example/mcp", {
 *   authorize: deviceFlow({
 *     clientMetadata: { client_name: "My client" },
 *     show: ({ verification_uri, user_code }) =>
 *       console.log(`Open ${verification_uri} and enter ${user_code}`),
 *   }),
 * });
 * ```
 */
export function deviceFlow(options: IDeviceFlowOptions): Authorize {
  const { show, onPending, delay } = requireObject("options", options);
  requireArgument(typeof show === "function", "show", "a function");
  optionalFunction("onPending", onPending);
  optionalFunction("delay", delay);
  return async (request) => {
    const { resource, serverMetadata } = request.context;
    const client = await clientFor(request, options);
    const scopes = selectScopes({
      resourceMetadata: { scopes_supported: scopesOf(request, options) },
      serverMetadata,
      offlineAccess: options.offlineAccess,
    }) ?? [];
    const target = options.resource ?? resource;
    const common = {
      ...request,
      // Those of the authorization apply.
      scopes: undefined,
      client: request.client ??
        selectClientAuthentication(serverMetadata, client),
      resource: target,
    };
    const authorization = await fetchDeviceAuthorization(serverMetadata, {
      ...common,
      scopes,
      authorizationDetails: options.authorizationDetails,
      parameters: parametersOf(request, options),
    });
    request.signal?.throwIfAborted();
    await show(authorization);
    const token = await pollDeviceToken(serverMetadata, authorization, {
      ...common,
      onPending,
      delay,
    });
    const grant = { resource, serverMetadata, client, scopes };
    return newSession(
      { ...grant, ...(target === false && { omitResource: true }) },
      token,
      request.dpop,
    );
  };
}

/**
 * Creates the client credentials flow, for {@linkcode createAuthorizedFetch}: a
 * service that acts for itself, without a user.
 *
 * @param options The client with its credentials, and what to request.
 * @throws {OAuthClientError} `invalid_argument`: the client does not name its issuer,
 * without which any server that the resource names would receive the credentials.
 * The function that is returned throws as {@linkcode fetchToken}.
 * @see RFC 6749, section 4.4.
 *
 * @example Call a resource as a service
 * ```ts
 * import {
 *   clientCredentialsFlow,
 *   clientSecretBasic,
 *   createAuthorizedFetch,
 * } from "@oauth-helper/client";
 *
 * export const api = createAuthorizedFetch("https://api.example/reports", {
 *   authorize: clientCredentialsFlow({
 *     client: clientSecretBasic("service", "s3cret", {
 *       issuer: "https://as.example",
 *     }),
 *     scopes: ["reports"],
 *   }),
 * });
 * ```
 */
export function clientCredentialsFlow(
  options: IClientCredentialsFlowOptions,
): Authorize {
  const { client, authorizationDetails, parameters } = requireObject(
    "options",
    options,
  );
  if (typeof requireObject("client", client).issuer !== "string") {
    throw invalidArgument(
      "client",
      "bound to an issuer (set the option issuer of the client)",
    );
  }
  return async (request) => {
    const { resource, serverMetadata } = request.context;
    const scopes = scopesOf(request, options);
    const target = options.resource ?? resource;
    const body = buildClientCredentialsBody({
      resource: target,
      scopes,
      authorizationDetails,
      parameters,
    });
    const token = await fetchToken(serverMetadata, body, {
      ...request,
      client,
    });
    // A new token costs no more than a refresh (RFC 6749, section 4.4.3).
    delete token.refresh_token;
    const known = clientOf(client, request.context);
    const grant = { resource, serverMetadata, client: known, scopes };
    return newSession(
      { ...grant, ...(target === false && { omitResource: true }) },
      token,
      request.dpop,
    );
  };
}
