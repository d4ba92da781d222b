/**
 * The flow without a user: the client credentials grant.
 *
 * @module
 */

import { invalidArgument, requireObject } from "../core/_arguments.ts";
import type { Client } from "../client/known_client.ts";
import { buildClientCredentialsBody } from "../token/grant_body.ts";
import { fetchToken } from "../token/token.ts";
import { clientOf, scopesOf } from "./_flow_parameters.ts";
import { newSession } from "./_new_session.ts";
import type { Authorize, IFlowOptions } from "./flow.ts";
import { sessionOptionsOf } from "./session.ts";

/** Options of {@linkcode clientCredentialsFlow}. */
export interface IClientCredentialsFlowOptions extends
  Pick<
    IFlowOptions,
    "scopes" | "authorizationDetails" | "parameters" | "resource"
  > {
  /** The client with its credentials and its `issuer`. */
  client: Client;
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
      ...sessionOptionsOf(request),
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
