import type { KnownClient, SessionStore } from "@oauth-helper/client";
import { createWebSignIn } from "@oauth-helper/client/web";

/** An API, which has its own authorization server. */
export interface Service {
  /** A word for its paths and its cookies, such as `notes`. */
  readonly name: string;
  readonly resource: string;
  /** Registered with `ORIGIN/NAME/callback` as redirect URI, and `ORIGIN/` for after the sign-out. */
  readonly client: KnownClient;
}

/** Creates a site whose users sign in to each service when a page needs it. */
export function createSite(
  services: readonly Service[],
  { origin, cookieKey, storeOf }: {
    origin: string;
    cookieKey: string;
    storeOf: (key: string) => SessionStore;
  },
) {
  const sites = services.map(({ name, resource, client }) => ({
    name,
    resource,
    signIn: createWebSignIn(resource, {
      origin,
      client,
      cookieKeys: [cookieKey],
      storeOf: (id) => storeOf(`${name}:${id}`),
      // Two sign-ins must not share a cookie or a path.
      cookieName: name,
      loginPath: `/${name}/login`,
      callbackPath: `/${name}/callback`,
      logoutPath: `/${name}/logout`,
    }),
  }));

  /** The home page: where the user is signed in, and links. */
  async function home(request: Request): Promise<Response> {
    const lines = sites.map(async ({ name, signIn }) =>
      await signIn.sessionIdOf(request)
        ? `<form method="post" action="/${name}/logout">` +
          `<a href="/${name}">${name}</a> <button>Sign out</button></form>`
        : `<p><a href="/${name}/login?returnTo=/${name}">Connect ${name}</a>`
    );
    const body = `<!DOCTYPE html>${(await Promise.all(lines)).join("\n")}`;
    return new Response(body, { headers: { "Content-Type": "text/html" } });
  }

  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/") return await home(request);
    for (const { name, resource, signIn } of sites) {
      const handled = await signIn.handle(request);
      if (handled) return handled;
      if (pathname === `/${name}`) {
        return await signIn.respond(request, (api) => api(resource));
      }
    }
    return new Response("Not found", { status: 404 });
  };
}
