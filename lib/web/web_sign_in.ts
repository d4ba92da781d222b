/**
 * The sign-in of a web server.
 *
 * @module
 */

import { isOAuthClientError, OAuthClientError } from "../core/errors.ts";
import { bearerOf } from "../session/_bearer.ts";
import { isCovered, reaches } from "../session/_covered_urls.ts";
import { type INeed, needOf } from "../session/_renewal_reason.ts";
import { createAuthorizedFetch } from "../session/authorized_fetch.ts";
import { buildEndSessionUrl } from "../session/end_session.ts";
import type { ISession } from "../session/session.ts";
import type { ISignedIn } from "./_cookies.ts";
import { isForeign, isNavigation, pathOf, urlOf } from "./_requests.ts";
import { page, redirect, refuse } from "./_responses.ts";
import { Visits } from "./_visit.ts";
import { fetchOptionsOf, webSettingsOf } from "./_web_settings.ts";
import type {
  IWebLoginOptions,
  IWebRequest,
  IWebSignIn,
  IWebSignInOptions,
  WebSignInStep,
} from "./web_sign_in_options.ts";

/** After a sign-in, how long a `401` does not lead to the next: it would be endless. */
const JUST_SIGNED_IN_SECONDS = 10;

/**
 * Creates the sign-in of a web server: three routes, and the API for each user. Its
 * functions take a `Request` and return a `Response`; they run in Node, Deno, Bun and
 * Workers. The session of a user is in your store, and the cookie has its identifier,
 * encrypted.
 *
 * - Tabs that sign in at once do not disturb each other: each visit has a cookie of its
 *   own, for an hour, four at most.
 * - After a sign-in, the session has a new identifier, and the former session is
 *   deleted. Its tokens are not revoked: many servers would revoke the new ones too.
 * - Cookies are set by a sign-in and a sign-out only, so that other responses need none:
 *   pages may be rendered where no cookie can be set, and may run at once.
 * - Errors lead to a page, and are passed to `onError`: no function rejects because of
 *   a server or a user.
 *
 * @param resource URL of the resource.
 * @param options The site, its client, and where sessions are kept; the options of
 * {@linkcode createAuthorizedFetch} and of a sign-in.
 * @throws {OAuthClientError} `invalid_argument`, `url_refused`: an option is not valid.
 * @see RFC 6749, section 10.12; RFC 9700, section 4.7; RFC 6265bis, section 4.1.3.
 *
 * @example A server
 * ```ts
 * import type { IKnownClient } from "@oauth-helper/client";
 * import { redisStore, type IRedisClient } from "@oauth-helper/client/stores";
 * import { createWebSignIn } from "@oauth-helper/client/web";
 *
 * export function serve(redis: IRedisClient, client: IKnownClient, key: string) {
 *   const resource = "https://api.example/notes";
 *   const lifetimeSeconds = 30 * 24 * 3600;
 *   const signIn = createWebSignIn(resource, {
 *     origin: "https://app.example",
 *     client,
 *     storeOf: (id) => redisStore(redis, `user:${id}`, { lifetimeSeconds }),
 *     cookieKeys: [key],
 *     lifetimeSeconds,
 *   });
 *   return async (request: Request) => {
 *     const handled = await signIn.handle(request);
 *     if (handled) return handled;
 *     const api = await signIn.apiOf(request);
 *     if (!api) return await signIn.login(request);
 *     const response = await api(resource);
 *     return await signIn.loginFor(request, response) ?? response;
 *   };
 * }
 * ```
 *
 * @category Sessions
 */
