/** A fetch at the servers of `session_servers.ts`, before and after a sign-in. */
import { assertEquals } from "@std/assert";
import {
  createAuthorizedFetch,
  type IAuthorizedFetch,
  type IAuthorizedFetchOptions,
  type ISession,
  type ISessionStore,
  memoryStore,
} from "../../mod.ts";
import {
  type ISessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { statusOf } from "../support/stub_fetch.ts";
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

/** What happens in a test of a session, counted since the user signed in. */
export interface ISent {
  /** Token requests with the refresh token. */
  refreshes?: number;
  /** Times that the user was sent to the authorization server. */
  visits?: number;
  /** Clients that were registered. */
  registrations?: number;
}

/** A fetch whose user has signed in, unless the test begins with its first call. */
export interface ISessionWorld {
  servers: ISessionServers;
  api: IAuthorizedFetch;
  store: ISessionStore;
  clock: { now: number };
  session: ISession;
  /** The `Authorization` of a call with the session of the beginning. */
  bearer: string;
  /** Calls the resource, or what is below it; returns the status. */
  call(path?: string): Promise<number>;
  /** Makes 20 calls at the same time, all of which succeed. */
  calls(path?: (n: number) => string): Promise<void>;
  /** Fails unless a call ends with this status and body, the resource's own. */
  refused(status: number, body: string): Promise<void>;
  /** Fails unless this was sent, and nothing of the kind beside it. */
  sent(expected: ISent): void;
  /** The scopes that were requested at each visit. */
  scopes(): (string | null)[];
}

/** How many calls are made at the same time. */
export const CALLERS = 20;

function worldAt(
  servers: ISessionServers,
  user: Awaited<ReturnType<typeof signedIn>>,
): ISessionWorld {
  const { api } = user;
  const { resource, received, visits } = servers;
  const call = (path = "") => statusOf(within(LIMIT_MS, api(resource + path)));
  return {
    ...user,
    servers,
    call,
    async calls(path = () => "") {
      const calls = Array.from({ length: CALLERS }, (_, n) => call(path(n)));
      assertEquals(await Promise.all(calls), Array(CALLERS).fill(200));
    },
    async refused(status, body) {
      const response = await within(LIMIT_MS, api(resource));
      assertEquals([response.status, await response.text()], [status, body]);
    },
    sent({ refreshes = 0, visits: count = 0, registrations = 0 }) {
      assertEquals({
        refreshes: servers.grants("refresh_token").length,
        visits: visits.length,
        registrations: received("/register").length,
      }, { refreshes, visits: count, registrations });
    },
    scopes: () => visits.map(({ searchParams }) => searchParams.get("scope")),
  };
}

/** Declares a test of a fetch whose user has signed in. */
export function test(
  name: string,
  body: (world: ISessionWorld) => Promise<void>,
): void {
  Deno.test(`createAuthorizedFetch() ${name}`, async () => {
    await using servers = await startSessionServers();
    await body(worldAt(servers, await signedIn(servers)));
  });
}
