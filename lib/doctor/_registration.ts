/** The registration of a client, on request only. */

import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { ensureClient } from "../session/ensure_client.ts";
import type { IRegistration } from "./_facts.ts";
import { attempt, type ISurvey } from "./_probe.ts";

/** Registers a client as a flow does, if the options say so and the server allows it. */
export async function register(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
): Promise<IRegistration | undefined> {
  const { options, transport, recorder } = survey;
  const { serverMetadata } = context ?? {};
  if (!options.register || !serverMetadata?.registration_endpoint) {
    return undefined;
  }
  const { result, error } = await attempt(
    survey,
    () =>
      ensureClient(serverMetadata, {
        clientMetadata: { client_name: "Doctor of @oauth-helper/client" },
        scopes: context?.scopes ?? [],
        redirectUri: `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/callback`,
        signal: transport.signal,
        timeoutMs: transport.timeoutMs,
        maxBytes: transport.maxBytes,
        allowUrl: transport.allowUrl,
        allowHttp: options.allowHttp,
        fetch: recorder.fetchFor(() => "registration", { isExtra: true }),
      }),
  );
  return { ...(result && { client: result }), ...(error && { error }) };
}
