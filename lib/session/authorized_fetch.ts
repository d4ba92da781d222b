/**
 * A `fetch` for one resource, which adds the access token.
 *
 * @module
 */

import { invalidArgument } from "../core/_arguments.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import { fork, report } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import { bearerOf } from "./_bearer.ts";
import { isCovered, reaches } from "./_covered_urls.ts";
import { markAfterVisit } from "./_known_registration.ts";
import { prepare, renew } from "./_renewal.ts";
import {
  type IUsedSession,
  needOf,
  tokenOf,
  tokensOf,
} from "./_renewal_reason.ts";
import {
  type ResourceFetch,
  ResourceRequest,
  urlOf,
} from "./_resource_request.ts";
import { callsOf } from "./_resource_call.ts";
import { signInFinished } from "./_session_events.ts";
import { REPLACED, revoked } from "./_shared_store.ts";
import { settingsOf } from "./_settings.ts";
import { hasClient, loadSession, requireUsable } from "./_usable_session.ts";
import type {
  IAuthorizedFetch,
  IAuthorizedFetchOptions,
  IAuthorizedFetchSignal,
  IAuthorizedFetchSignIn,
} from "./authorized_fetch_options.ts";
import { type ISession, revokeSessionWith } from "./session.ts";
import { finishWith, type IPendingAuthorization } from "./sign_in.ts";

/**
 * Creates a `fetch` for a resource that requires a token. When the resource responds
 * with `401`, it discovers the authorization server and calls `authorize` for a token,
 * for example to have the user sign in. It keeps the session in a store, and refreshes
 * it.
 *
 * The token is sent to URLs at or below the path of the resource, or of one of
 * `alsoFor`, and nowhere else; a path with an encoded dot segment (`..%2f`) does not
 * count as below the resource. Other requests, and those with an `Authorization` of
 * your own, are passed to `fetch` unchanged.
 *
 * For an API that publishes no metadata, set `serverMetadata` by its manual. For an API
 * that does not respond with `401`, set `tokenRequired`.
 *
 * Redirects are followed one by one, so that the token is not sent elsewhere. A
 * redirect between these URLs keeps the token. A redirect to another origin is followed
 * for `GET` and `HEAD` only, without your header fields (except `Accept`, `Accept-*`,
 * `Range` and `User-Agent`), if the URL meets the rules of
 * {@linkcode discoverAuthorization}, and `allowUrl` returns true for the purpose
 * `resource`. Any other redirect fails with `redirect_refused`, and so does one whose
 * URL the runtime hides, as browsers do. With `redirect: "manual"`, redirects are
 * returned.
 *
 * - A token is refreshed before a call if it expires within `skewSeconds`, or within a
 *   quarter of its lifetime if that is shorter. If the server cannot be reached, the
 *   token is used while it is valid. Once the token has expired, a refresh without a
 *   response is repeated once, as the response may have been lost.
 * - After a `401`, or a `403` with `invalid_token`, the token is refreshed; if that is not possible, or does not help,
 *   `authorize` is called. After a `403` with `insufficient_scope`, `authorize` is
 *   called with the scopes of the session and of the challenge; after
 *   `insufficient_user_authentication`, with `acrValues` and `maxAge` (RFC 9470). After
 *   three renewals, the response is returned. A `403` is also returned if the server
 *   has not granted the scopes, or if there would be more than 100 scopes or 4,096
 *   characters.
 * - Concurrent calls share a renewal and its error. A call whose signal aborts stops
 *   waiting; when no call is left, the signal of `authorize` aborts. A refresh is
 *   always finished and stored. If the store fails to save a new session, the calls use
 *   it: it is kept in memory, and the next calls try again to save it, without waiting
 *   for that.
 * - If a refresh fails, {@linkcode adviceFor} determines what follows: for `retry`, the
 *   session is kept and the error is thrown; for `reauthorize`, the tokens are deleted;
 *   for `reregister`, the whole session is deleted, but without `authorize`, a session
 *   whose client you have named is kept and the error is thrown. After any other error
 *   response, redirect or response of the token endpoint, and if the client is of
 *   another issuer than the session, discovery and `authorize` follow.
 * - A stream as body can be sent only once: if the session is missing, expired or known
 *   to be refused, the session is renewed before the call. The body of a `Request` is
 *   read into memory before the call, as it may have to be sent again: pass a large
 *   body, or one that pauses, as `body` of the second argument.
 *
 * `authorize` must not call this fetch, as it would wait for itself: use the `fetch` of
 * its argument. In Cloudflare Workers, create an authorized fetch for each request, or
 * one in each Durable Object. The MCP SDK ends a request after 60 seconds, and a user
 * may take longer to sign in: call `.authorize()` before `connect()`.
 *
 * @param resource URL of the resource.
 * @param options How to authorize, where the session is kept, and the options of the
 * discovery. `timeoutMs` and `maxBytes` apply to requests for metadata and to the
 * authorization server, not to calls of the resource.
 * @returns A function that can be used as the `fetch` of the MCP SDK's transports. A
 * call fails as {@linkcode discoverAuthorization}, {@linkcode refreshSession} and
 * `authorize` do, and as `fetch` does.
 * @throws {OAuthClientError} `invalid_argument`: an argument is not valid, or `client`
 * has credentials and no `issuer`. `url_refused`: the resource, or an endpoint of
 * `serverMetadata`, is neither https nor http on loopback. `unsupported`:
 * `serverMetadata` has no `token_endpoint`. In a call, `unsupported`: the resource
 * requires DPoP, and `dpop` is not set; `issuer_mismatch` and
 * `identifier_mismatch`: `authorize` returned a session for another server or resource;
 * `redirect_refused`.
 * @see RFC 6750; RFC 9728; RFC 9470; RFC 9449, section 7.
 *
 * @example Call an MCP server, and sign in when it requires it
 * ```ts
 * import { createAuthorizedFetch, deviceFlow } from "@oauth-helper/client";
 *
 * const api = createAuthorizedFetch("https://api.example/mcp", {
 *   authorize: deviceFlow({
 *     clientMetadata: { client_name: "My client" },
 *     show: ({ verification_uri, user_code }) =>
 *       console.log(`Open ${verification_uri} and enter ${user_code}`),
 *   }),
 *   // Replaces the resource.
 *   fetch: () => Promise.resolve(new Response("Hello")),
 * });
 * const response = await api("https://api.example/mcp", { method: "POST" });
 * console.log(await response.text());
 * ```
 *
 * @category Sessions
 */