export function createWebSignIn(
  resource: string | URL,
  options: IWebSignInOptions,
): IWebSignIn {
  const settings = webSettingsOf(resource, options);
  const { origin, paths, home, cookies, renewal, sending, now } = settings;
  const { loginPath, callbackPath, logoutPath, homePath } = paths;
  const { storeOf, onError, allowHttp } = options;
  const visits = new Visits(settings);

  const fetchOf = (id: string) =>
    createAuthorizedFetch(resource, fetchOptionsOf(options, storeOf(id)));

  /** Returns a session; one that cannot be read does not keep the user from leaving. */
  async function sessionOf(
    signedIn: ISignedIn | undefined,
  ): Promise<ISession | undefined> {
    return signedIn &&
      await fetchOf(signedIn.id).session().catch(() => undefined);
  }

  /** Returns where the user of a request goes after the sign-in. */
  function returnToOf(
    request: IWebRequest,
    returnTo: string | undefined,
  ): string {
    const { pathname, search, searchParams } = urlOf(request, origin);
    const own = request.method === "GET" ? pathname + search : undefined;
    const wanted = returnTo ??
      (pathname === loginPath ? searchParams.get("returnTo") : own);
    const path = pathOf(wanted, origin) ?? homePath;
    const [name = ""] = path.split(/[?#]/);
    const isOurs = [loginPath, callbackPath, logoutPath].includes(name);
    return isOurs ? homePath : path;
  }

  /** Responds to a request that has failed. */
  async function failed(
    error: unknown,
    step: WebSignInStep,
    request: IWebRequest,
    returnTo = homePath,
    lines?: readonly string[],
  ): Promise<Response> {
    const login = new URL(loginPath, origin);
    if (returnTo !== homePath) login.searchParams.set("returnTo", returnTo);
    const shown = page(error, login.href, home, lines);
    if (onError) {
      return await onError(error, { step, request, page: shown }) ?? shown;
    }
    const isOfUser = isOAuthClientError(error) &&
      (error.error === "access_denied" || error.code === "expired");
    if (!isOfUser) console.error(error);
    return shown;
  }

  /** Redirects the user to the server. */
  async function begin(
    request: IWebRequest,
    { returnTo: wish, parameters }: IWebLoginOptions,
    need: INeed,
    session: ISession | undefined,
  ): Promise<Response> {
    const returnTo = returnToOf(request, wish);
    try {
      const wanted = { need, session, parameters, returnTo };
      const { url, cookie } = await visits.begin(request.headers, wanted);
      return redirect(url, [cookie]);
    } catch (error) {
      return await failed(error, "login", request, returnTo);
    }
  }

  const signIn: IWebSignIn = {
    async login(request, login = {}) {
      if (!isNavigation(request)) {
        return refuse(403, "This page redirects: open it in a browser.");
      }
      const session = await sessionOf(await cookies.signedIn(request.headers));
      const need = { refused: undefined, mayRefresh: false, isFresh: true };
      return await begin(request, login, need, session);
    },

    async loginFor(request, response, login = {}) {
      const { resource: target, rules } = renewal;
      const url = response.url || target;
      if (!isCovered(url, sending.covered) || !isNavigation(request)) {
        return undefined;
      }
      const signedIn = await cookies.signedIn(request.headers);
      const session = await sessionOf(signedIn);
      const age = signedIn ? now() / 1000 - signedIn.at : Infinity;
      const need = needOf(response, {
        session,
        token: bearerOf(session, rules),
        source: age < JUST_SIGNED_IN_SECONDS ? "authorize" : "store",
      }, reaches(target, url));
      return need && await begin(request, login, need, session);
    },

    async callback(request) {
      const { method, headers } = request;
      if (method !== "GET") {
        return refuse(405, "Only GET is possible.", { Allow: "GET" });
      }
      if (!isNavigation(request)) {
        return refuse(403, "This page is opened by the server.");
      }
      const { search, searchParams } = urlOf(request, origin);
      const [signedIn, visit] = await Promise.all([
        cookies.signedIn(headers),
        cookies.visit(headers, searchParams.get("state")),
      ]);
      if (!visit) {
        // A reload, or the button "back".
        if (signedIn) return redirect(home);
        const message = "No visit of this browser has the state of the " +
          "callback: it was finished, has taken more than an hour, or has " +
          "begun in another browser; or the browser keeps no cookies";
        const error = new OAuthClientError("expired", message);
        return await failed(error, "callback", request);
      }
      const end = cookies.end(visit);
      const { returnTo } = visit;
      try {
        const id = await visits.finish(search, visit);
        if (signedIn && signedIn.id !== id) {
          // If that fails, the lifetime of the values in the store ends the session.
          await storeOf(signedIn.id).save(undefined).catch(() => {});
        }
        // Absolute: `//evil.example` is a path of the site, and alone another site.
        return redirect(origin + returnTo, [end, await cookies.signIn(id)]);
      } catch (error) {
        return await failed(error, "callback", request, returnTo, [end]);
      }
    },

    async logout(request, { atServer = true } = {}) {
      const { method, headers } = request;
      if (method !== "POST") {
        return refuse(405, "Only POST is possible.", { Allow: "POST" });
      }
      if (isForeign(request, origin)) {
        return refuse(403, "The request is of another site.");
      }
      const signedIn = await cookies.signedIn(headers);
      // A cookie of ours would replace the one that a foreign request lacks.
      if (!signedIn) return redirect(home);
      try {
        const session = await sessionOf(signedIn);
        if (session) await fetchOf(signedIn.id).revoke();
        // Also one that cannot be read, as of another version.
        else await storeOf(signedIn.id).save(undefined);
        const back = { postLogoutRedirectUri: home, allowHttp };
        const end = atServer && session && buildEndSessionUrl(session, back);
        const url = end ? end.href : home;
        return redirect(url, cookies.signOut(headers));
      } catch (error) {
        // The user is still signed in, and can try again.
        return await failed(error, "logout", request);
      }
    },

    async apiOf({ headers }) {
      const signedIn = await cookies.signedIn(headers);
      return signedIn && fetchOf(signedIn.id);
    },

    async handle(request) {
      switch (urlOf(request, origin).pathname) {
        case loginPath:
          return await signIn.login(request);
        case callbackPath:
          return await signIn.callback(request);
        case logoutPath:
          return await signIn.logout(request);
        default:
          return undefined;
      }
    },
  };
  return signIn;
}
