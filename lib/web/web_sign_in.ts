/**
 * The sign-in of a web server.
 *
 * @module
 */

import { invalidArgument, requireNonEmptyString } from "../core/_arguments.ts";
import { readClaims } from "../core/_jwt.ts";
import { allTokensOf } from "../session/session.ts";
import { callback } from "./_callback.ts";
import { forward } from "./_forward.ts";
import { login, wantedFor } from "./_login.ts";
import { logout } from "./_logout.ts";
import { isNavigation, requestedUrl } from "./_requests.ts";
import { respond } from "./_respond.ts";
import { Site } from "./_site.ts";
import { webSettingsOf } from "./_web_settings.ts";
import { endOf } from "./_visits.ts";
import type { WebSignIn, WebSignInOptions } from "./web_sign_in_options.ts";

/**
 * Creates the sign-in of a web server: three routes, and the API for each user. Its
 * functions accept a `Request` and return a `Response`; they run in Node, Deno, Bun and
 * Workers. Your store keeps the session of a user, and an encrypted cookie contains its
 * identifier.
 *
 * - Tabs that sign in at the same time do not disturb each other: each of up to four
 *   visits has its own cookie, for an hour.
 * - After a sign-in, the session has a new identifier, and the previous session is
 *   deleted. Its tokens are not revoked: many servers would revoke the new ones too.
 * - With `apis`, the user signs in once for several APIs. If the server rejects that
 *   (`invalid_target`), the user visits it once for each API that a page needs, and the
 *   session keeps the tokens of all.
 * - Only a sign-in and a sign-out set cookies. So you can render pages where no cookie
 *   can be set, and several at the same time.
 * - Errors show a page, and are passed to `onError`. `apiOf` and `userOf` reject if
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
 * import type { KnownClient } from "@oauth-helper/client";
 * import { redisStore, type RedisClient } from "@oauth-helper/client/stores";
 * import { createWebSignIn } from "@oauth-helper/client/web";
 *
 * export function serve(redis: RedisClient, client: KnownClient, key: string) {
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
  options: WebSignInOptions,
): WebSignIn {
  const site = new Site(webSettingsOf(resource, options));
  const { all, origin, cookies, paths, now } = site.settings;
  const apiAt = (url: string | URL = all[0]!.resource) => {
    const api = site.apiAt(url);
    if (!api) {
      throw invalidArgument(
        "url",
        "a URL of the resource or of an API in apis",
      );
    }
    return api;
  };
  return {
    login: (request, loginOptions) => login(site, request, loginOptions),

    async loginFor(request, response, loginOptions) {
      if (!isNavigation(request)) return undefined;
      const wanted = await wantedFor(
        site,
        { request, response },
        loginOptions,
      );
      return wanted && await site.begin(request, wanted);
    },

    respond: (request, use, loginOptions) =>
      respond(site, { request, use }, loginOptions),

    async forward(request, { path, url, headers }) {
      const api = apiAt(url);
      const to = { api, path, url: url ?? api.resource, headers };
      return await forward(site, request, to);
    },

    callback: (request) => callback(site, request),

    logout: (request, logoutOptions) => logout(site, request, logoutOptions),

    async apiOf({ headers }, url) {
      const api = apiAt(url);
      const signedIn = await cookies.signedIn(headers);
      return signedIn && site.fetchFor(signedIn, api);
    },

    sessionIdOf: async ({ headers }) => (await cookies.signedIn(headers))?.id,

    async apiOfSession(id, url) {
      const api = apiAt(url);
      const user = { id: requireNonEmptyString("id", id) };
      const session = await site.sessionOf(user);
      // No cookie ends the session here.
      const isValid = session && endOf(session) * 1000 > now();
      return isValid ? site.fetchFor(user, api) : undefined;
    },

    async userOf({ headers }) {
      const session = await site.sessionOf(await cookies.signedIn(headers));
      // Of several APIs, each may have signed in by itself.
      const tokens = allTokensOf(session);
      return readClaims(tokens.find(({ id_token }) => id_token)?.id_token);
    },

    async handle(request) {
      const { pathname } = requestedUrl(request, origin);
      if (pathname === paths.loginPath) return await login(site, request);
      if (pathname === paths.callbackPath) return await callback(site, request);
      if (pathname === paths.logoutPath) return await logout(site, request);
      return undefined;
    },
  };
}
