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
import { isLeft } from "./_asking.ts";
import { bearerOf } from "./_bearer.ts";
import { isCovered, reaches } from "./_covered_urls.ts";
import { markAfterVisit } from "./_visit_mark.ts";
import { fetchOptionsOf } from "./_option_names.ts";
import { prepare, renew } from "./_renewal.ts";
import {
  type INeed,
  type IUsedSession,
  needOf,
  reasonFor,
  tokenOf,
  tokensOf,
} from "./_renewal_reason.ts";
import {
  fieldsOf,
  isRequest,
  type ResourceFetch,
  ResourceRequest,
  urlOf,
} from "./_resource_request.ts";
import { callsOf, MAX_RENEWALS } from "./_resource_call.ts";
import { reportSignIn } from "./_session_events.ts";
import { REPLACED, revoked } from "./_shared_store.ts";
import { type ISettings, settingsOf } from "./_settings.ts";
import { hasClient, loadSession, requireUsable } from "./_usable_session.ts";
import type {
  IAuthorizedFetch,
  IAuthorizedFetchOptions,
  IAuthorizedFetchSignal,
  IAuthorizedFetchSignIn,
} from "./authorized_fetch_options.ts";
import { type ISession, revokeSessionWith } from "./session.ts";
import {
  type IPendingAuthorization,
  requirePending,
} from "./pending_authorization.ts";
import { finishWith } from "./sign_in.ts";

