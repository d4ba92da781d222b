/** A site with a sign-in, its servers, and browsers with cookies. */

import { assert } from "@std/assert";
import {
  memoryStore,
  type SessionStore,
  type StoredSession,
} from "../../../mod.ts";
import {
  createTestServers,
  type TestServersOptions,
} from "../../../lib/testing/mod.ts";
import {
  createWebSignIn,
  type WebSignIn,
  type WebSignInOptions,
} from "../../../lib/web/mod.ts";

export const ORIGIN = "https://app.example";
export const KEY = btoa(String.fromCharCode(...new Uint8Array(32).fill(7)));
const SECRET = "secret of the site";

/** A store with a lock, as all processes share one. */
function lockedStore(): SessionStore {
  const store = memoryStore();
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...store,
    lock<T>(task: () => Promise<T>) {
      const result = last.then(task);
      last = result.catch(() => {});
      return result;
    },
  };
}

/** A browser: cookies by the rules of RFC 6265bis. */
export class Browser {
  readonly cookies = new Map<string, { value: string; ends: number }>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The header fields of a request; a foreign one has no cookie with `Lax`. */
  headers(
    { method = "GET", site = "none", further = {} }: Opening = {},
  ): Headers {
    const isLax = site !== "cross-site" || method === "GET";
    const now = this.#world.servers.now();
    const pairs = [...this.cookies].filter(([, { ends }]) => ends > now)
      .map(([name, { value }]) => `${name}=${value}`);
    return new Headers({
      ...isLax && { Cookie: ["theme=dark", ...pairs].join("; ") },
      "Sec-Fetch-Site": site,
      "Sec-Fetch-Dest": "document",
      ...further,
    });
  }

  keep(response: Response): void {
    const { servers, isHttp } = this.#world;
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      for (const one of ["Path=/", "HttpOnly", "SameSite=Lax"]) {
        assert(attributes.includes(one), line);
      }
      assert(attributes.includes("Secure") !== isHttp, line);
      assert(name.startsWith("__Host-") !== isHttp, line);
      assert(name.length + value.length <= 4096);
      const age = Number(/Max-Age=(\d+)/.exec(line)?.[1]);
      if (age === 0) this.cookies.delete(name);
      else this.cookies.set(name, { value, ends: servers.now() + age * 1000 });
    }
  }

  /** A copy of the browser, as of an attacker who reads its cookies. */
  clone(): Browser {
    const copy = new Browser(this.#world);
    for (const [name, cookie] of this.cookies) copy.cookies.set(name, cookie);
    return copy;
  }

  async open(path: string, opening: Opening = {}): Promise<Response> {
    const { method = "GET", body } = opening;
    const url = new URL(path, this.#world.internal);
    const headers = this.headers(opening);
    const init = { method, headers, ...(body && { body }) };
    const response = await this.#world.serve(new Request(url, init));
    this.keep(response);
    return response;
  }

  async visit(path = "/login"): Promise<string> {
    const { headers } = await this.open(path);
    const back = await this.#world.servers.receiver.visit(
      headers.get("Location")!,
    );
    const { pathname, search } = new URL(back);
    return pathname + search;
  }

  async signIn(path?: string): Promise<Response> {
    return await this.open(await this.visit(path));
  }

  /** Sends the form of a page of the site. */
  async signOut(): Promise<Response> {
    return await this.open("/logout", { method: "POST", site: "same-origin" });
  }

  /** Whether the API accepts the calls of the user. */
  async isSignedIn(): Promise<boolean> {
    const response = await this.open("/api");
    return response.status === 200;
  }

  value(name: string): string | undefined {
    return this.cookies.get(name)?.value;
  }
}

interface Opening {
  method?: string;
  site?: string;
  further?: Record<string, string>;
  body?: BodyInit;
}

export class World {
  readonly servers: ReturnType<typeof createTestServers>;
  readonly stores = new Map<string, SessionStore>();
  readonly errors: unknown[] = [];
  readonly signIn: WebSignIn;
  readonly options: WebSignInOptions;
  readonly isHttp: boolean;
  /** Changes what the site receives from its servers. */
  change: (response: Response, init?: RequestInit) =>
    | Response
    | Promise<Response> = (response) => response;
  /** The origin of the requests behind the proxy. */
  readonly internal = "http://10.0.0.7:8080";

  constructor(
    options: Partial<WebSignInOptions> = {},
    servers: TestServersOptions = {},
  ) {
    const origin = String(options.origin ?? ORIGIN);
    this.isHttp = origin.startsWith("http:");
    this.servers = createTestServers({
      clients: [{
        client_id: "site",
        client_secret: SECRET,
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: [`${origin}/callback`],
        grant_types: ["authorization_code", "refresh_token"],
      }],
      ...servers,
    });
    const { issuer, now, resource } = this.servers;
    this.options = {
      origin,
      client: { issuer, client_id: "site", client_secret: SECRET },
      storeOf: (id) => this.storeOf(id),
      cookieKeys: [KEY],
      fetch: async (input, init) =>
        await this.change(await this.servers.fetch(input, init), init),
      now,
      onError: (error) => void this.errors.push(error),
      ...options,
    };
    this.signIn = createWebSignIn(resource, this.options);
  }

  /** Returns another object each time, as the examples of the documents do. */
  storeOf(id: string): SessionStore {
    const store = this.stores.get(id) ?? lockedStore();
    this.stores.set(id, store);
    return {
      load: () => store.load(),
      save: (session) => store.save(session),
      lock: (task, signal) => store.lock!(task, signal),
    };
  }

  async sessions(): Promise<StoredSession[]> {
    const all = await Promise.all(
      [...this.stores.values()].map((one) => one.load()),
    );
    return all.filter((one) => one !== undefined && one !== null);
  }

  async serve(request: Request): Promise<Response> {
    const handled = await this.signIn.handle(request);
    if (handled) return handled;
    const { pathname } = new URL(request.url);
    const api = await this.signIn.apiOf(request);
    if (pathname === "/api") {
      return await (api ?? this.servers.fetch)(this.servers.resource);
    }
    if (!api) return await this.signIn.login(request);
    const response = await api(this.servers.resource);
    return await this.signIn.loginFor(request, response) ?? response;
  }

  browser(): Browser {
    return new Browser(this);
  }
}
