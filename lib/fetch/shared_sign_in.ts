/**
 * One sign-in for several APIs of one authorization server.
 *
 * @module
 */

import {
  invalidArgument,
  requireArgument,
  requireHttpUrl,
  requireNames,
  requireObject,
} from "../core/_arguments.ts";
import { requireScopes } from "../core/_scope_values.ts";
import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { mergeScopes, OFFLINE_ACCESS } from "../core/scopes.ts";
import type {
  IOthers,
  IOwnOptions,
  ISharedRequest,
} from "../flows/_sharing.ts";
import type { ISharedApi, ISharedSignIn } from "../flows/shared_apis.ts";
import { underSignal } from "../http/_clock.ts";
import { fork, type IContext, report } from "../http/_context.ts";
import { errorOf, literal, words } from "../http/_error.ts";
import {
  namedIndicator,
  requestedResource,
} from "../session/_requested_resource.ts";
import type { ISession, ISessionApi } from "../session/session.ts";
import type { ISessionStore } from "../session/store.ts";
import { tokensOf } from "./policy/_need.ts";
import { discoverFor } from "./_new_sign_in.ts";
import type { IFetchSharing } from "./_api_context.ts";
import {
  isSame,
  mergeSessions,
  rebased,
  requireServer,
  separateApi,
  viewOf,
  withoutTokens,
} from "./_shared_session.ts";
import { loadStored } from "./keeper/_session_keeper.ts";
import { nearest } from "./policy/_covered_urls.ts";
import { requireUsable } from "./_usable_session.ts";

/** Where the options of each API, and of those that share with it, come from. */
type Apis = Readonly<Record<string, ISharedApi>>;

/**
 * Checks whether a server has rejected a request for several APIs: it may know only one of
 * them, or no request for several (RFC 8707, section 2).
 */
function isRefusedTarget(error: unknown): boolean {
  return isOAuthClientError(error) && error.error === "invalid_target";
}

/** What may be set for an API; the compiler reports one that is missing. */
const API_OPTIONS: Record<keyof ISharedApi, true> = {
  scopes: true,
  resource: true,
  parameters: true,
  tokenParameters: true,
};

/** Returns copies: what the caller changes later must not change a sign-in. */
function copyOf(apis: Apis): Apis {
  const entries = Object.entries(requireObject("apis", apis));
  requireArgument(
    entries.length > 0,
    "apis",
    "an object with a key for each API",
  );
  return Object.fromEntries(entries.map(([name, given]) => {
    const place = `apis[${JSON.stringify(name)}]`;
    requireHttpUrl(`The key of ${place}`, name);
    const api = requireObject(place, given);
    requireNames(api, Object.keys(API_OPTIONS), place);
    if (api.scopes !== undefined) requireScopes(`${place}.scopes`, api.scopes);
    namedIndicator(api.resource);
    return [name, JSON.parse(JSON.stringify(api))];
  }));
}

type Parameters = Record<string, string> | undefined;

/** Returns the parameters of a flow, replaced or completed by an API's. */
function both(
  flow: Readonly<Parameters>,
  api: Readonly<Parameters>,
): Parameters {
  return flow || api ? { ...flow, ...api } : undefined;
}

/** Returns the options of a flow for one API. */
function ownOptionsOf<T extends IOwnOptions>(options: T, api: ISharedApi): T {
  const { scopes, resource, parameters, tokenParameters } = options;
  const all = api.scopes && mergeScopes(scopes, api.scopes);
  return {
    ...options,
    scopes: all ?? scopes,
    resource: api.resource ?? resource,
    parameters: both(parameters, api.parameters),
    tokenParameters: both(tokenParameters, api.tokenParameters),
  };
}

/** Returns the APIs of a sign-in for one alone: each of the others has its own. */
function aloneOf(apis: IOthers["apis"]): IOthers {
  const others = Object.entries(apis)
    .map(([name, api]) => [name, { ...api, isAlone: true }]);
  const none = { scopes: [], resources: [] };
  return { ...none, apis: Object.fromEntries(others), isAlone: true };
}

/**
 * Returns an error of a visit with what may help: a server that rejects several APIs may
 * show the user a page, and never redirect.
 */
