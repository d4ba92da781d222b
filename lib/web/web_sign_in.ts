/**
 * The sign-in of a web server.
 *
 * @module
 */

import { readClaims } from "../core/_jwt.ts";
import { isOAuthClientError, OAuthClientError } from "../core/errors.ts";
import { fork } from "../http/_context.ts";
import { bearerOf } from "../session/_bearer.ts";
import { isCovered, reaches } from "../session/_covered_urls.ts";
import { Memories } from "../session/_memory.ts";
import { type INeed, needOf, tokenOf } from "../session/_renewal_reason.ts";
import { withStore } from "../session/_settings.ts";
import { sharedStore } from "../session/_shared_store.ts";
import { loadSession } from "../session/_usable_session.ts";
import { fetchWith } from "../session/authorized_fetch.ts";
import { lacksConsent } from "../session/code_flow.ts";
import { buildEndSessionUrl } from "../session/end_session.ts";
import { type ISession, revokeSessionWith } from "../session/session.ts";
import { postedForm } from "../token/_posted_form.ts";
import type { ISignedIn, IVisit } from "./_cookies.ts";
import { isForeign, isNavigation, urlOf } from "./_requests.ts";
import { respondTo } from "./_respond.ts";
import { page, redirect, refuse, tell } from "./_responses.ts";
import { withStepUp } from "./_step_ups.ts";
import { type IWanted, Visits } from "./_visits.ts";
import { returnToOf, webSettingsOf } from "./_web_settings.ts";
import type {
  IWebLoginOptions,
  IWebRequest,
  IWebSignIn,
  IWebSignInOptions,
  WebSignInStep,
} from "./web_sign_in_options.ts";

/** After a sign-in, how long a `401` does not lead to the next: it would be endless. */
const JUST_SIGNED_IN_SECONDS = 10;

/** The user signs in, whatever there is. */
const FRESH: INeed = { reason: "fresh", refused: undefined, mayRefresh: false };

