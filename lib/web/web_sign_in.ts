import {
  invalidArgument,
  requireNames,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { readClaims } from "../core/_jwt.ts";
import { quoteUrl } from "../core/_url.ts";
import { allTokensOf } from "../session/session.ts";
import { callback } from "./_callback.ts";
import { forward } from "./_forward.ts";
import { login, wantedFor } from "./_login.ts";
import { logout } from "./_logout.ts";
import { FORWARD_NAMES } from "./forward_request.ts";
import { isNavigation, requestedUrl } from "./_requests.ts";
import { respond } from "./_respond.ts";
import { Site } from "./_site.ts";
import { webSettingsOf } from "./_web_settings.ts";
import { endOf } from "./_visits.ts";
import type { WebSignIn, WebSignInOptions } from "./web_sign_in_options.ts";

/**
 * Creates the sign-in of a web server: three routes, and the API for each user.
 *
 * Your store keeps a user's session; an encrypted cookie contains its identifier.
 * Functions take a `Request` and return a `Response`. See `docs/web.md` in the package.
 *
 * @throws {OAuthClientError} `invalid_argument`, `url_refused`: an option is invalid.
 * @see RFC 6749, section 10.12; RFC 9700, section 4.7; RFC 6265bis, section 4.1.3.
 * @example Sign users in, and pass on the API's response
 * ```ts
 * import { createWebSignIn, type WebSignInOptions } from "@oauth-helper/client/web";
 *
 * export function serve(url: string, options: WebSignInOptions) {
 *   const signIn = createWebSignIn(url, options);
 *   return async (request: Request) =>
 *     await signIn.handle(request) ?? signIn.respond(request, (api) => api(url));
 * }
 * ```
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
      const known = all.map(({ resource }) => quoteUrl(resource));
      throw invalidArgument("url", `at or below ${known.join(" or ")}`);
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

    async forward(request, options) {
      const { path, url, headers } = requireObject("options", options);
      requireNames(options, FORWARD_NAMES, "forward");
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
      // No cookie is cleared here.
      const isValid = session && endOf(session) * 1000 > now();
      return isValid ? site.fetchFor(user, api) : undefined;
    },

    async userOf({ headers }) {
      const session = await site.sessionOf(await cookies.signedIn(headers));
      // Each of several APIs may need a separate sign-in.
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
