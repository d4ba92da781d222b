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
   * The client, with its issuer. Without it, the request contains no `client_id`, for a
   * server that needs only the assertion.
   */
  client?: Client | undefined;
  /** Returns a JWT of an issuer that the server trusts. Called for each token. */
  getAssertion: (request: AssertionRequest) => string | Promise<string>;
}

/**
 * Checks whether a server is the audience of a JWT (RFC 7523, section 3). A hostile
 * server could publish another server's token endpoint, whose token the hostile
 * resource would receive. So the endpoint counts only on the issuer's origin.
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

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof AssertionFlowOptions, true> = {
  client: true,
  getAssertion: true,
  scopes: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
};

/**
 * Creates the flow of a workload, for {@linkcode createAuthorizedFetch}. Its platform,
 * such as a CI service, a cluster or a cloud, issues an assertion, which the flow
 * exchanges for a token. It needs no stored secret and no user.
 *
 * The resource selects the server. So an assertion is only sent if its `aud` is that
 * server's issuer or a token endpoint on its origin, or if `client` has this issuer. A
 * rejection is thrown: no other grant is tried. The server's refresh token is not used.
 *
 * @param options The client, and the function that returns the assertion.
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or `client`
 * contains credentials and no issuer. The returned function throws `issuer_mismatch` if
 * the assertion is for another server, other codes as for {@linkcode fetchToken}, and
 * errors of `getAssertion`.
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
