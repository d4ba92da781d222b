import { DurableObject, env } from "cloudflare:workers";
import * as oauth from "@oauth-helper/client";
const { RESOURCE, REDIRECT_URI: redirectUri, USERS } = env;
const client: oauth.IKnownClient = JSON.parse(env.CLIENT);
const ATTRIBUTES = "; Path=/; Secure; HttpOnly; SameSite=Lax";

/** One for each user. All requests of the user arrive here, so it needs no lock. */
export class User extends DurableObject {
  #api = oauth.createAuthorizedFetch(RESOURCE, {
    client,
    store: {
      load: () => this.ctx.storage.get("session"),
      save: (session) => this.ctx.storage.put("session", session ?? null),
    },
  });
  async fetch(request: Request): Promise<Response> {
    const { storage } = this.ctx;
    const { pathname, searchParams } = new URL(request.url);
    const home = Response.redirect(new URL("/", request.url));
    if (pathname === "/login") {
      const challenge = await fetch(RESOURCE);
      const found = await oauth.discoverAuthorization(RESOURCE, { challenge });
      const session = await this.#api.session();
      const options = { client, redirectUri, offlineAccess: true, session };
      const { url, pending } = await oauth.startAuthorization(found, options);
      await storage.put("pending", pending);
      return Response.redirect(url);
    } else if (pathname === "/callback") {
      const kept = await storage.get<oauth.IPendingAuthorization>("pending");
      if (kept?.state !== searchParams.get("state")) return home;
      await storage.delete("pending");
      return await this.#api.finish(request, kept).then(
        () => home,
        (error) => {
          console.error(error);
          return new Response(error.error ?? error.code, { status: 403 });
        },
      );
    } else if (pathname === "/logout" && request.method === "POST") {
      const session = await this.#api.session();
      await this.#api.revoke();
      const back = { postLogoutRedirectUri: new URL("/", request.url) };
      const url = session && oauth.buildEndSessionUrl(session, back);
      return url ? Response.redirect(url, 303) : home;
    }
    const result = await this.#api(RESOURCE);
    return new Response(await result.text(), { status: result.status });
  }
}
export default {
  async fetch(request: Request): Promise<Response> {
    const { headers, method } = request;
    const { origin, pathname } = new URL(request.url);
    const isOwn = headers.get("Sec-Fetch-Site") === "same-origin" ||
      headers.get("Origin") === origin;
    // A form of another site comes without the cookie, and must not replace it.
    const isForeign = method === "POST" && !isOwn;
    if (isForeign) return new Response("From another site", { status: 403 });
    const [cookie = `__Host-id=${crypto.randomUUID()}`] =
      headers.get("Cookie")?.match(/(?<=^|; )__Host-id=[\w-]+/) ?? [];
    const response = await USERS.getByName(cookie).fetch(request);
    const result = new Response(response.body, response);
    const isLogin = pathname === "/login";
    if (isLogin) result.headers.append("Set-Cookie", cookie + ATTRIBUTES);
    return result;
  },
};
