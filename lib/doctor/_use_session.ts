/** The requests of a diagnosis with a session: a call, refreshes, and the revocation. */

import { fork } from "../http/_context.ts";
import { mergeHeaders } from "../http/_request.ts";
import {
  type ISession,
  refreshSessionWith,
  revokeSessionWith,
} from "../session/session.ts";
import type { IFacts, IProbe, ISignInFacts } from "./_facts.ts";
import {
  attempt,
  INITIALIZE,
  type IProbeRequest,
  isJsonRpc,
  type ISurvey,
  PING,
  probe,
} from "./_probe.ts";
import { lastOf } from "./_sign_in_steps.ts";
import type { ISignInRequests } from "./_sign_in_requests.ts";

/** Requests the resource with the token; a request with a body is a `POST`. */
async function send(
  survey: ISurvey,
  { token: { access_token: accessToken } }: ISession,
  { context: { dpop } }: ISignInRequests,
  { name, body }: Pick<IProbeRequest, "name" | "body">,
): Promise<IProbe> {
  const { target, options } = survey;
  const url = target.href;
  const method = body === undefined ? "GET" : "POST";
  const own = {
    Accept: "application/json, text/event-stream",
    ...(body !== undefined && { "Content-Type": "application/json" }),
  };
  const sendOnce = async () => {
    const credentials: Record<string, string> = dpop
      ? await dpop.createHeaders({ method, url, accessToken })
      : { Authorization: `Bearer ${accessToken}` };
    return await probe(survey, {
      name,
      purpose: "resource",
      url,
      headers: mergeHeaders(
        { ...own, ...credentials },
        body === undefined ? options.headers : undefined,
        credentials,
      ),
      method,
      body,
    });
  };
  const first = await sendOnce();
  const { response } = first;
  return dpop && response && dpop.noteResponse(url, response)
    ? await sendOnce()
    : first;
}

/**
 * Requests the resource as before, now with the token. An MCP server may respond
 * with 401 to a `GET` without an MCP session, and then receives `initialize`, the first
 * request of each client.
 */
async function call(
  survey: ISurvey,
  { probe: { method } }: IFacts,
  session: ISession,
  requests: ISignInRequests,
): Promise<IProbe> {
  const name = "call";
  const body = method === "POST" ? PING : undefined;
  const first = await send(survey, session, requests, { name, body });
  const { text } = lastOf(survey.recorder.exchanges, name) ?? {};
  return first.response?.status === 401 && isJsonRpc(text)
    ? await send(survey, session, requests, { name, body: INITIALIZE })
    : first;
}

/** Changes a token so that it cannot be valid, nor its signature if it has one. */
function spoiled(token: string): string {
  const at = Math.floor((token.lastIndexOf(".") + 1 + token.length) / 2);
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") +
    token.slice(at + 1);
}

/** Requests the resource with a token that cannot be valid, if it accepts the other. */
async function callInVain(
  survey: ISurvey,
  { call }: ISignInFacts,
  { token, ...session }: ISession,
  requests: ISignInRequests,
): Promise<IProbe | undefined> {
  if (!call?.response?.ok) return undefined;
  const access_token = spoiled(token.access_token);
  const dead = { ...session, token: { ...token, access_token } };
  const body = call.method === "POST" ? PING : undefined;
  return await send(survey, dead, requests, { name: "dead_call", body });
}

/** Refreshes a session, as a step. */
async function refresh(
  survey: ISurvey,
  session: ISession,
  requests: ISignInRequests,
) {
  return await attempt(
    survey,
    () => refreshSessionWith(contextOf(survey, requests), session),
  );
}

/** The context of requests with a session: the client of the caller has its own key. */
function contextOf({ options }: ISurvey, { context }: ISignInRequests) {
  return fork({ ...context, client: options.signIn?.client });
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
      revokeSessionWith(
        { ...contextOf(survey, requests), signal: undefined },
        session,
      ),
  );
}

/** Calls the resource and refreshes the token; revokes it at the end, also after an error. */
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
      const deadCall = await callInVain(survey, record, first, requests);
      if (deadCall) record.deadCall = deadCall;
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
    }
  } finally {
    const { error } = await revoke(survey, last, requests);
    record.revocation = error ? { error } : {};
  }
  const { refresh_token } = last.token;
  if (!refresh_token) return;
  // After a failed revocation, the token is valid and must not be consumed: a made-up one
  // is sent.
  const isRevoked = !record.revocation.error;
  const dead = isRevoked ? refresh_token : `${crypto.randomUUID()}`;
  requests.as("dead_refresh");
  const { result, error } = await refresh(survey, {
    ...last,
    token: { ...last.token, refresh_token: dead },
  }, requests);
  record.deadRefresh = { isRevoked, ...(error && { error }) };
  if (result) await revoke(survey, result, requests);
}