/**
 * Creates the sign-in of a web server: three routes, and the API for each user. Its
 * functions accept a `Request` and return a `Response`; they run in Node, Deno, Bun and
 * Workers. Your store keeps the session of a user, and an encrypted cookie contains its
 * identifier.
 *
 * - Tabs that sign in at the same time do not disturb each other: each of up to four
 *   visits has its own cookie, for an hour.
 * - After a sign-in, the session has a new identifier, and the former session is
 *   deleted. Its tokens are not revoked: many servers would revoke the new ones too.
 * - Only a sign-in and a sign-out set cookies. So you can render pages where no cookie
 *   can be set, and several at the same time.
 * - Errors lead to a page, and are passed to `onError`. `apiOf` and `userOf` reject if
 *   the store does, the `fetch` of `apiOf` as any other, and `respond` only with an error
 *   of the site's own function.
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
 *     return handled ?? await signIn.respond(request, (api) => api(resource));
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
  const loginUrl = origin + loginPath;

  /** `storeOf` may return another object for each request. */
  const memories = new Memories();

  const settingsFor = ({ id }: ISignedIn) =>
    withStore(settings, storeOf(id), memories.of(id));

  /** Returns the session of a user. */
  const sessionOf = async (user: ISignedIn | undefined) =>
    user && await loadSession(settingsFor(user).renewal);

  /** Deletes a session once no other process refreshes it, and returns it. */
  async function remove({ id }: ISignedIn): Promise<ISession | undefined> {
    const store = sharedStore(storeOf(id), memories.of(id));
    return await store.locked(() => store.remove(), undefined);
  }

  /** Responds to a request that has failed. */
  async function failed(
    error: unknown,
    step: WebSignInStep,
    request: IWebRequest,
    returnTo = homePath,
    lines?: readonly string[],
  ): Promise<Response> {
    const url = new URL(loginPath, origin);
    if (returnTo !== homePath) url.searchParams.set("returnTo", returnTo);
    const isOfSite = step === "respond";
    const isForScript = isOfSite && !isNavigation(request);
    const again = isOfSite ? origin + returnTo : undefined;
    const login = isForScript ? loginUrl : url.href;
    const shown = page(error, { login, home, again, isForScript }, lines);
    try {
      if (onError) {
        return await onError(error, { step, request, page: shown }) ?? shown;
      }
      if (!isOAuthClientError(error, "expired")) console.error(error);
    } catch (thrown) {
      console.error(thrown);
    }
    return shown;
  }

  /** Redirects the user to the server. */
  async function begin(
    request: IWebRequest,
    wanted: IWanted,
    step: WebSignInStep = "login",
    ended: readonly string[] = [],
  ): Promise<Response> {
    try {
      const [url, lines] = await visits.begin(request.headers, wanted);
      return redirect(url, [...ended, ...lines]);
    } catch (error) {
      return await failed(error, step, request, wanted.returnTo, ended);
    }
  }

  /**
   * Responds to a callback whose visit has no cookie: it was finished, another tab that
   * began at the same moment has taken its place, or it was never of this browser.
   */
  async function resume(
    request: IWebRequest,
    { searchParams }: URL,
    signedIn: ISignedIn | undefined,
  ): Promise<Response> {
    const state = await cookies.openState(searchParams.get("state"));
    const returnTo = state?.returnTo || homePath;
    if (signedIn) return redirect(origin + returnTo);
    // Its code is not used: it may belong to another user.
    const mayRepeat = state && !state.isRepeated && searchParams.has("code");
    if (mayRepeat) {
      return await begin(request, { need: FRESH, returnTo, isRepeated: true });
    }
    const message = "No visit of this browser has the state of the callback " +
      "(finished, older than an hour, of another browser, or no cookies)";
    const error = new OAuthClientError("expired", message);
    return await failed(error, "callback", request, returnTo);
  }

  /** Requests the sign-in of a visit once more, with the prompt for consent. */
  function withConsent(
    { pending, parameters, acrValues, maxAge, stepUps, returnTo }: IVisit,
  ): IWanted {
    const requiredScopes = pending.scopes.join(" ");
    return {
      need: { ...FRESH, requiredScopes, acrValues, maxAge },
      parameters: { ...parameters, prompt: "consent" },
      stepUps,
      returnTo,
    };
  }

  /** Returns the visit that a response of the API requires. */
  async function wantedFor(
    request: IWebRequest,
    response: Response,
    { returnTo: wish, parameters }: IWebLoginOptions = {},
  ): Promise<IWanted | undefined> {
    const { resource: target, rules } = renewal;
    const url = response.url || target;
    if (!isCovered(url, sending.covered)) return undefined;
    const signedIn = await cookies.signedIn(request.headers);
    const session = await sessionOf(signedIn).catch(() => undefined);
    const age = signedIn ? now() / 1000 - signedIn.at : Infinity;
    const need = needOf(response, {
      session,
      token: bearerOf(session, rules),
      source: age < JUST_SIGNED_IN_SECONDS ? "authorize" : "store",
    }, reaches(target, url));
    const stepUps = need && await withStepUp(need, signedIn?.stepUps, age);
    const returnTo = returnToOf(request, settings, wish);
    return stepUps && { need, session, parameters, stepUps, returnTo };
  }

  const signIn: IWebSignIn = {
    async login(
      request,
      { returnTo: wish, parameters }: IWebLoginOptions = {},
    ) {
      const isForeignForm = request.method !== "GET" &&
        isForeign(request, origin);
      if (!isNavigation(request) || isForeignForm) return refuse();
      const signedIn = await cookies.signedIn(request.headers);
      // A sign-in does not need the session.
      const session = await sessionOf(signedIn).catch(() => undefined);
      const returnTo = returnToOf(request, settings, wish);
      const wanted = { need: FRESH, session, parameters, returnTo };
      return await begin(request, wanted);
    },

    async loginFor(request, response, options) {
      const wanted = isNavigation(request) &&
        await wantedFor(request, response, options);
      return wanted ? await begin(request, wanted) : undefined;
    },

    respond(request, use, { returnTo, parameters } = {}) {
      const wish = { returnTo, parameters };
      const isScript = !isNavigation(request);
      const signedOut = () =>
        tell(401, { code: "sign_in_required", login: loginUrl });
      return respondTo(request, use, {
        origin,
        api: () => signIn.apiOf(request),
        login: async () =>
          isScript ? signedOut() : await signIn.login(request, wish),
        async loginFor(response) {
          if (!isScript) {
            return await signIn.loginFor(request, response, wish);
          }
          const wanted = await wantedFor(request, response, wish);
          // A link to the sign-in asks for no step-up: the page reads what it lacks.
          const isLink = wanted && wanted.need.reason !== "step_up";
          return isLink ? signedOut() : undefined;
        },
        failed: (error) =>
          failed(error, "respond", request, returnToOf(request, settings)),
      });
    },

    async callback(request) {
      const { method, headers } = request;
      const form = await postedForm(request).catch(() => undefined);
      if (form && isNavigation(request)) {
        // The POST of another site has no cookie with `SameSite=Lax`; the GET that
        // follows it has, and any site could have caused it as well.
        return redirect(`${origin}${callbackPath}?${form}`);
      }
      if (method !== "GET") return refuse("GET");
      if (!isNavigation(request)) return refuse();
      const url = urlOf(request, origin);
      const [signedIn, visit] = await Promise.all([
        cookies.signedIn(headers),
        cookies.visit(headers, url.searchParams.get("state")),
      ]);
      if (!visit) return await resume(request, url, signedIn);
      const ended = [cookies.end(visit)];
      const { returnTo = homePath, pending } = visit;
      try {
        const finished = await visits.finish(url, visit);
        if (signedIn && signedIn.id !== finished.id) {
          // If that fails, the lifetime of the values in the store ends the session.
          await remove(signedIn).catch(() => {});
        }
        const line = await cookies.signIn(finished, visit);
        // Absolute: `//evil.example` is a path of the site, and alone another site.
        return redirect(origin + returnTo, [...ended, line]);
      } catch (error) {
        return lacksConsent(error, pending, options)
          ? await begin(request, withConsent(visit), "callback", ended)
          : await failed(error, "callback", request, returnTo, ended);
      }
    },

    async logout(request, { atServer = true } = {}) {
      const { method, headers } = request;
      if (method !== "POST") return refuse("POST");
      if (isForeign(request, origin)) return refuse();
      const signedIn = await cookies.signedIn(headers);
      // A cookie of ours would replace the one that a foreign request does not send.
      if (!signedIn) return redirect(home);
      try {
        const session = await remove(signedIn);
        if (session && tokenOf(session)) {
          const context = fork(renewal.context);
          // Many servers cannot revoke.
          await revokeSessionWith(context, session).catch(() => {});
        }
        const back = { postLogoutRedirectUri: home, allowHttp };
        const end = atServer && session && buildEndSessionUrl(session, back);
        return redirect(end ? end.href : home, cookies.signOut(headers));
      } catch (error) {
        // The user is still signed in, and can try again.
        return await failed(error, "logout", request);
      }
    },

    async apiOf({ headers }) {
      const signedIn = await cookies.signedIn(headers);
      return signedIn && fetchWith(settingsFor(signedIn));
    },

    async userOf({ headers }) {
      const session = await sessionOf(await cookies.signedIn(headers));
      return readClaims(session?.token.id_token);
    },

    async handle(request) {
      const { pathname } = urlOf(request, origin);
      if (pathname === loginPath) return await signIn.login(request);
      if (pathname === callbackPath) return await signIn.callback(request);
      if (pathname === logoutPath) return await signIn.logout(request);
      return undefined;
    },
  };
  return signIn;
}