/**
 * Creates a `fetch` for a resource that requires a token. When the resource responds
 * with `401`, it discovers the authorization server and calls `authorize` for a token,
 * for example to have the user sign in. It keeps the session in a store, and refreshes
 * it. {@linkcode IAuthorizedFetch} lists the rules: which requests contain the token,
 * when it is renewed, and what follows a failure.
 *
 * For an API that publishes no metadata, set `serverMetadata` from its documentation.
 * For an API that does not respond with `401`, set `tokenRequired`.
 *
 * @param resource URL of the resource.
 * @param options How to authorize, where the session is kept, and the options of the
 * discovery. `timeoutMs` and `maxBytes` apply to requests for metadata and to the
 * authorization server, not to calls of the resource.
 * @returns A function that can be used as the `fetch` of the MCP SDK's transports. A
 * call fails as {@linkcode discoverAuthorization}, {@linkcode refreshSession} and
 * `authorize` do, and as `fetch` does.
 * @throws {OAuthClientError} `invalid_argument`: an argument is not valid, an option is
 * unknown or of a flow, or `client` has credentials and no `issuer`. `url_refused`: the
 * resource, or an endpoint of `serverMetadata`, is neither https nor http on loopback.
 * `unsupported`: `serverMetadata` has no `token_endpoint`. In a call, `unsupported`: the
 * resource requires DPoP, and `dpop` is not set; `issuer_mismatch` and
 * `identifier_mismatch`: `authorize` returned a session for another server or resource;
 * `invalid_argument`: HTTP does not allow a header field; `redirect_refused`.
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
  return fetchWith(settingsOf(resource, fetchOptionsOf(options)));
}

/** Creates a `fetch` for a resource. See {@linkcode createAuthorizedFetch}. */
export function fetchWith(settings: ISettings): IAuthorizedFetch {
  const { renewal, sending } = settings;
  const { resource: target, store, authorize, rules, context, asking } =
    renewal;
  const { memory, memory: { responses } } = store;
  const { covered } = sending;
  const { call, needFor } = callsOf(settings);

  /**
   * Reports a request without a token, whose path may contain the token of the session.
   */
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
    if (!url) {
      const example = `new URL(path, ${JSON.stringify(target.origin)})`;
      throw invalidArgument(
        "The URL of a call",
        `absolute, such as ${example}`,
      );
    }
    const headers = fieldsOf(input, init);
    const hasOwn = Object.keys(headers)
      .some((name) => name.toLowerCase() === "authorization");
    if (hasOwn || !isCovered(url, covered)) {
      const isNear = covered.some(({ origin }) => origin === url.origin);
      if (isNear && !hasOwn) {
        const method = init.method ??
          (isRequest(input) ? input.method : "GET");
        void reportUncovered(method, url);
      }
      return await sending.fetch(input, init);
    }
    const own = { ...init, headers };
    return await call(new ResourceRequest(context, url, input, own));
  };

  /** Returns the session of a renewal; fails if it has no usable token. */
  function requireSession({ session, token }: IUsedSession): ISession {
    if (session && token && !responses.hasRefused(token)) return session;
    if (session && authorize) return session;
    const message = words`No session for ${{
      url: target,
    }}: save one, or set authorize to have the user sign in`;
    throw errorOf(context, "unsupported", message);
  }

  /** Returns the session for a click. If it was refreshed, the next click asks the user. */
  function clicked(used: IUsedSession): ISession {
    responses.noteClick();
    if (used.source === "refresh") responses.noteRefresh(used.token);
    return requireSession(used);
  }

  /** Stores a session that was not obtained by a renewal, and returns what is stored. */
  async function save(
    session: ISession,
    signal: AbortSignal | undefined,
    isRevoked: () => boolean,
  ): Promise<ISession> {
    const kept = requireUsable(session, renewal);
    signal?.throwIfAborted();
    const requireKept = () => {
      if (isRevoked()) throw revoked();
    };
    requireKept();
    store.saved = kept;
    store.obsolete = undefined;
    store.endTasks(REPLACED);
    memory.signedIn(asking, bearerOf(session, rules), { isWanted: true });
    const keep = async () => {
      requireKept();
      await store.save(kept);
      const { obsolete } = store;
      if (obsolete) await revokeTokens(obsolete, undefined).catch(() => {});
      return kept;
    };
    return await store.soon(keep, signal);
  }

  /** Revokes the tokens of a session that is not stored, or no longer. */
  function revokeTokens(session: ISession, signal: AbortSignal | undefined) {
    return revokeSessionWith({ ...context, signal }, session);
  }

  return Object.assign(authorizedFetch, {
    async authorize({ fresh, signal }: IAuthorizedFetchSignIn = {}) {
      memory.wanted();
      const missing = fresh ? undefined : memory.lackedBy(asking);
      if (!fresh && !missing) {
        const start = {
          isRequired: true,
          isRefused: (token: string) => responses.isReplaceable(token),
          isHopeless: (token: string) => responses.isHopeless(token),
          isWanted: true,
        };
        return clicked(await prepare(start, renewal, signal));
      }
      const stored = await underSignal(signal, () => loadSession(renewal));
      const need: INeed = !missing
        ? {
          reason: "fresh",
          refused: bearerOf(stored, rules),
          mayRefresh: false,
        }
        : missing.acrValues === undefined && missing.maxAge === undefined
        ? missing
        // A refresh since then is no other authentication.
        : { ...missing, refused: bearerOf(stored, rules) };
      const used = await renew({ ...need, isWanted: true }, renewal, signal);
      memory.obtained(asking);
      return clicked(used);
    },
    session: () => loadSession(renewal),
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
      // A program could otherwise repeat this for ever.
      if (responses.refreshes >= MAX_RENEWALS) {
        const message = words`The tokens for ${{
          url: target,
        }} are refused: call authorize()`;
        const { reason } = need;
        const details = { reason, resource: target.href };
        throw errorOf(context, "sign_in_required", message, details);
      }
      const used = await renew(need, renewal, signal);
      if (used.source !== "store") responses.noteRefresh(used.token);
      return requireSession(used);
    },
    async finish(
      callback: string | URL | URLSearchParams | Request,
      pending: IPendingAuthorization,
      { signal }: IAuthorizedFetchSignal = {},
    ) {
      requirePending(pending);
      const isRevoked = memory.watchRevocation();
      let session: ISession;
      try {
        session = await finishWith({ ...context, signal }, callback, pending);
      } catch (error) {
        // It says nothing about the client, and the store may hang.
        signal?.throwIfAborted();
        // An error of the store does not replace the first error.
        await markAfterVisit(pending, error, renewal, signal)
          .catch(() => {});
        const session = await underSignal(signal, () => loadSession(renewal))
          .catch(() => undefined);
        // Anybody can call a page with a response of no visit; and the next sign-in has
        // another client than the one that is marked now.
        const isShown =
          !isOAuthClientError(error, "invalid_authorization_response") &&
          !session?.isUserAway;
        if (!isRevoked() && isLeft(error, isShown)) {
          // The user was sent away although this token has not expired.
          const refused = bearerOf(session, rules);
          const need = {
            reason: reasonFor(refused),
            refused,
            mayRefresh: true,
          };
          memory.leftElsewhere(error, session, need, asking);
        }
        signal?.throwIfAborted();
        throw error;
      }
      try {
        session = await save(session, signal, isRevoked);
      } catch (error) {
        // Otherwise, the tokens would stay valid although the user has signed out.
        if (isRevoked()) {
          await revokeTokens(session, signal).catch(() => {});
        }
        throw error;
      }
      reportSignIn(context, session);
      return session;
    },
    async save(session: ISession, { signal }: IAuthorizedFetchSignal = {}) {
      await save(session, signal, memory.watchRevocation());
    },
    async revoke({ signal }: IAuthorizedFetchSignal = {}) {
      signal?.throwIfAborted();
      memory.revoked();
      store.endTasks(revoked());
      const session = await store.soon(() => store.remove(), signal);
      if (!session) return false;
      try {
        const mayRevoke = tokenOf(session) && hasClient(session, renewal);
        if (mayRevoke) await revokeTokens(session, signal);
        return Boolean(mayRevoke);
      } catch (error) {
        signal?.throwIfAborted();
        // The session is deleted already; many servers cannot revoke tokens.
        if (isOAuthClientError(error)) return false;
        throw error;
      }
    },
  });
}
