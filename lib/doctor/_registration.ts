/** The registration of a client, on request only. */

import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import { stringsIn } from "../core/_members.ts";
import { registerClient } from "../client/registration.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import type { IRegistration } from "./_facts.ts";
import { attempt, type ISurvey } from "./_probe.ts";

/** Registers a native client, if the options say so and the server allows it. */
export async function register(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
): Promise<IRegistration | undefined> {
  const { options, transport, recorder } = survey;
  const { serverMetadata } = context ?? {};
  if (!options.register || !serverMetadata?.registration_endpoint) {
    return undefined;
  }
  const grants = stringsIn(serverMetadata.grant_types_supported);
  const methods = stringsIn(
    serverMetadata.token_endpoint_auth_methods_supported,
  );
  const { result, error } = await attempt(
    survey,
    () =>
      registerClient(serverMetadata, {
        client_name: "Doctor of @oauth-helper/client",
        redirect_uris: [`http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/callback`],
        grant_types: ["authorization_code", "refresh_token"]
          .filter((grant) => grants?.includes(grant) ?? true),
        response_types: ["code"],
        ...(methods?.includes("none") &&
          { token_endpoint_auth_method: "none" }),
      }, {
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
