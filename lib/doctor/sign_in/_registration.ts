import {
  deleteWith,
  receivedConfiguration,
} from "../../client/client_configuration.ts";
import type { IAuthorizationServerMetadata } from "../../core/metadata.ts";
import type { Outcome } from "../_facts.ts";
import { attempt, type Survey, trialOf } from "../_probe.ts";
import { responseMembersOf } from "./_steps.ts";

export const CLIENT_METADATA = {
  client_name: "Doctor of @oauth-helper/client",
};

/**
 * Deletes the clients that the diagnosis registered, if the server supports that, even
 * after an abort. Returns the first error.
 */
export async function deleteRegistered(
  survey: Survey,
  { issuer }: IAuthorizationServerMetadata,
): Promise<Outcome | undefined> {
  const { options, recorder } = survey;
  const fetch = recorder.fetchFor(() => "deregistration");
  const context = { ...trialOf(survey, fetch), signal: undefined };
  const lasting = { ...survey, options: { ...options, signal: undefined } };
  let outcome: Outcome | undefined;
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
