import {
  optionalFunction,
  requireArgument,
  requireObject,
} from "../core/_arguments.ts";
import { requireEndpoint } from "../core/_url.ts";
import { mergeScopes, selectScopes } from "../core/scopes.ts";
import {
  type DeviceAuthorization,
  deviceAuthorizationWith,
  type PollDeviceTokenOptions,
  pollWith,
} from "../token/device_grant.ts";
import {
  carrying,
  clientOf,
  needsIdToken,
  parametersOf,
  requireFlowNames,
  requireFlowOptions,
  scopesOf,
  wantsOffline,
} from "./_flow_parameters.ts";
import { earliestAuthTimeOf, withCheckedIdToken } from "./_first_id_token.ts";
import { knownRegistrationOf, withConfiguration } from "./_flow_client.ts";
import { grantOf, newSession, resourcesOf } from "./_new_session.ts";
import { internalOf } from "../session/_internal.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import type { Others } from "./_sharing.ts";
import type { Flow, FlowOptions, FlowRequest } from "./flow.ts";
import type { Client } from "../client/known_client.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { type Session, sessionContextOf } from "../session/session.ts";

/** Options of {@linkcode deviceFlow}. */
export interface DeviceFlowOptions
  extends FlowOptions, Pick<PollDeviceTokenOptions, "onPending" | "delay"> {
  /** Shows the code and the URL to the user. */
  show: (authorization: DeviceAuthorization) => void | Promise<void>;
}

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof DeviceFlowOptions, true> = {
  client: true,
  knownClients: true,
  clientMetadataUrl: true,
  clientMetadata: true,
  initialAccessToken: true,
  scopes: true,
  offlineAccess: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
  sendScopeOnRefresh: true,
  tokenParameters: true,
  show: true,
  onPending: true,
  delay: true,
};

interface DeviceSignIn {
  readonly request: FlowRequest;
  readonly options: DeviceFlowOptions;
  readonly context: GrantContext & { readonly client: Client };
  readonly scopes: readonly string[];
  readonly others: Others | undefined;
}

async function signInOnDevice(
  { request, options, context, scopes, others }: DeviceSignIn,
): Promise<Session> {
  const { show, onPending, delay, authorizationDetails } = options;
  const { serverMetadata } = request.context;
  const { client, dpop, now } = context;
  const parameters = parametersOf(request, options);
  const grant = grantOf(request.context, options, client, scopes, { others });
  const expected = {
    ...grant,
    nonce: parameters.nonce,
    earliestAuthTime: earliestAuthTimeOf(parameters, now),
    optionalIdToken: !needsIdToken(request, options),
  };
  const authorization = await deviceAuthorizationWith(context, serverMetadata, {
    resource: resourcesOf(grant, others),
    scopes: mergeScopes(scopes, others?.scopes),
    authorizationDetails,
    parameters,
  });
  request.signal?.throwIfAborted();
  knownRegistrationOf(request).shown?.();
  await show(authorization);
  const token = await pollWith(context, serverMetadata, authorization, {
    requested: { resource: requestedResource(grant) },
    further: internalOf(grant).tokenParameters,
    onPending,
    delay,
  });
  const checked = await withCheckedIdToken(token, expected, now);
  return newSession(grant, checked, dpop);
}

/**
 * Creates the device flow: the user signs in on another device.
 *
 * Without a known client, it registers one and keeps it in the session.
 *
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid. Calls throw as
 * {@linkcode ensureClient}, {@linkcode pollDeviceToken} and {@linkcode checkIdToken}.
 * @see RFC 8628.
 * @example Show the code in a terminal
 * ```ts
 * import { deviceFlow } from "@oauth-helper/client";
 *
 * export const flow = deviceFlow({
 *   clientMetadata: { client_name: "My client" },
 *   show: ({ user_code: code, verification_uri: url }) => console.log(url, code),
 * });
 * ```
 * @category Flows
 */
export function deviceFlow(options: DeviceFlowOptions): Flow {
  const { show, onPending, delay } = requireObject("options", options);
  requireFlowNames(options, OPTIONS, "deviceFlow");
  requireArgument(typeof show === "function", "show", "a function");
  optionalFunction("onPending", onPending);
  optionalFunction("delay", delay);
  requireFlowOptions(options);
  return carrying(options, async (request) => {
    const { serverMetadata } = request.context;
    const given = sessionContextOf(request);
    // Checked before a client is registered.
    const endpoint = "device_authorization_endpoint";
    requireEndpoint(serverMetadata, endpoint, given.allowHttp);
    const { shared } = knownRegistrationOf(request);
    const apiOptions = shared?.ownOf(options) ?? options;
    const chosen = await clientOf(given, request, apiOptions);
    const context = { ...given, client: chosen.client };
    const scopes = selectScopes({
      resourceMetadata: { scopes_supported: scopesOf(request, apiOptions) },
      serverMetadata,
      offlineAccess: wantsOffline(options),
    }) ?? [];
    const signInFor = async (others?: Others) => {
      const signIn = { request, options: apiOptions, context, scopes, others };
      return withConfiguration(await signInOnDevice(signIn), chosen);
    };
    return await (shared?.sessionOf(options, signInFor) ?? signInFor());
  });
}
