/** A fetch at the servers of `session_servers.ts`, before and after a sign-in. */
import {
  createAuthorizedFetch,
  type IAuthorizedFetch,
  type IAuthorizedFetchOptions,
  type ISession,
  memoryStore,
} from "../../mod.ts";
import type { ISessionServers } from "../servers/session_servers.ts";
import { LIMIT_MS, within } from "../support/within.ts";

/** A fetch whose user consents at once. */
export function fetchAt(
  servers: ISessionServers,
  options: Partial<IAuthorizedFetchOptions> = {},
): IAuthorizedFetch {
  const authorize = servers.flow();
  return createAuthorizedFetch(servers.resource, { authorize, ...options });
}

/** A fetch whose user has signed in, with its store and clock; nothing is counted yet. */
export async function signedIn(
  servers: ISessionServers,
  options: Partial<IAuthorizedFetchOptions> = {},
) {
  const clock = { now: Date.now() };
  const store = memoryStore();
  const now = () => clock.now;
  const api = fetchAt(servers, { store, now, ...options });
  const session = await within(LIMIT_MS, api.authorize());
  servers.calls.length = servers.requests.length = servers.visits.length = 0;
  const bearer = `Bearer ${session.token.access_token}`;
  return { api, store, clock, session, bearer };
}

/** A session that can be used or signed in again, but not be refreshed. */
export function withoutRefresh(session: ISession): ISession {
  const { refresh_token: _, ...token } = session.token;
  return { ...session, token };
}

/** A response of a resource that refuses a request by this challenge. */
export function refusal(
  status: number,
  challenge: string,
  body?: string,
): Response {
  const headers = { "WWW-Authenticate": `Bearer ${challenge}` };
  return new Response(body, { status, headers });
}
