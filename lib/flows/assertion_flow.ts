/**
 * The flow of a workload. Its platform issues an assertion of its identity, and the
 * authorization server exchanges the assertion for a token.
 *
 * @module
 */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { readClaims } from "../core/_jwt.ts";
import { parseUrl } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { errorOf, words } from "../http/_error.ts";
import { requireBoundClient } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import { buildJwtBearerBody } from "../token/grant_body.ts";
import {
  requireFlowNames,
  userlessScopesOf,
  withoutUser,
} from "./_flow_parameters.ts";
import { grantOf, sessionWith } from "./_new_session.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import type { Flow, FlowOptions } from "./flow.ts";
import { sessionContextOf } from "../session/session.ts";

/**
 * The argument of {@linkcode AssertionFlowOptions.getAssertion}.
 *
 * @category Flows
 */
export interface AssertionRequest {
  /** Issuer identifier of the authorization server: the `aud` of the assertion. */
  audience: string;
  /** URL of the token endpoint, which some servers expect as `aud`. */
  tokenEndpoint?: string | undefined;
  /** Identifier of the resource that the token will be for. */
  resource: string;
  /** The scopes that will be requested. */
  scopes: string[];
  /** Aborts when no caller waits for the session any more. */
  signal?: AbortSignal | undefined;
}

/** Options of {@linkcode assertionFlow}. */
export interface AssertionFlowOptions extends
  Pick<
    FlowOptions,
    "scopes" | "authorizationDetails" | "parameters" | "resourceIndicator"
  > {
  /**
   * The client, with the issuer that it is registered with. Without it, the request
   * contains no `client_id`, for a server that needs only the assertion.
   */
  client?: Client | undefined;
  /** Returns a JWT of an issuer that the server trusts. Called for each token. */
  getAssertion: (request: AssertionRequest) => string | Promise<string>;
}

/**
 * Checks whether a server is the audience of a JWT (RFC 7523, section 3). A server can
 * publish the token endpoint of another one, whose token would then go to the resource
 * that selected the server: so the endpoint counts only on the origin of the issuer.
 */
function isFor(
  assertion: string,
  { issuer, token_endpoint = "" }: ServerMetadata,
): boolean {
  const isOwn = parseUrl(token_endpoint)?.origin === parseUrl(issuer)?.origin;
  const { aud } = readClaims(assertion) ?? {};
  return [aud].flat().some((one) =>
    typeof one === "string" &&
    (isSameIssuer(one, issuer) || (isOwn && one === token_endpoint))
  );
}

/** The options; the compiler reports one that is missing. */
const OPTIONS: Record<keyof AssertionFlowOptions, true> = {
  client: true,
  getAssertion: true,
  scopes: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
};

/**
 * Creates the flow of a workload, for {@linkcode createAuthorizedFetch}. The platform
 * of the workload, such as a CI service, a cluster or a cloud, issues an assertion,
 * which is exchanged for a token. No secret has to be stored, and no user is needed.
 *
 * The resource selects the server. So an assertion is only sent if its `aud` is the
 * issuer of that server or a token endpoint on its origin, or if `client` has this
 * issuer.
 *
 * If the server rejects the assertion, the error is thrown: the request is not
 * repeated, and no other grant is tried. A refresh token of the server is not used.
 *
 * @param options The client, and where the assertion comes from.
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid, or `client` has
 * credentials and no issuer. The function that is returned throws `issuer_mismatch` if
 * the assertion is for another server, other codes as for {@linkcode fetchToken}, and
 * what `getAssertion` throws.
 * @see RFC 7523, sections 2.1 and 3; RFC 7521, section 4.1.
 *
 * @example Call a resource from a Kubernetes pod
 * ```ts
 * import { assertionFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { readFile } from "node:fs/promises";
 *
 * // The projected service account token, whose audience is the issuer.
 * const path = "/var/run/secrets/tokens/as-example";
 *
 * export const api = createAuthorizedFetch("https://api.example/reports", {
 *   flow: assertionFlow({
 *     client: { issuer: "https://as.example", client_id: "my-workload" },
 *     getAssertion: async () => (await readFile(path, "utf8")).trim(),
 *   }),
 * });
 * ```
 *
 * @category Flows
 */
export function assertionFlow(options: AssertionFlowOptions): Flow {
  const { client, getAssertion, authorizationDetails, parameters } =
    requireObject("options", options);
  requireFlowNames(options, OPTIONS, "assertionFlow");
  requireBoundClient(client);
  requireArgument(
    typeof getAssertion === "function",
    "getAssertion",
    "a function",
  );
  return withoutUser(client, async (request) => {
    const { resource, issuer, serverMetadata } = request.context;
    const context = { ...sessionContextOf(request), client };
    const scopes = userlessScopesOf(request, options);
    const grant = grantOf(request.context, options, client, scopes);
    const assertion = await getAssertion({
      audience: issuer,
      tokenEndpoint: serverMetadata.token_endpoint,
      resource,
      scopes: [...scopes],
      signal: request.signal,
    });
    const body = buildJwtBearerBody({
      assertion,
      resource: requestedResource(grant),
      scopes,
      authorizationDetails,
      parameters,
    });
    if (client?.issuer === undefined && !isFor(assertion, serverMetadata)) {
      throw errorOf(
        context,
        "issuer_mismatch",
        words`The assertion is not for ${{ url: issuer }}: its aud is neither \
that issuer nor a token endpoint on its origin, and client does not name the \
issuer`,
      );
    }
    return await sessionWith(context, grant, body);
  });
}
