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
  /** The client with its credentials and their issuer. */
  client: Client;
}

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof ClientCredentialsFlowOptions, true> = {
  client: true,
  scopes: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
};

/**
 * Creates the client credentials flow: a service acts on its own behalf, without a
 * user.
 *
 * @param options The client with its credentials and issuer, and the requested access.
 * @throws {OAuthClientError} `invalid_argument`: the client has no `issuer`, so any
 * server that the resource lists would receive the credentials. Calls throw as
 * {@linkcode fetchToken}.
 * @see RFC 6749, section 4.4.
 * @example Obtain tokens for a service
 * ```ts
 * import { clientCredentialsFlow, clientSecretBasic } from "@oauth-helper/client";
 *
 * const issuer = "https://as.example";
 * const client = clientSecretBasic("service", "s3cret", { issuer });
 * const flow = clientCredentialsFlow({ client, scopes: ["reports"] });
 * ```
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
