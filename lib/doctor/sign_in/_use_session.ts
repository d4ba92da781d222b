/** A diagnosis's requests with a session: a call, refreshes, and the revocation. */

import { fork } from "../../http/_context.ts";
import { mergeHeaders } from "../../http/_request.ts";
import {
  refreshSessionWith,
  revokeSessionWith,
  type Session,
} from "../../session/session.ts";
import type {
  Facts,
  Outcome,
  Probe,
  RevocationOutcome,
  SessionUse,
} from "../_facts.ts";
import type { Token } from "../../token/token.ts";
import {
  attempt,
  INITIALIZE,
  isJsonRpc,
  PING,
  probe,
  type ProbeRequest,
  type Survey,
} from "../_probe.ts";
import { lastOf } from "./_steps.ts";
import type { SignInRequests } from "./_requests.ts";

/** Requests the resource with the token; a request with a body is a `POST`. */
async function send(
  survey: Survey,
  { token: { access_token: accessToken } }: Session,
  { context: { dpop } }: SignInRequests,
  { name, body }: Pick<ProbeRequest, "name" | "body">,
): Promise<Probe> {
  const { target, options } = survey;
  const url = target.href;
  const method = body === undefined ? "GET" : "POST";
  const fields = {
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
        { ...fields, ...credentials },
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
 * Requests the resource as before, now with the token. An MCP server may respond with
 * 401 to a `GET` without an MCP session, and then receives `initialize`, every client's
 * first request.
 */
async function call(
  survey: Survey,
  { probe: { method } }: Facts,
  session: Session,
  requests: SignInRequests,
): Promise<Probe> {
  const name = "call";
  const body = method === "POST" ? PING : undefined;
  const first = await send(survey, session, requests, { name, body });
  const { text } = lastOf(survey.recorder.exchanges, name) ?? {};
  return first.response?.status === 401 && isJsonRpc(text)
    ? await send(survey, session, requests, { name, body: INITIALIZE })
    : first;
}

/** Changes a token so that neither it nor its signature can be valid. */
function spoiled(token: string): string {
  const at = Math.floor((token.lastIndexOf(".") + 1 + token.length) / 2);
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") +
    token.slice(at + 1);
}

/** Calls the resource with the token and, if that works, with an invalid one. */
async function callTwice(
  survey: Survey,
  facts: Facts,
  session: Session,
  requests: SignInRequests,
): Promise<SessionUse> {
  const made = await call(survey, facts, session, requests);
  if (!made.response?.ok) return { call: made };
  const access_token = spoiled(session.token.access_token);
  const dead = { ...session, token: { ...session.token, access_token } };
  const body = made.method === "POST" ? PING : undefined;
  const about = { name: "dead_call", body } as const;
  return { call: made, deadCall: await send(survey, dead, requests, about) };
}

async function refresh(
  survey: Survey,
  session: Session,
  requests: SignInRequests,
): Promise<Outcome & { session?: Session }> {
  const { result, error } = await attempt(
    survey,
    () => refreshSessionWith(contextOf(survey, requests), session),
  );
  return { ...(result && { session: result }), ...(error && { error }) };
}

/** The context of requests with a session: the caller's client uses its own key. */
function contextOf({ options }: Survey, { context }: SignInRequests) {
  return fork({ ...context, client: options.signIn?.client });
}

/** Revokes a session's tokens, even after an abort. */
export async function revoke(
  survey: Survey,
  session: Session,
  requests: SignInRequests,
): Promise<RevocationOutcome> {
  requests.as("revocation");
  let kept: Token | undefined;
  const { error } = await attempt(
    { ...survey, options: { ...survey.options, signal: undefined } },
    () =>
      revokeSessionWith(
        { ...contextOf(survey, requests), signal: undefined },
        session,
        ({ token, error }) => kept = error ? token : kept,
      ),
  );
  return error ? { error } : { ...(kept && { kept }) };
}

/**
 * Refreshes a session whose token was revoked. After a failed revocation, sends a
 * made-up token, because the valid one must not be consumed.
 */
async function refreshInVain(
  survey: Survey,
  { token, ...session }: Session,
  isRevoked: boolean,
  requests: SignInRequests,
): Promise<SessionUse["deadRefresh"]> {
  if (!token.refresh_token) return undefined;
  requests.as("dead_refresh");
  const refresh_token = isRevoked ? token.refresh_token : crypto.randomUUID();
  const dead = { ...session, token: { ...token, refresh_token } };
  const { session: revived, ...outcome } = await refresh(
    survey,
    dead,
    requests,
  );
  if (revived) await revoke(survey, revived, requests);
  return { isRevoked, ...outcome };
}

/**
 * Calls the resource and refreshes the token; finally revokes it, even after an error.
 */
export async function useSession(
  survey: Survey,
  facts: Facts,
  session: Session,
  requests: SignInRequests,
): Promise<SessionUse> {
  let last = session;
  let revocation: RevocationOutcome;
  let use: SessionUse;
  try {
    use = facts.isServer
      ? {}
      : await callTwice(survey, facts, session, requests);
    if (session.token.refresh_token) {
      requests.as("refresh");
      const refreshed = await refresh(survey, session, requests);
      use = { ...use, refresh: refreshed };
      last = refreshed.session ?? session;
    }
  } finally {
    revocation = await revoke(survey, last, requests);
  }
  const isRevoked = !revocation.error;
  const deadRefresh = await refreshInVain(survey, last, isRevoked, requests);
  return { ...use, revocation, ...(deadRefresh && { deadRefresh }) };
}
