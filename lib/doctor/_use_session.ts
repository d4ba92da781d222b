/** What a diagnosis does with a session: a call, refreshes, and at last the revocation. */

import { mergeHeaders } from "../http/_request.ts";
import {
  type ISession,
  refreshSession,
  revokeSession,
} from "../session/session.ts";
import type { IFacts, IProbe, ISignInFacts } from "./_facts.ts";
import { attempt, type ISurvey, probe } from "./_probe.ts";
import { PING } from "./_ping.ts";
import type { ISignInRequests } from "./_sign_in_requests.ts";

/** Requests the resource as before, now with the token. */
async function call(
  survey: ISurvey,
  { probe: first }: IFacts,
  { token }: ISession,
  { session: { dpop } }: ISignInRequests,
): Promise<IProbe> {
  const { target, options, recorder } = survey;
  const { method } = first;
  const isPing = method === "POST";
  const url = target.href;
  const { access_token: accessToken } = token;
  const send = async () => {
    const own = {
      Accept: "application/json, text/event-stream",
      ...(isPing && { "Content-Type": "application/json" }),
    };
    const credentials: Record<string, string> = dpop
      ? await dpop.createHeaders({ method, url, accessToken })
      : { Authorization: `Bearer ${accessToken}` };
    const fetch = recorder.fetchFor(() => "call", { readsBody: false });
    return await probe(survey, "resource", fetch, {
      url,
      headers: mergeHeaders(
        { ...own, ...credentials },
        isPing ? undefined : options.headers,
        credentials,
      ),
      method,
      ...(isPing && { body: PING }),
    });
  };
  const result = await send();
  const { response } = result;
  return dpop && response && dpop.noteResponse(url, response)
    ? await send()
    : result;
}

/** Refreshes a session, as a step. */
async function refresh(
  survey: ISurvey,
  session: ISession,
  requests: ISignInRequests,
) {
  return await attempt(
    survey,
    () => refreshSession(session, optionsOf(survey, requests)),
  );
}

/** The options of requests with a session: the client of the caller has its own key. */
function optionsOf({ options }: ISurvey, { session }: ISignInRequests) {
  const { client } = options.signIn ?? {};
  return { ...session, ...(client && { client }) };
}

/** Revokes the tokens of a session, also after the caller's signal has aborted. */
export async function revoke(
  survey: ISurvey,
  session: ISession,
  requests: ISignInRequests,
) {
  requests.as("revocation");
  return await attempt(
    { ...survey, options: { ...survey.options, signal: undefined } },
    () =>
      revokeSession(session, {
        ...optionsOf(survey, requests),
        signal: undefined,
      }),
  );
}

/** Calls the resource, refreshes the token, and revokes it whatever happens. */
export async function useSession(
  survey: ISurvey,
  facts: IFacts,
  record: ISignInFacts,
  requests: ISignInRequests,
): Promise<void> {
  const { session: first } = record;
  if (!first) return;
  let last = first;
  try {
    if (!facts.isServer) {
      record.call = await call(survey, facts, first, requests);
    }
    const { refresh_token: oldToken } = first.token;
    if (oldToken) {
      requests.as("refresh");
      const { result, error } = await refresh(survey, first, requests);
      record.refresh = {
        ...(result && { session: result }),
        ...(error && { error }),
      };
      last = result ?? first;
      if (
        survey.options.signIn?.aggressive &&
        last.token.refresh_token !== oldToken
      ) {
        requests.as("old_refresh", true);
        const again = await refresh(survey, first, requests);
        record.oldRefresh = again.error ? { error: again.error } : {};
        // Else the tokens of this refresh would stay valid.
        if (again.result) await revoke(survey, again.result, requests);
      }
    }
  } finally {
    const { error } = await revoke(survey, last, requests);
    record.revocation = error ? { error } : {};
  }
  const { refresh_token } = last.token;
  if (!refresh_token) return;
  // What was not revoked is made up: it must not be used up by this request.
  const isRevoked = !record.revocation.error;
  const dead = isRevoked ? refresh_token : `${crypto.randomUUID()}`;
  requests.as("dead_refresh", true);
  const { result, error } = await refresh(survey, {
    ...last,
    token: { ...last.token, refresh_token: dead },
  }, requests);
  record.deadRefresh = { isRevoked, ...(error && { error }) };
  if (result) await revoke(survey, result, requests);
}
