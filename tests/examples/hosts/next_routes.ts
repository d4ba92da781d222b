import {
  createWebSignIn,
  type WebSignInOptions,
} from "@oauth-helper/client/web";

/**
 * Creates route handlers for Next.js: export `login`, `callback` and `notes` as `GET` of
 * `app/login/route.ts` and so on, and `logout` as `POST`. A component on the server calls
 * the API by `apiOf({ headers: await headers() })`, greets the user by `userOf`, and
 * without an API calls Next's `redirect("/login?returnTo=/notes")`: no cookie changes
 * when a token is refreshed, so any code may refresh. If the API of a component rejects
 * because a server is down, Next.js shows `error.tsx`.
 */
export function createRoutes(resource: string, options: WebSignInOptions) {
  const signIn = createWebSignIn(resource, options);
  const { apiOf, userOf } = signIn;
  return {
    apiOf,
    userOf,
    // Next.js passes a second argument of its own.
    login: (request: Request) => signIn.login(request),
    callback: (request: Request) => signIn.callback(request),
    logout: (request: Request) => signIn.logout(request),
    notes: (request: Request) =>
      signIn.respond(request, (api) => api(resource)),
  };
}
