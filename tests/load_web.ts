/**
 * Users at once at a site of two processes on one Redis, with tokens that live five
 * seconds: the example for Express, or with `apis` a site of two APIs that share a
 * sign-in at oidc-provider. Started by hand, for COMPARISON:
 *
 *     deno run -A --import-map scripts/npm_only/import_map.json tests/load_web.ts [users] [seconds] [apis]
 *
 * Fails if a user sees the data of another, if a refresh token is used twice, or if a
 * response has a status of 500 and more.
 */

import { startTestServers } from "../lib/testing/mod.ts";
import { startFlowServers } from "./servers/_flow.ts";
import { createBrowser } from "./servers/browser.ts";
import { startProtectedResource } from "./servers/protected_resource.ts";
import { startRedis } from "./servers/redis.ts";
import { bundle } from "./support/bundle.ts";
import { onFreePort } from "./support/free_port.ts";
import { LIMIT_MS, until } from "./support/within.ts";
import { World } from "./unit/web/_world.ts";

const [users = 200, seconds = 60] = Deno.args.slice(0, 2).map(Number);
const ORIGIN = "https://app.example";
/** Pages that a user opens at once, so that several of them need a refresh. */
const PAGES = 3;
/** Pages after which a user signs out, and in again. */
const SIGN_OUT_EVERY = 15;
const LIFETIME_SECONDS = 5;
const CLIENT = {
  client_id: "site",
  client_secret: "secret-of-the-site",
  token_endpoint_auth_method: "client_secret_basic" as const,
  redirect_uris: [`${ORIGIN}/callback`],
  grant_types: ["authorization_code", "refresh_token"],
};

interface Setting {
  readonly program: string;
  readonly issuer: string;
  readonly resources: readonly string[];
  visit(user: string, url: string): Promise<URL>;
  ownerOf(page: string): unknown;
  refreshes(): { tokens: readonly string[]; refused: number };
}

/** One API, at the servers of `./testing`; the scope of a token is the user's name. */
async function startOne(stack: AsyncDisposableStack): Promise<Setting> {
  const servers = await startTestServers({
    lifetimeSeconds: LIFETIME_SECONDS,
    clients: [CLIENT],
  });
  stack.defer(() => servers.close());
  return {
    program: "examples/express.ts",
    issuer: servers.issuer,
    resources: [servers.resource],
    async visit(user, url) {
      const request = new URL(url);
      request.searchParams.set("scope", user);
      return new URL(await servers.receiver.visit(request));
    },
    ownerOf: (page) => JSON.parse(page).scopes.join(" "),
    refreshes() {
      const all = servers.received("token", "refresh_token");
      return {
        tokens: all.map(({ params }) => params.get("refresh_token") ?? ""),
        refused: all.filter(({ status = 0 }) => status !== 200).length,
      };
    },
  };
}

/**
 * Two APIs at oidc-provider, which rotates refresh tokens. Its memory keeps the 1,000
 * values that were used last: with more than some 50 users, it forgets their sign-ins.
 */
async function startTwo(stack: AsyncDisposableStack): Promise<Setting> {
  const servers = stack.use(
    await startFlowServers({
      clients: [CLIENT],
      accessTokenSeconds: LIFETIME_SECONDS,
    }),
  );
  const { server: { issuer, provider }, protectedResource } = servers;
  const other = stack.use(startProtectedResource({
    authorizationServers: [issuer],
    scopes: ["mcp:write"],
  }));
  const tokens: string[] = [];
  let refused = 0;
  provider.on("grant.success", ({ oidc: { params } }) => {
    if (params?.refresh_token) tokens.push(`${params.refresh_token}`);
  });
  provider.on("grant.error", () => refused++);
  return {
    program: "support/two_apis_site.ts",
    issuer,
    resources: [protectedResource.resource, other.resource],
    visit: (login, url) => createBrowser({ login }).authorize(url),
    ownerOf: (page) => JSON.parse(page).claims.sub,
    refreshes: () => ({ tokens, refused }),
  };
}

await using stack = new AsyncDisposableStack();
const redis = stack.use(await startRedis());
const start = Deno.args[2] === "apis" ? startTwo : startOne;
const { program: source, issuer, resources, visit, ownerOf, refreshes } =
  await start(stack);
const directory = await Deno.makeTempDir();
stack.defer(() => Deno.remove(directory, { recursive: true }));
const program = `${directory}/site.mjs`;
await bundle(new URL(source, import.meta.url).pathname, program, []);

