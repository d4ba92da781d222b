import * as oauth from "@oauth-helper/client";

interface IEnv {
  RESOURCE: string;
  KV: {
    get<T>(key: string, type: "json"): Promise<T>;
    put(key: string, value: string, options?: object): Promise<void>;
    delete(key: string): Promise<void>;
  };
}

const createApi = (user: string, origin: string, { KV, RESOURCE }: IEnv) =>
  oauth.createAuthorizedFetch(RESOURCE, {
    // KV has no lock. A Durable Object has one: see durable_object_store.js.
    store: {
      load: () => KV.get(user, "json"),
      save: (session) => KV.put(user, JSON.stringify(session ?? null)),
    },
    authorize: oauth.codeFlow({
      clientMetadata: { client_name: "My worker" },
      redirectUri: `${origin}/callback`,
      async visit(url, { pending }) {
        const key = `${user} ${pending.state}`;
        await KV.put(key, JSON.stringify(pending), { expirationTtl: 600 });
        throw redirect(url.href, user);
      },
    }),
  });

function redirect(location: string, user: string): Response {
  const cookie = `__Host-id=${user}; Path=/; Secure; HttpOnly; SameSite=Lax`;
  const headers = { Location: location, "Set-Cookie": cookie };
  return new Response(null, { status: 302, headers });
}

export default {
  async fetch(request: Request, env: IEnv): Promise<Response> {
    const { pathname, origin, searchParams } = new URL(request.url);
    const { KV, RESOURCE } = env;
    const cookies = request.headers.get("Cookie") ?? "";
    const user = /(?:^|; )__Host-id=([\w-]+)/.exec(cookies)?.[1] ??
      crypto.randomUUID();
    const api = createApi(user, origin, env);
    try {
      if (pathname === "/callback") {
        const key = `${user} ${searchParams.get("state")}`;
        const pending = await KV.get<oauth.IPendingAuthorization>(key, "json");
        if (!pending) return new Response("Sign in again", { status: 400 });
        await KV.delete(key);
        await api.save(await oauth.finishAuthorization(request, pending));
      } else if (pathname === "/login") await api.authorize();
      else return new Response((await api(RESOURCE)).body);
      return redirect("/", user);
    } catch (error) {
      // The redirect of `visit`.
      if (error instanceof Response) return error;
      throw error;
    }
  },
};
