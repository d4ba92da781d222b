/** The registration of a client, on request only. */

import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { ensureWith } from "../session/ensure_client.ts";
import {
  deleteWith,
  receivedConfiguration,
} from "../client/client_configuration.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import type { IOutcome, IRegistration } from "./_facts.ts";
import { attempt, type ISurvey, trialOf } from "./_probe.ts";
import { responseMembersOf } from "./_sign_in_steps.ts";

/** The metadata of every client that a diagnosis registers. */
export const CLIENT_METADATA = {
  client_name: "Doctor of @oauth-helper/client",
};

/** Registers a client as a flow does, if the options say so and the server allows it. */
export async function register(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
): Promise<IRegistration | undefined> {
  const { options, recorder } = survey;
  const { serverMetadata } = context ?? {};
  // A sign-in makes its own.
  const isWanted = options.register && !options.signIn;
  if (!isWanted || !serverMetadata?.registration_endpoint) {
    return undefined;
  }
  const fetch = recorder.fetchFor(() => "registration", { isExtra: true });
  const { result, error } = await attempt(
    survey,
    () =>
      ensureWith(trialOf(survey, fetch), serverMetadata, {
        clientMetadata: CLIENT_METADATA,
        scopes: context?.scopes ?? [],
        redirectUri: `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/callback`,
      }),
  );
  return {
    ...(result && { client: result }),
    ...(error && { error }),
    deletion: await deleteRegistered(survey, serverMetadata),
  };
}

/**
 * Deletes every client that the diagnosis has registered, where the server offers that,
 * also after the caller's signal has aborted. Returns the first error.
 */
export async function deleteRegistered(
  survey: ISurvey,
  { issuer }: IAuthorizationServerMetadata,
): Promise<IOutcome | undefined> {
  const { options, recorder } = survey;
  const fetch = recorder.fetchFor(() => "deregistration");
  const context = { ...trialOf(survey, fetch), signal: undefined };
  const lasting = { ...survey, options: { ...options, signal: undefined } };
  let outcome: IOutcome | undefined;
  const made = recorder.exchanges.filter(({ name }) => name === "registration");
  for (const exchange of made) {
    const members = responseMembersOf(exchange) ?? {};
    const configuration = receivedConfiguration(members, issuer, exchange.url);
    const client = { issuer, client_id: "", ...configuration };
    if (!client.registration_access_token) continue;
    const { error } = await attempt(lasting, () => deleteWith(context, client));
    outcome = { ...(error && { error }), ...outcome };
  }
  return outcome;
}
