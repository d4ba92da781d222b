/**
 * The flow without a user: the client credentials grant.
 *
 * @module
 */

import { requireObject } from "../core/_arguments.ts";
import { requireBoundClient } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import { buildClientCredentialsBody } from "../token/grant_body.ts";
import {
  requireFlowNames,
  userlessScopesOf,
  withoutUser,
} from "./_flow_parameters.ts";
import { grantOf, sessionWith } from "./_new_session.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import type { Flow, FlowOptions } from "./flow.ts";
import { sessionContextOf } from "../session/session.ts";

/** Options of {@linkcode clientCredentialsFlow}. */
export interface ClientCredentialsFlowOptions extends
  Pick<
    FlowOptions,
    "scopes" | "authorizationDetails" | "parameters" | "resourceIndicator"
  > {
  /** The client with its credentials, and the issuer that they belong to. */
  client: Client;
}

/** The options; the compiler reports one that is missing. */
const OPTIONS: Record<keyof ClientCredentialsFlowOptions, true> = {
  client: true,
  scopes: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
};

/**
 * Creates the client credentials flow, for {@linkcode createAuthorizedFetch}: a service
 * acts on its own behalf, without a user.
 *
 * @param options The client with its credentials, and what to request.
 * @throws {OAuthClientError} `invalid_argument`: the client has no `issuer`. Without
 * it, any server that the resource lists would receive the credentials. The function
 * that is returned throws as {@linkcode fetchToken}.
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
 *   flow: clientCredentialsFlow({
 *     client: clientSecretBasic("service", "s3cret", {
 *       issuer: "https://as.example",
 *     }),
 *     scopes: ["reports"],
 *   }),
 * });
 * ```
 *
 * @category Flows
 */
export function clientCredentialsFlow(
  options: ClientCredentialsFlowOptions,
): Flow {
  const { client, authorizationDetails, parameters } = requireObject(
    "options",
    options,
  );
  requireFlowNames(options, OPTIONS, "clientCredentialsFlow");
  requireBoundClient(requireObject("client", client));
  return withoutUser(client, async (request) => {
    const context = { ...sessionContextOf(request), client };
    const scopes = userlessScopesOf(request, options);
    const grant = grantOf(request.context, options, client, scopes);
    const body = buildClientCredentialsBody({
      resource: requestedResource(grant),
      scopes,
      authorizationDetails,
      parameters,
    });
    return await sessionWith(context, grant, body);
  });
}
