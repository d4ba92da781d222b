import type { WebSignIn } from "@oauth-helper/client/web";

/** The part of the arguments of Remix and React Router that is used. */
interface Arguments {
  readonly request: Request;
}

/** As `redirectDocument`: a router in the browser loads this page instead of its data. */
function toLogin({ url }: Request): Response {
  const { pathname, search } = new URL(url);
  const Location = `/login?returnTo=${encodeURIComponent(pathname + search)}`;
  const headers = { Location, "X-Remix-Reload-Document": "true" };
  return new Response(null, { status: 302, headers });
}

/**
 * Creates the functions of route modules: export `login` as `loader` of
 * `app/routes/login.ts` and so on, and `logout` as `action` of `app/routes/logout.ts`.
 * A `loader` returns data, so `notes` uses the parts of `respond`. An error that it throws
 * leads to the `ErrorBoundary` of the route, also while a server is down.
 */
export function createRoutes(signIn: WebSignIn, resource: string) {
  return {
    login: ({ request }: Arguments) => signIn.login(request),
    callback: ({ request }: Arguments) => signIn.callback(request),
    logout: ({ request }: Arguments) => signIn.logout(request),
    /** The `loader` of a page. */
    async notes({ request }: Arguments): Promise<unknown> {
      const api = await signIn.apiOf(request);
      if (!api) throw toLogin(request);
      const response = await api(resource);
      const again = await signIn.loginFor(request, response);
      if (again) throw again;
      if (!response.ok) throw new Response(null, { status: response.status });
      return await response.json();
    },
  };
}