function withSharingHint(error: unknown, context: IContext): unknown {
  const isPage = isOAuthClientError(error) && error.url === undefined &&
    /^(timeout|popup_closed)$/.test(error.code);
  if (!isPage) return error;
  const message = literal(
    `${error.message} (if the server showed an error page, it may reject one ` +
      "sign-in for several APIs: leave out apis, and give each API its own store)",
  );
  return errorOf(context, error.code, message, { cause: error });
}

/**
 * Has several APIs of one authorization server share a sign-in: for the option `apis` of
 * {@linkcode createAuthorizedFetch}. Create a fetch for each API, with this object and the
 * same store.
 *
 * - The user signs in once: the request names all APIs (RFC 8707, section 2.1) and their
 *   scopes. The store has one session, with one refresh token and an access token for
 *   each API. A refresh names one API.
 * - Before the first token of an API is requested, and before each sign-in, the metadata
 *   of the API must name the same server.
 * - A step-up of one API keeps the tokens of the others. `revoke()` of any fetch ends
 *   the session for all.
 * - If the server declines to share (`invalid_target`), the event `sharing_refused` says
 *   so, and each API signs in by itself, once. A refresh token that the server rejected
 *   for an API is deleted.
 * - If a server knows an API by its scopes or by another parameter than `resource`, set
 *   `resource`, `parameters` and `tokenParameters` of the API.
 *
 * @param apis The APIs, by the identifier of their resource: the `resource` of their
 * metadata, or the URL that you create the fetch with.
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid. A fetch with
 * `apis` throws it without `store`, with `bearer: "id_token"`, with a flow that needs no
 * user, and with another `dpop` than the other fetches of the store.
 * @see RFC 8707, section 2.
 *
 * @example One sign-in for a calendar and mail
 * ```ts
 * import {
 *   createAuthorizedFetch,
 *   deviceFlow,
 *   memoryStore,
 *   sharedSignIn,
 * } from "@oauth-helper/client";
 *
 * const calendarUrl = "https://calendar.example/v1";
 * const mailUrl = "https://mail.example/v1";
 * const options = {
 *   store: memoryStore(),
 *   apis: sharedSignIn({
 *     [calendarUrl]: { scopes: ["calendar.read"] },
 *     [mailUrl]: { scopes: ["mail.read"] },
 *   }),
 *   authorize: deviceFlow({
 *     clientMetadata: { client_name: "My client" },
 *     show: ({ verification_uri, user_code }) =>
 *       console.log(`Open ${verification_uri} and enter ${user_code}`),
 *   }),
 * };
 * export const calendar = createAuthorizedFetch(calendarUrl, options);
 * export const mail = createAuthorizedFetch(mailUrl, options);
 * ```
 *
 * @category Sessions
 */
