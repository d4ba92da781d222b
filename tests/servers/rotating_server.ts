/**
 * The servers of `./testing` on loopback with a session whose access token has expired,
 * for processes that share a store.
 */

import { codeFlow, createAuthorizedFetch, type Session } from "../../mod.ts";
import { startTestServers, type TestRequest } from "../../lib/testing/mod.ts";

export interface RotatingServer extends AsyncDisposable {
  readonly origin: string;
  readonly resource: string;
  readonly refreshes: number;
  readonly isRevoked: boolean;
  /** Makes the current access token invalid. */
  expire(): void;
  /** A session with the first tokens; its access token has expired. */
  readonly session: Session;
}

/** How long a refresh takes: long enough for others to come in between. */
const REFRESH_MS = 30;

/** Starts a server; `respond` makes the responses at other URLs of the resource's origin. */
export async function startRotatingServer(
  respond?: (request: TestRequest) => Promise<Response>,
): Promise<RotatingServer> {
  const servers = await startTestServers({
    handle: () => new Response("ok"),
    async intercept(request) {
      if (request.params.has("refresh_token")) {
        await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
      }
      return request.endpoint === "unknown"
        ? await respond?.(request)
        : undefined;
    },
  });
  const { resource, fetch, receiver, expireAccessTokens } = servers;
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { fetch, flow: authorize });
  const session = await api.signIn();
  Object.assign(session.token, { expires_in: 0, expires_at: 1 });
  expireAccessTokens();
  const refreshes = (status: number) =>
    servers.received("token", "refresh_token")
      .filter((one) => one.status === status).length;
  return {
    origin: new URL(resource).origin,
    resource,
    get refreshes() {
      return refreshes(200);
    },
    get isRevoked() {
      return refreshes(400) > 0;
    },
    expire: expireAccessTokens,
    session,
    [Symbol.asyncDispose]: servers.close,
  };
}
