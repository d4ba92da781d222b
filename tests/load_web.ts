/**
 * Users at once at the example for Express: two processes on one Redis, with tokens that
 * live five seconds. Started by hand, for COMPARISON:
 *
 *     deno run -A --import-map scripts/npm_only/import_map.json tests/load_web.ts [users] [seconds]
 *
 * Fails if a user sees the data of another, if a refresh token is used twice, or if a
 * response has a status of 500 and more.
 */

import { startTestServers } from "../lib/testing/mod.ts";
import { startRedis } from "./servers/redis.ts";
import { bundle } from "./support/bundle.ts";
import { onFreePort } from "./support/free_port.ts";
import { LIMIT_MS, until } from "./support/within.ts";
import { World } from "./unit/web/_world.ts";

const [users = 200, seconds = 60] = Deno.args.map(Number);
const ORIGIN = "https://app.example";
const SECRET = "secret-of-the-site";
/** Pages that a user opens at once, so that several of them need a refresh. */
const PAGES = 3;
/** Pages after which a user signs out, and in again. */
const SIGN_OUT_EVERY = 15;

await using stack = new AsyncDisposableStack();
const redis = stack.use(await startRedis());
const servers = await startTestServers({
  lifetimeSeconds: 5,
  clients: [{
    client_id: "site",
    client_secret: SECRET,
    token_endpoint_auth_method: "client_secret_basic",
    redirect_uris: [`${ORIGIN}/callback`],
    grant_types: ["authorization_code", "refresh_token"],
  }],
});
stack.defer(() => servers.close());
const directory = await Deno.makeTempDir();
stack.defer(() => Deno.remove(directory, { recursive: true }));
const program = `${directory}/express.mjs`;
const { pathname } = new URL("examples/express.ts", import.meta.url);
await bundle(pathname, program, []);

/** Starts a process of the site; returns its origin. */
async function start(): Promise<string> {
  return await onFreePort(async (port) => {
    const child = new Deno.Command("node", {
      args: [program],
      env: {
        PORT: `${port}`,
        ORIGIN,
        RESOURCE: servers.resource,
        REDIS: redis.url,
        CLIENT: JSON.stringify({
          issuer: servers.issuer,
          client_id: "site",
          client_secret: SECRET,
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
const sites = [await start(), await start()];

const problems: string[] = [];
const times: number[] = [];
const statuses = new Map<string, number>();
let signIns = 0;
let turn = 0;

/** A user with a browser, whose name is a scope that the server grants. */
class User {
  readonly #cookies = new Map<string, string>();
  readonly #scope: string;

  constructor(index: number) {
    this.#scope = `user-${index}`;
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
    if (name === "GET / 200") times.push(performance.now() - begun);
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
    const url = new URL(response.headers.get("Location")!);
    // The server knows who it is.
    url.searchParams.set("scope", this.#scope);
    const back = new URL(await servers.receiver.visit(url));
    await this.open(back.pathname + back.search);
    signIns++;
  }

  async page(): Promise<void> {
    const [{ status }, text] = await this.open("/");
    const scopes = status === 200 && JSON.parse(text).scopes.join(" ");
    if (scopes !== this.#scope) {
      problems.push(`${this.#scope} received ${status}: ${text}`);
    }
  }

  async play(end: number): Promise<void> {
    await this.signIn();
    for (let count = 1; performance.now() < end; count++) {
      await Promise.all(Array.from({ length: PAGES }, () => this.page()));
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

const refreshes = servers.received("token", "refresh_token");
const tokens = refreshes.map(({ params }) => params.get("refresh_token"));
const repeated = tokens.length - new Set(tokens).size;
if (repeated > 0) problems.push(`${repeated} refresh tokens were used twice`);
const refused = refreshes.filter(({ status = 0 }) => status !== 200).length;
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
  `${refreshes.length} refreshes, ${repeated} refresh tokens used twice`,
);
console.log(Object.fromEntries(statuses));
console.log(`${problems.length} problems`, problems.slice(0, 5));
await stack.disposeAsync();
Deno.exit(problems.length === 0 ? 0 : 1);