export function sharedSignIn(
  apis: Readonly<Record<string, ISharedApi>>,
): ISharedSignIn {
  const all = copyOf(apis);
  const resources = Object.keys(all);
  /** The key that the tokens of a store are bound to. */
  const keys = new WeakMap<ISessionStore, string>();

  /** Returns the APIs that share a sign-in with one of them. */
  function sharersOf(
    resource: string,
    session: ISession | undefined,
    options: IOwnOptions,
  ): IOthers {
    const others = Object.entries(all).flatMap(([name, api]) => {
      const [known = name, former] = Object.entries(session?.apis ?? {})
        .find(([one]) => isSame(one, name)) ?? [];
      if (isSame(name, resource) || former?.isAlone) return [];
      const own = ownOptionsOf(options, api);
      const indicator = namedIndicator(own.resource);
      const other: ISessionApi = {
        ...(own.resource === false && { omitResource: true }),
        ...(indicator !== undefined && { resourceIndicator: indicator }),
        ...(own.tokenParameters && { tokenParameters: own.tokenParameters }),
        scopes: mergeScopes(api.scopes, former?.scopes),
      };
      return [[known, other] as const];
    });
    return {
      apis: Object.fromEntries(others),
      scopes: mergeScopes(...others.map(([, api]) => api.scopes)),
      resources: others.flatMap(([resource, api]) =>
        requestedResource({ ...api, resource }) || []
      ),
    };
  }

  const sharing: IFetchSharing = {
    resources,
    viewOf,
    withoutTokens,
    rebased,

    isOf(one, url) {
      const name = nearest(resources, url);
      return name === undefined || name === nearest(resources, one);
    },

    receiverOf({ href }, { store, bearer, dpop, authorize, onEvent }) {
      const resource = nearest(resources, href) ?? "";
      const { thumbprint = "" } = dpop ?? {};
      const key = store && keys.get(store);
      const problems = {
        apis: !resource &&
          `an object with a key for ${href}, or a URL above it`,
        bearer: bearer === "id_token" &&
          "absent with apis: an ID token is for the client, whatever the API",
        authorize: authorize?.needsUser === false &&
          "a flow with a user: without apis, a fetch of each API needs none",
        store: authorize && !store &&
          "set with apis, which share the session in it",
        dpop: (key ?? thumbprint) !== thumbprint &&
          "the same for each fetch with apis",
      };
      for (const [name, expected] of Object.entries(problems)) {
        if (expected) throw invalidArgument(name, expected);
      }
      if (store) keys.set(store, thumbprint);
      return onEvent && ((event) => onEvent({ ...event, resource }));
    },

    async requireServer(context, found, api) {
      const load = () => loadStored(api).catch(() => undefined);
      requireServer(context, found, await underSignal(context.signal, load));
    },

    async check(session, need, api) {
      const { apis, isAlone, token, resource } = session;
      if (!apis || isAlone || token.access_token) return session;
      const context = fork(api.context, tokensOf(session));
      const own = { ...api, context };
      const found = await discoverFor(need, own);
      // Byte for byte as in the metadata, which the caller need not know.
      const next = isSame(resource, found.resource)
        ? { ...session, resource: found.resource }
        : session;
      // The server of another API could return anything, such as another user's token.
      requireUsable(withoutTokens(next), own, found);
      return next;
    },

    separatedAfter(error, session) {
      const isShared = session.apis && !session.isAlone;
      if (!isShared || !isRefusedTarget(error)) return undefined;
      // Many servers take the refresh token for used then: a second use would look like
      // theft. The others keep their access tokens.
      return separateApi(session);
    },

    begin(context, found, given, need) {
      const { resource, serverMetadata: { issuer } } = found;
      requireServer(context, found, given);
      const session = given?.issuer === issuer ? given : undefined;
      const name = resources.find((one) => isSame(one, resource));
      if (name === undefined) {
        const message = words`Invalid apis: expected an object with ${{
          url: resource,
        }}, the resource that the sign-in is for`;
        throw errorOf(context, "invalid_argument", message);
      }
      // The server has refreshed for another API, or for none.
      const isMisled = need?.reason === "refused" && !need.mayRefresh &&
        session?.apis && session.token.refresh_token;
      const isAlone = Boolean(session?.isAlone || isMisled);
      const othersOf = (options: IOwnOptions) =>
        isAlone ? aloneOf({}) : sharersOf(resource, session, options);
      const apis: Pick<ISharedApi, "scopes">[] = [
        ...Object.values(all),
        ...Object.values(session?.apis ?? {}),
      ];
      const request: ISharedRequest = {
        scopes: mergeScopes(...apis.map(({ scopes }) => scopes)),
        ownOf(options) {
          const own = ownOptionsOf(options, all[name]!);
          const isSameUser = need && need.reason !== "fresh";
          return isSameUser && own.scopes
            ? { ...own, scopes: mergeScopes(own.scopes, session?.scopes) }
            : own;
        },
        othersOf,
        aloneOf: (options) => aloneOf(othersOf(options).apis),
        async sessionOf(options, signIn) {
          const others = othersOf(options);
          try {
            return await signIn(others);
          } catch (error) {
            if (Object.keys(others.apis).length === 0) throw error;
            if (!isRefusedTarget(error)) throw withSharingHint(error, context);
            const { error: code = "" } = error as OAuthClientError;
            report(context, { type: "sharing_refused", issuer, code });
            return await signIn(aloneOf(others.apis));
          }
        },
      };
      return request;
    },

    end({ ...session }, former, need) {
      const { scopes, omitResource, resource } = session;
      if (!session.apis) {
        // The caller's own flow, which knows nothing of the others.
        const options = { resource: omitResource && false as const };
        session.apis = { ...sharersOf(resource, former, options).apis };
        if (former?.isAlone) session.isAlone = true;
      }
      const offline = scopes.filter((scope) => scope === OFFLINE_ACCESS);
      const requested = Object.entries(session.apis).map(([name, api]) => {
        const all = api.isAlone ? api.scopes : mergeScopes(api.scopes, offline);
        return [name, { ...api, scopes: all }];
      });
      const own = { ...session, apis: Object.fromEntries(requested) };
      return mergeSessions(own, former, need);
    },
  };
  return sharing;
}
