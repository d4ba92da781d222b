/**
 * A `fetch` for one resource, which adds its token.
 *
 * @module
 */

import { invalidArgument } from "../core/_arguments.ts";
import { quoteUrl } from "../core/_url.ts";
import { isOAuthClientError, OAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import { discard } from "../http/_response.ts";
import { emit } from "../http/events.ts";
import { bearerOf } from "./_bearer.ts";
import { isCovered, reaches } from "./_covered_urls.ts";
import { unmarkVisit } from "./_new_sign_in.ts";
import { prepare, renew } from "./_renewal.ts";
import {
  type INeed,
  type IUsedSession,
  needOf,
  secretTokens,
  tokenOf,
} from "./_renewal_reason.ts";
import {
  type ResourceFetch,
  ResourceRequest,
  urlOf,
} from "./_repeatable_request.ts";
import { exchange } from "./_resource_exchange.ts";
import { signInFinished } from "./_session_events.ts";
import { REPLACED } from "./_shared_store.ts";
import { settingsOf } from "./_settings.ts";
import { hasClient, loadSession, requireUsable } from "./_usable_session.ts";
import type {
  IAuthorizedFetch,
  IAuthorizedFetchOptions,
  IAuthorizedFetchSignal,
  IAuthorizedFetchSignIn,
} from "./authorized_fetch_options.ts";
import { type ISession, revokeSession, sessionOptionsOf } from "./session.ts";
import { finishAuthorization, type IPendingAuthorization } from "./sign_in.ts";

const MAX_RENEWALS = 3;

/** Why sign-ins end when the session is revoked. */
function revoked(): DOMException {
  return new DOMException("The session was revoked", "AbortError");
}

/**
 * Creates a `fetch` for a resource that needs a token. It discovers the
 * authorization server when the resource requires a token, has the user sign in,
 * keeps the session in a store, and refreshes it.
 *
 * The token is sent to URLs at or below the path of the resource, or of one of
 * `alsoFor`, and nowhere else; a path with an encoded dot segment (`..%2f`) does not
 * count as below it. Other requests, and those with an `Authorization` of your own, are
 * passed to `fetch` unchanged.
 *
 * For an API that publishes no metadata, `serverMetadata` has what its manual says, and
 * `tokenRequired` is for one that does not respond with `401`.
 *
 * Redirects are followed one by one, so that the token does not go elsewhere. Those
 * among these URLs keep it. Those to another origin are followed for `GET` and `HEAD`
 * only, without your header fields (except `Accept`, `Accept-*`, `Range` and
 * `User-Agent`), by the rules of {@linkcode discoverAuthorization} for URLs, and if
 * `allowUrl` returns true for the purpose `resource`. Any other redirect fails with
 * `redirect_refused`, and so does one whose URL the runtime hides, as browsers do. With
 * `redirect: "manual"` it is returned.
 *
 * - A token is refreshed before a call if it expires within `skewSeconds`, or within a
 *   quarter of its lifetime if that is less. If the server cannot be reached, the
 *   token is used as long as it is valid. Once it has expired, a refresh without a
 *   response is repeated once, as the response may have been lost.
 * - After a `401`, the token is refreshed; if that is not possible, or was of no use,
 *   `authorize` is called. A `403` with `insufficient_scope` leads to `authorize` with
 *   the scopes of the session and of the challenge; `insufficient_user_authentication`
 *   with `acrValues` and `maxAge` (RFC 9470). After three renewals, the response is
 *   returned as it is; a `403` also if the server has not granted the scopes, or if
 *   they would be more than 100 or 4,096 characters.
 * - Concurrent calls share a renewal and its failure. A call whose signal aborts
 *   leaves it; when no call is left, the signal of `authorize` aborts. A refresh is
 *   always finished and stored. If the store fails to save the session of a refresh
 *   or of `authorize`, the calls go on with it: it is kept in memory, and the next
 *   calls try again to save it, without waiting for that.
 * - If a refresh fails, {@linkcode adviceFor} decides: with `retry` the session is
 *   kept and the error thrown, with `reauthorize` its tokens are deleted, with
 *   `reregister` all of it; without `authorize`, a session whose client you have named
 *   is kept then, and the error thrown. With any other error response, redirect or
 *   response of the token endpoint, and if the client is of another issuer than the
 *   session, discovery and `authorize` follow.
 * - A stream as body is sent once: if the session is missing, expired or known to be
 *   refused, it is renewed before the call. The body of a `Request` is kept in memory
 *   until the call has ended, as it may have to be sent again: pass a large one as
 *   `body` of the second argument.
 *
 * `authorize` must not call this fetch, as it would wait for itself: use the `fetch`
 * of its argument. In Cloudflare Workers, create one for each request, or one in each
 * Durable Object. The MCP SDK ends a request after 60 seconds, in which a user may not
 * have signed in: call `.authorize()` before `connect()`.
 *
 * @param resource URL of the resource.
 * @param options How to authorize, where the session is kept, and the options of the
 * discovery. `timeoutMs` and `maxBytes` apply to requests to the authorization
 * server, not to the resource.
 * @returns A function that can be used as the `fetch` of the MCP SDK's transports. A
 * call fails as {@linkcode discoverAuthorization}, {@linkcode refreshSession} and
 * `authorize` do, and as `fetch` does.
 * @throws {OAuthClientError} `invalid_argument`: an argument is not valid, or
 * `client` has credentials and no `issuer`. `url_refused`: the resource is not https,
 * nor http on loopback, or an endpoint of `serverMetadata` is not; `unsupported`: it has
 * no `token_endpoint`. In a call, `issuer_mismatch` and `identifier_mismatch`:
 * `authorize` returned a session for another server or resource; `redirect_refused`.
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
 */
export function createAuthorizedFetch(
  resource: string | URL,
  options: IAuthorizedFetchOptions,
): IAuthorizedFetch {
  const { renewal, sending, tokenRequired } = settingsOf(resource, options);
  const { resource: target, store, authorize, rules, onEvent } = renewal;
  const { covered } = sending.redirects;
  /** The need that each 401 and 403 leads to, if it is of the API. */
  const needFor = new WeakMap<Response, INeed | undefined>();
  let refusedToken: string | undefined;

  /** Sends a request, and again after each renewal that its response requires. */
  async function call(request: ResourceRequest): Promise<Response> {
    const { signal, isSentOnce } = request;
    const { revocations } = store;
    const start = { isRequired: isSentOnce || tokenRequired, refusedToken };
    let used = await prepare(start, renewal, signal);
    for (let renewals = 0;; renewals++) {
      request.session = used.session;
      const { token } = used;
      const { response, isOfApi } = await exchange(request, token, sending);
      const { status } = response;
      if (status !== 401 && status !== 403) return response;
      if (isOfApi && status === 401) refusedToken = token;
      const isOfResource = reaches(target, request.url);
      const need = isOfApi ? needOf(response, used, isOfResource) : undefined;
      const isRevoked = revocations !== store.revocations;
      needFor.set(response, need);
      if (!need || isSentOnce || isRevoked || renewals === MAX_RENEWALS) {
        return response;
      }
      // Before a sign-in, which may take minutes.
      if (authorize) discard(response);
      const { secrets } = request;
      try {
        used = await renew({ ...need, secrets }, renewal, signal);
      } catch (error) {
        discard(response);
        throw error;
      }
      if (!authorize && (used.token ?? token) === token) return response;
      discard(response);
    }
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
        const event = { method, url: url.origin + url.pathname };
        emit(onEvent, { type: "uncovered_request", ...event });
      }
      return await sending.fetch(input, init);
    }
    const request = new ResourceRequest(url, input, init);
    try {
      return await call(request);
    } finally {
      request.close();
    }
  };

  /** Returns the session of a renewal; fails if it has no token that can be used. */
  function requireSession({ session, token }: IUsedSession): ISession {
    if (session && token && token !== refusedToken) return session;
    if (session && authorize) return session;
    const message = `No session for ${quoteUrl(target)}: save one, or set ` +
      "authorize to have the user sign in";
    throw new OAuthClientError("unsupported", message);
  }

  /** Stores a session that was not obtained by a renewal. */
  async function save(
    session: ISession,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    requireUsable(session, renewal);
    signal?.throwIfAborted();
    store.endTasks(REPLACED);
    await store.soon(() => store.save(session), signal);
  }

  return Object.assign(authorizedFetch, {
    async authorize({ fresh, signal }: IAuthorizedFetchSignIn = {}) {
      if (!fresh) {
        const start = { isRequired: true, refusedToken };
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
        session = await finishAuthorization(callback, pending, {
          ...sessionOptionsOf(renewal.options),
          signal,
        });
      } catch (error) {
        // What the store fails with does not replace the error.
        await unmarkVisit(pending, error, renewal, signal).catch(() => {});
        throw error;
      }
      if (revocations !== store.revocations) throw revoked();
      await save(session, signal);
      emit(onEvent, signInFinished(session), secretTokens(session));
      return session;
    },
    save: (session: ISession, { signal }: IAuthorizedFetchSignal = {}) =>
      save(session, signal),
    async revoke({ signal }: IAuthorizedFetchSignal = {}) {
      signal?.throwIfAborted();
      store.revocations++;
      store.endTasks(revoked());
      const remove = async () => {
        const stored = await store.load();
        await store.save(undefined);
        return stored;
      };
      const session = await underSignal(
        signal,
        () => store.locked(remove, signal),
      );
      const mayRevoke = session && tokenOf(session) &&
        hasClient(session, renewal);
      if (!mayRevoke) return false;
      try {
        await revokeSession(session, {
          ...sessionOptionsOf(renewal.options),
          signal,
        });
        return true;
      } catch (error) {
        signal?.throwIfAborted();
        // The session is deleted; many servers revoke nothing.
        if (isOAuthClientError(error)) return false;
        throw error;
      }
    },
  });
}
