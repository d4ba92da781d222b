import * as oauth from "@oauth-helper/client";
import { type IVisit, openCookie, sealCookie } from "../sealed_cookie.ts";

export interface IRoutesOptions {
  /** URL of the site, without a slash at the end. */
  origin: string;
  /** The API, and the client that is registered at its server. */
  resource: string;
  client: oauth.IKnownClient;
  /** Where the session with an identifier is kept: in Redis, for example. */
  storeOf(id: string): oauth.ISessionStore;
}

/**
 * Creates route handlers for Next.js: export `login`, `callback` and `notes` as `GET` of
 * `app/login/route.ts` and so on, and `logout` as `POST`. Components on the server call
 * the API by `apiOf`: the store, and no cookie, has the tokens, so any code may refresh.
 */
export function createRoutes(options: IRoutesOptions) {
  const { origin, resource, client, storeOf } = options;
  const redirectUri = `${origin}/callback`;
  const visitOf = ({ headers }: Request) => openCookie(headers.get("Cookie"));
  const apiOf = (id: string = crypto.randomUUID()) =>
    oauth.createAuthorizedFetch(resource, { client, store: storeOf(id) });
  async function redirect(location: string, visit: IVisit) {
    const headers = { location, "Set-Cookie": await sealCookie(visit) };
    return new Response(null, { status: 303, headers });
  }
  return {
    apiOf,
    async login(request: Request) {
      const visit = await visitOf(request);
      const challenge = await fetch(resource);
      const context = await oauth.discoverAuthorization(resource, {
        challenge,
      });
      const session = await apiOf(visit.id).session();
      const options = { client, redirectUri, offlineAccess: true, session };
      const { url, pending } = await oauth.startAuthorization(context, options);
      return redirect(url.href, { ...visit, pending });
    },
    async callback(request: Request) {
      // Behind a proxy, the origin of the request is that of this process.
      const { search, searchParams } = new URL(request.url);
      const { pending } = await visitOf(request);
      if (!pending || pending.state !== searchParams.get("state")) {
        return Response.redirect(`${origin}/`);
      }
      const next = { id: crypto.randomUUID() };
      return await apiOf(next.id).finish(redirectUri + search, pending).then(
        () => redirect("/", next),
        (error) => {
          console.error(error);
          return new Response(error.error ?? error.code, { status: 403 });
        },
      );
    },
    async logout(request: Request) {
      const { headers } = request;
      const isOwn = headers.get("Sec-Fetch-Site") === "same-origin" ||
        headers.get("Origin") === origin;
      // A form of another site comes without the cookie, and must not replace it.
      if (!isOwn) return new Response("From another site", { status: 403 });
      const { id } = await visitOf(request);
      const session = await apiOf(id).session();
      await apiOf(id).revoke();
      const home = { postLogoutRedirectUri: `${origin}/` };
      const url = session && oauth.buildEndSessionUrl(session, home);
      return redirect(url?.href ?? "/", {});
    },
    async notes(request: Request) {
      const response = await apiOf((await visitOf(request)).id)(resource);
      const { status } = response;
      return new Response(await response.text(), { status });
    },
  };
}
