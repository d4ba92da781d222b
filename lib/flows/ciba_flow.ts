import {
  optionalFunction,
  requireArgument,
  requireObject,
} from "../core/_arguments.ts";
import { requireEndpoint } from "../core/_url.ts";
import { mergeScopes, missingScopes, selectScopes } from "../core/scopes.ts";
import type { Client } from "../client/known_client.ts";
import {
  backchannelAuthenticationWith,
  type RequestBackchannelAuthenticationOptions,
  requirePollMode,
} from "../token/backchannel_authentication.ts";
import { backchannelTokenWith } from "../token/backchannel_token.ts";
import type { PollOptions } from "../token/poll_options.ts";
import {
  carrying,
  parametersOf,
  requireFlowNames,
  requireFlowOptions,
  scopesOf,
} from "./_flow_parameters.ts";
import { knownRegistrationOf } from "./_flow_client.ts";
import { grantOf, newSession } from "./_new_session.ts";
import { internalOf } from "../session/_internal.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import type { Flow, FlowOptions, FlowRequest } from "./flow.ts";
import type {
  BackchannelPrompt,
  LoginHint,
  LoginHintRequest,
} from "./login_hint.ts";
import { sessionContextOf } from "../session/session.ts";

/** Options of {@linkcode cibaFlow}. */
export interface CibaFlowOptions extends
  Omit<
    FlowOptions,
    | "client"
    | "knownClients"
    | "clientMetadataUrl"
    | "clientMetadata"
    | "initialAccessToken"
  >,
  Pick<RequestBackchannelAuthenticationOptions, "requestedExpirySeconds">,
  Pick<PollOptions, "onPending" | "delay"> {
  /** The client, with its issuer. The server must have registered it for this grant. */
  client: Client;
  /**
   * Identifies the user; a string is a `login_hint`. Called before each sign-in, even
   * for more scopes.
   */
  getLoginHint: (
    request: LoginHintRequest,
  ) => string | LoginHint | Promise<string | LoginHint>;
  /** Called when the server has accepted the request, and prompts the user. */
  show?: ((prompt: BackchannelPrompt) => void | Promise<void>) | undefined;
}

/** Returns the hint with its four members. */
async function loginHintOf(
  getLoginHint: CibaFlowOptions["getLoginHint"],
  { context: { issuer, resource }, session, isFresh, ...rest }: FlowRequest,
  scopes: readonly string[],
) {
  const { acrValues, maxAge, signal } = rest;
  signal?.throwIfAborted();
  const given = await getLoginHint({
    issuer,
    resource,
    scopes: [...scopes],
    newScopes: missingScopes(scopes, isFresh ? [] : session?.scopes ?? []),
    acrValues,
    maxAge,
    signal,
  });
  signal?.throwIfAborted();
  const { loginHint, loginHintToken, idTokenHint, bindingMessage } =
    typeof given === "string"
      ? { loginHint: given } as LoginHint
      : requireObject("The result of getLoginHint", given);
  return { loginHint, loginHintToken, idTokenHint, bindingMessage };
}

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof CibaFlowOptions, true> = {
  client: true,
  getLoginHint: true,
  show: true,
  onPending: true,
  delay: true,
  requestedExpirySeconds: true,
  scopes: true,
  offlineAccess: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
  sendScopeOnRefresh: true,
  tokenParameters: true,
};

/**
 * Creates the flow of backchannel authentication (CIBA) in poll mode, for
 * {@linkcode createAuthorizedFetch}. The server prompts the user on another device,
 * such as a telephone. Use it for a program that acts for a distant user, such as an
 * agent.
 *
 * - The scope `openid` is always requested. The ID token is required and checked, as in
 *   {@linkcode pollBackchannelToken}.
 * - If the resource requires more scopes, they are added to the session's scopes;
 *   `newScopes` contains only the new ones.
 * - If the user declines or does not respond, the call fails. Later calls fail with
 *   `sign_in_required` until you call the fetch's `signIn()`.
 *
 * @param options The client, and the function that identifies the user.
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or `client`
 * contains credentials and no issuer. The returned function throws `unsupported` if the
 * server lacks the endpoint or the poll mode, before it calls `getLoginHint`; other
 * codes as for {@linkcode requestBackchannelAuthentication} and
 * {@linkcode pollBackchannelToken}; and errors of `getLoginHint` and `show`.
 * @see OpenID Connect CIBA Core 1.0.
 *
 * @example Request consent on the user's telephone
 * ```ts
 * import { cibaFlow, createAuthorizedFetch } from "@oauth-helper/client";
 *
 * const issuer = "https://as.example";
 * const payments = createAuthorizedFetch("https://api.example/payments", {
 *   flow: cibaFlow({
 *     client: { issuer, client_id: "agent", client_secret: "s3cret" },
 *     getLoginHint: ({ newScopes }) => ({
 *       loginHint: "ada@example.com",
 *       bindingMessage: newScopes.includes("payments:write")
 *         ? "Let the agent pay"
 *         : "Let the agent read",
 *     }),
 *     show: ({ expiresInSeconds }) =>
 *       console.log(`Look at your telephone within ${expiresInSeconds} seconds`),
 *   }),
 * });
 * ```
 *
 * @category Flows
 */
export function cibaFlow(options: CibaFlowOptions): Flow {
  const { client: named, getLoginHint, show, onPending, delay, ...rest } =
    requireObject("options", options);
  requireFlowNames(options, OPTIONS, "cibaFlow");
  requireObject("client", named);
  requireArgument(
    typeof getLoginHint === "function",
    "getLoginHint",
    "a function",
  );
  optionalFunction("show", show);
  optionalFunction("onPending", onPending);
  optionalFunction("delay", delay);
  requireFlowOptions(options);
  return carrying({ client: named }, async (request) => {
    const { context: { serverMetadata }, signal } = request;
    const { shown, shared } = knownRegistrationOf(request);
    requireArgument(
      !shared,
      "apis",
      "absent with cibaFlow: a backchannel request names one API",
    );
    const { client = named, ...given } = sessionContextOf(request);
    const context = { ...given, client };
    // Checked before the user is prompted.
    requirePollMode(context, serverMetadata);
    requireEndpoint(serverMetadata, "token_endpoint", context.allowHttp);
    const scopes = mergeScopes(
      "openid",
      selectScopes({
        resourceMetadata: { scopes_supported: scopesOf(request, options) },
        serverMetadata,
        offlineAccess: rest.offlineAccess ?? true,
      }),
    );
    const grant = grantOf(request.context, options, client, scopes);
    const requested = { resource: requestedResource(grant) };
    const { acr_values, ...parameters } = parametersOf(request, options);

    const hint = await loginHintOf(getLoginHint, request, scopes);
    const { bindingMessage } = hint;
    const { requestedExpirySeconds, authorizationDetails } = rest;
    const authentication = await backchannelAuthenticationWith(
      context,
      serverMetadata,
      {
        ...hint,
        acrValues: acr_values,
        requestedExpirySeconds,
      },
      { ...requested, scopes, authorizationDetails, parameters },
    );
    // The server prompts the user from now on.
    shown?.();
    signal?.throwIfAborted();
    const { expires_in, interval } = authentication;
    await show?.({
      bindingMessage,
      expiresInSeconds: expires_in,
      intervalSeconds: interval,
    });
    const token = await backchannelTokenWith(
      context,
      serverMetadata,
      authentication,
      {
        requested,
        further: internalOf(grant).tokenParameters,
        onPending,
        delay,
      },
    );
    return newSession(grant, token, context.dpop);
  });
}
