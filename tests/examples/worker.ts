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
        ({ error, code }) => new Response(error ?? code, { status: 403 }),
      );
    } else if (pathname === "/logout" && request.method === "POST") {
      const session = await this.#api.session();
      await this.#api.revoke();
      const back = { postLogoutRedirectUri: new URL("/", request.url) };
      const hasPage = session?.serverMetadata.end_session_endpoint;
      const url = hasPage && oauth.buildEndSessionUrl(session, back);
      return url ? Response.redirect(url, 303) : home;
    }
    const result = await this.#api(RESOURCE);
    return new Response(await result.text(), { status: result.status });
  }
}
export default {
  async fetch(request: Request): Promise<Response> {
    const [cookie = `__Host-id=${crypto.randomUUID()}`] =
      request.headers.get("Cookie")?.match(/(?<=^|; )__Host-id=[\w-]+/) ?? [];
    const response = await USERS.getByName(cookie).fetch(request);
    const result = new Response(response.body, response);
    result.headers.append("Set-Cookie", cookie + ATTRIBUTES);
    return result;
  },
};
