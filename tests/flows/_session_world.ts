/** A fetch at the servers of `session_servers.ts`, before and after a sign-in. */
import { assertEquals } from "@std/assert";
import {
  type AuthorizedFetch,
  type AuthorizedFetchOptions,
  createAuthorizedFetch,
  type FlowRequest,
  memoryStore,
  type Session,
  type SessionStore,
} from "../../mod.ts";
import {
  type SessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { type Received, SESSION } from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

export function fetchAt(
  servers: SessionServers,
  options: Partial<AuthorizedFetchOptions> = {},
): AuthorizedFetch {
  const authorize = servers.flow();
  return createAuthorizedFetch(servers.resource, {
    flow: authorize,
    ...options,
  });
}

/** A time for tests that count seconds. */
export const NOW = 1_700_000_000_000;

/** Returns a session whose access token expires in so many seconds. */
export function expiringIn(seconds: number, access_token = "t1"): Session {
  const { refresh_token } = SESSION.token;
  const expires_at = NOW / 1000 + seconds;
  return {
    ...SESSION,
    token: {
      access_token,
      token_type: "Bearer",
      refresh_token,
      expires_in: 3600,
      expires_at,
    },
  };
}

/** A user whose sign-ins lead to these sessions, and what was requested of it. */
export function signingInWith(...sessions: Session[]) {
  const requests: FlowRequest[] = [];
  const authorize = (request: FlowRequest) => {
    requests.push(request);
    return Promise.resolve(sessions.shift() ?? SESSION);
  };
  return { requests, authorize };
}

/** Returns the `Authorization` of each request. */
export const authorizations = (received: readonly Received[]) =>
  received.map(({ headers }) => headers.get("Authorization"));

export async function jsonOf(response: Promise<Response>) {
  return await (await within(LIMIT_MS, response)).json();
}

/** A fetch whose user has signed in, with its store and clock; nothing is counted yet. */
export async function signedIn(
  servers: SessionServers,
  options: Partial<AuthorizedFetchOptions> = {},
) {
  const clock = { now: Date.now() };
  const store = memoryStore();
  const now = () => clock.now;
  const api = fetchAt(servers, { store, now, ...options });
  const session = await within(LIMIT_MS, api.signIn());
  servers.calls.length = servers.requests.length = servers.visits.length = 0;
  const bearer = `Bearer ${session.token.access_token}`;
  return { api, store, clock, session, bearer };
}

/** A session that can be used or signed in again, but not be refreshed. */
export function withoutRefresh(session: Session): Session {
  const { refresh_token: _, ...token } = session.token;
  return { ...session, token };
}

export function refusal(
  status: number,
  challenge: string,
  body?: string,
): Response {
  const headers = { "WWW-Authenticate": `Bearer ${challenge}` };
  return new Response(body, { status, headers });
}

/** What happens in a test of a session, counted since the user signed in. */
export interface Sent {
  refreshes?: number;
  /** Times that the user was sent to the authorization server. */
  visits?: number;
  registrations?: number;
}

/** A fetch whose user has not signed in yet, and what a test does with it. */
export interface FetchWorld {
  servers: SessionServers;
  api: AuthorizedFetch;
  /** Calls the resource, or what is below it; returns the status. */
  call(path?: string): Promise<number>;
  /** Makes 20 calls at the same time, all of which succeed. */
  calls(path?: (n: number) => string): Promise<void>;
  /** Fails unless a call ends with this status and body, the resource's own. */
  refused(status: number, body: string): Promise<void>;
  /** Fails unless this was sent, and nothing of the kind beside it. */
  sent(expected: Sent): void;
  scopes(): (string | null)[];
}

export interface SessionWorld extends FetchWorld {
  store: SessionStore;
  clock: { now: number };
  session: Session;
  /** The `Authorization` of a call with the session of the beginning. */
  bearer: string;
}

/** How many calls are made at the same time. */
export const CALLERS = 20;

function partsOf(servers: SessionServers, api: AuthorizedFetch) {
  const { resource, received, visits } = servers;
  const call = (path = "") => statusOf(within(LIMIT_MS, api(resource + path)));
  return {
    servers,
    api,
    call,
    async calls(path: (n: number) => string = () => "") {
      const calls = Array.from({ length: CALLERS }, (_, n) => call(path(n)));
      assertEquals(await Promise.all(calls), Array(CALLERS).fill(200));
    },
    async refused(status: number, body: string) {
      const response = await within(LIMIT_MS, api(resource));
      assertEquals([response.status, await response.text()], [status, body]);
    },
    sent({ refreshes = 0, visits: count = 0, registrations = 0 }: Sent) {
      assertEquals({
        refreshes: servers.grants("refresh_token").length,
        visits: visits.length,
        registrations: received("/register").length,
      }, { refreshes, visits: count, registrations });
    },
    scopes: () => visits.map(({ searchParams }) => searchParams.get("scope")),
  };
}

/** Declares a test; a name that begins with a dot is of a function of the fetch. */
function declare(
  name: string,
  body: (servers: SessionServers) => Promise<void>,
): void {
  const space = name.startsWith(".") ? "" : " ";
  Deno.test(`createAuthorizedFetch()${space}${name}`, async () => {
    await using servers = await startSessionServers();
    await body(servers);
  });
}

/** Declares a test of a fetch whose user has signed in. */
export function test(
  name: string,
  body: (world: SessionWorld) => Promise<void>,
): void {
  declare(name, async (servers) => {
    const user = await signedIn(servers);
    await body({ ...user, ...partsOf(servers, user.api) });
  });
}

/** Declares a test of a fetch whose user has not signed in yet. */
test.beforeSignIn = (
  name: string,
  body: (world: FetchWorld) => Promise<void>,
): void => declare(name, (servers) => body(partsOf(servers, fetchAt(servers))));