export function createAuthorizedFetch(
  resource: string | URL,
  options: IAuthorizedFetchOptions,
): IAuthorizedFetch {
  const settings = settingsOf(resource, options);
  const { renewal, sending } = settings;
  const { resource: target, store, authorize, rules, context } = renewal;
  const { covered } = sending;
  const { call, responses, needFor } = callsOf(settings);

  /** Reports a request without a token, whose path may contain that of the session. */
  async function reportUncovered(method: string, url: URL): Promise<void> {
    if (!context.onEvent) return;
    // Also a session that this fetch cannot use has a token.
    const session = await store.load().catch(() => null);
    const path = session === null ? "" : url.pathname;
    report(fork(context, tokensOf(session ?? undefined)), {
      type: "uncovered_request",
      method,
      url: url.origin + path,
    });
  }

  const authorizedFetch: ResourceFetch = async (input, init = {}) => {
    const url = urlOf(input);
    const headers = init.headers ??
      (input instanceof Request ? input.headers : undefined);
    const hasOwn = new Headers(headers).has("Authorization");
    if (!url || hasOwn || !isCovered(url, covered)) {
      const isNear = url && covered.some(({ origin }) => origin === url.origin);
      if (isNear && !hasOwn) {
        const method = init.method ??
          (input instanceof Request ? input.method : "GET");
        void reportUncovered(method, url);
      }
      return await sending.fetch(input, init);
    }
    return await call(new ResourceRequest(context, url, input, init));
  };

  /** Returns the session of a renewal; fails if it has no usable token. */
  function requireSession({ session, token }: IUsedSession): ISession {
    if (session && token && !responses.isRefused(token)) return session;
    if (session && authorize) return session;
    const message = words`No session for ${{
      url: target,
    }}: save one, or set authorize to have the user sign in`;
    throw errorOf(context, "unsupported", message);
  }

  /** Stores a session that was not obtained by a renewal. */
  async function save(
    session: ISession,
    signal: AbortSignal | undefined,
    revocations: number,
  ): Promise<void> {
    requireUsable(session, renewal);
    signal?.throwIfAborted();
    const requireKept = () => {
      if (revocations !== store.revocations) throw revoked();
    };
    requireKept();
    store.endTasks(REPLACED);
    const keep = async () => {
      requireKept();
      await store.save(session);
    };
    await store.soon(keep, signal);
  }

  /** Revokes the tokens of a session that is not stored, or no longer. */
  function revokeTokens(session: ISession, signal: AbortSignal | undefined) {
    return revokeSessionWith({ ...context, signal }, session);
  }

  return Object.assign(authorizedFetch, {
    async authorize({ fresh, signal }: IAuthorizedFetchSignIn = {}) {
      if (!fresh) {
        const isRefused = (token: string) => responses.isRefused(token);
        const start = { isRequired: true, isRefused };
        return requireSession(await prepare(start, renewal, signal));
      }
      const session = await underSignal(signal, () => loadSession(renewal));
      const refused = bearerOf(session, rules);
      const need = { refused, mayRefresh: false, isFresh: true };
      return requireSession(await renew(need, renewal, signal));
    },
    session: () => store.load(),
    async renew(response: Response, { signal }: IAuthorizedFetchSignal = {}) {
      let need = needFor.get(response);
      const { url } = response;
      if (!needFor.has(response) && isCovered(url, covered)) {
        const session = await underSignal(signal, () => loadSession(renewal));
        const token = bearerOf(session, rules);
        const used: IUsedSession = { session, token, source: "store" };
        need = needOf(response, used, reaches(target, url));
      }
      if (!need) {
        throw invalidArgument(
          "response",
          "of the resource: a 401, or a 403 that requires scopes not yet requested",
        );
      }
      return requireSession(await renew(need, renewal, signal));
    },
    async finish(
      callback: string | URL | URLSearchParams | Request,
      pending: IPendingAuthorization,
      { signal }: IAuthorizedFetchSignal = {},
    ) {
      const { revocations } = store;
      let session: ISession;
      try {
        const own = fork({ ...context, signal });
        session = await finishWith(own, callback, pending);
      } catch (error) {
        // An error of the store does not replace the first error.
        await markAfterVisit(pending, error, renewal, signal)
          .catch(() => {});
        throw error;
      }
      try {
        await save(session, signal, revocations);
      } catch (error) {
        // Otherwise, the tokens would stay valid although the user has signed out.
        if (revocations !== store.revocations) {
          await revokeTokens(session, signal).catch(() => {});
        }
        throw error;
      }
      report(fork(context, tokensOf(session)), signInFinished(session));
      return session;
    },
    save: (session: ISession, { signal }: IAuthorizedFetchSignal = {}) =>
      save(session, signal, store.revocations),
    async revoke({ signal }: IAuthorizedFetchSignal = {}) {
      signal?.throwIfAborted();
      store.revocations++;
      store.endTasks(revoked());
      const remove = async () => {
        const stored = await store.load();
        await store.save(undefined);
        store.deletions++;
        return stored;
      };
      const session = await store.soon(remove, signal);
      const mayRevoke = session && tokenOf(session) &&
        hasClient(session, renewal);
      if (!mayRevoke) return false;
      try {
        await revokeTokens(session, signal);
        return true;
      } catch (error) {
        signal?.throwIfAborted();
        // The session is deleted already; many servers cannot revoke tokens.
        if (isOAuthClientError(error)) return false;
        throw error;
      }
    },
  });
}