async function startSite(): Promise<string> {
  return await onFreePort(async (port) => {
    const child = new Deno.Command("node", {
      args: [program],
      env: {
        PORT: `${port}`,
        ORIGIN,
        RESOURCE: resources[0]!,
        OTHER: resources[1] ?? "",
        REDIS: redis.url,
        CLIENT: JSON.stringify({
          issuer,
          client_id: CLIENT.client_id,
          client_secret: CLIENT.client_secret,
        }),
        COOKIE_KEY: btoa("a key of thirty-two bytes, or so"),
        NODE_ENV: "production",
      },
    }).spawn();
    stack.defer(async () => {
      child.kill("SIGKILL");
      await child.status;
    });
    await until(LIMIT_MS, async () => {
      try {
        (await Deno.connect({ hostname: "127.0.0.1", port })).close();
        return true;
      } catch {
        return false;
      }
    });
    return `http://127.0.0.1:${port}`;
  });
}
const sites = [await startSite(), await startSite()];

const problems: string[] = [];
const times: number[] = [];
const statuses = new Map<string, number>();
let signIns = 0;
let turn = 0;

class User {
  readonly #cookies = new Map<string, string>();
  readonly #name: string;

  constructor(index: number) {
    this.#name = `user-${index}`;
  }

  async open(path: string, method = "GET"): Promise<[Response, string]> {
    const pairs = [...this.#cookies].map((pair) => pair.join("="));
    const begun = performance.now();
    const response = await fetch(sites[turn++ % sites.length] + path, {
      method,
      redirect: "manual",
      headers: { Cookie: pairs.join("; "), Origin: ORIGIN },
    });
    const text = await response.text();
    const name = `${method} ${path.split("?")[0]} ${response.status}`;
    if (/^GET \/(other)? 200$/.test(name)) {
      times.push(performance.now() - begun);
    }
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
    if (response.status >= 500) problems.push(`${name}: ${text}`);
    for (const line of response.headers.getSetCookie()) {
      const [, key = "", value = ""] = /^(.*?)=(.*?);/.exec(line) ?? [];
      if (value) this.#cookies.set(key, value);
      else this.#cookies.delete(key);
    }
    return [response, text];
  }

  async signIn(): Promise<void> {
    const [response] = await this.open("/login");
    const back = await visit(this.#name, response.headers.get("Location")!);
    await this.open(back.pathname + back.search);
    signIns++;
  }

  async page(path: string): Promise<void> {
    const [{ status }, text] = await this.open(path);
    if (status !== 200 || ownerOf(text) !== this.#name) {
      problems.push(`${this.#name} received ${status}: ${text}`);
    }
  }

  async play(end: number): Promise<void> {
    await this.signIn();
    for (let count = 1; performance.now() < end; count++) {
      await Promise.all(Array.from(
        { length: PAGES },
        (_, index) => this.page(index % resources.length ? "/other" : "/"),
      ));
      if (count % SIGN_OUT_EVERY === 0) {
        await this.open("/logout", "POST");
        await this.signIn();
      }
    }
  }
}

/** Microseconds of `apiOf`, with a cookie to open, while nothing else runs here. */
async function timeApiOf(): Promise<number> {
  const world = new World();
  const browser = world.browser();
  await browser.signIn();
  const headers = browser.headers();
  const calls = 10_000;
  const start = performance.now();
  for (let n = 0; n < calls; n++) await world.signIn.apiOf({ headers });
  return (performance.now() - start) * 1000 / calls;
}
console.log(`apiOf: ${(await timeApiOf()).toFixed(0)} µs`);

const begun = performance.now();
const end = begun + seconds * 1000;
await Promise.all(
  Array.from({ length: users }, (_, index) => new User(index).play(end)),
);
const took = (performance.now() - begun) / 1000;

const { tokens, refused } = refreshes();
const repeated = tokens.length - new Set(tokens).size;
if (repeated > 0) problems.push(`${repeated} refresh tokens were used twice`);
if (refused > 0) problems.push(`${refused} refreshes were refused`);
times.sort((one, other) => one - other);
const at = (part: number) =>
  `${times[Math.floor(times.length * part)]?.toFixed(0)} ms`;
console.log(`${users} users, ${took.toFixed(0)} s, ${signIns} sign-ins`);
console.log(
  `${times.length} pages, ${(times.length / took).toFixed(0)} a second`,
);
console.log(`a page: median ${at(0.5)}, 99 % within ${at(0.99)}`);
console.log(
  `${tokens.length} refreshes, ${repeated} refresh tokens used twice`,
);
console.log(Object.fromEntries(statuses));
console.log(`${problems.length} problems`, problems.slice(0, 5));
await stack.disposeAsync();
Deno.exit(problems.length === 0 ? 0 : 1);
