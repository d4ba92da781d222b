/** The registration of a client, on request only. */

import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import { fetchOf, fork } from "../http/_context.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { ensureClient } from "../session/ensure_client.ts";
import type { IRegistration } from "./_facts.ts";
import { attempt, type ISurvey } from "./_probe.ts";

/** The metadata of every client that a diagnosis registers. */
export const CLIENT_METADATA = {
  client_name: "Doctor of @oauth-helper/client",
};

/** Registers a client as a flow does, if the options say so and the server allows it. */
export async function register(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
): Promise<IRegistration | undefined> {
  const { options, transport, recorder } = survey;
  const { serverMetadata } = context ?? {};
  // A sign-in makes its own.
  const isWanted = options.register && !options.signIn;
  if (!isWanted || !serverMetadata?.registration_endpoint) {
    return undefined;
  }
  const { result, error } = await attempt(
    survey,
    () =>
      ensureClient(serverMetadata, {
        clientMetadata: CLIENT_METADATA,
        scopes: context?.scopes ?? [],
        redirectUri: `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/callback`,
        signal: transport.signal,
        timeoutMs: transport.timeoutMs,
        maxBytes: transport.maxBytes,
        allowUrl: transport.allowUrl,
        allowHttp: options.allowHttp,
        fetch: fetchOf({
          ...fork(transport),
          fetch: recorder.fetchFor(() => "registration", { isExtra: true }),
        }),
      }),
  );
  return { ...(result && { client: result }), ...(error && { error }) };
}
