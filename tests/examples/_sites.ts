/** Web servers that sign users in: their browsers, and what each server must survive. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { consent } from "../browser/_user.ts";
import type { FlowServers } from "../servers/_flow.ts";
import { serve } from "../servers/_serve.ts";
import { createBrowser } from "../servers/browser.ts";
import { findChromium, type Page, startBrowser } from "../support/chromium.ts";
import { LIMIT_MS, until } from "../support/within.ts";

export interface Site extends AsyncDisposable {
  /** What browsers request, without a slash at the end. */
  readonly origin: string;
  readonly servers: FlowServers;
  /** Sends a request, and follows no redirect. */
  send(url: URL, init: RequestInit): Promise<Response>;
  /** Makes the access tokens of all sessions expire. */
  expire(open: (path: string) => Promise<unknown>): Promise<unknown>;
  /** What it has written to its log so far. */
  readonly log: string;
  /** Ends all processes, and starts them again. */
  restart(): Promise<void>;
}

interface Received {
  readonly status: number;
  /** URL that it is redirected to; empty if it is not. */
  readonly location: string;
  readonly text: string;
}

class Visitor {
  readonly cookies = new Map<string, string>();
  /** What the user has at the authorization server. */
  #browser = createBrowser();
  readonly #site: Site;

  constructor(site: Site) {
    this.#site = site;
  }

  async open(
    path: string,
    method = "GET",
    fields: Record<string, string> = {},
  ): Promise<Received> {
    const { origin } = this.#site;
    const pairs = [...this.cookies].map(([name, value]) => `${name}=${value}`);
    const response = await this.#site.send(new URL(path, origin), {
      method,
      redirect: "manual",
      // Another cookie in front, as sites have them.
      headers: { Cookie: ["theme=dark", ...pairs].join("; "), ...fields },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      assertMatch(name, /^__Host-/);
      assertMatch(line, /; Path=\/(;|$)/);
      for (const attribute of ["Secure", "HttpOnly", "SameSite=Lax"]) {
        assert(line.includes(`; ${attribute}`), `${attribute} is missing`);
      }
      // What browsers accept (RFC 6265bis, section 5.6).
      assert(name.length + value.length <= 4096, `${value.length} characters`);
      if (line.includes("; Max-Age=0;")) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const { status, headers } = response;
    const location = headers.get("Location") ?? "";
    return { status, location, text: await response.text() };
  }

  /** Starts a sign-in; returns the callback, after the user has decided. */
  async visit(deny = false, path = "/login"): Promise<string> {
    const { location } = await this.open(path);
    const scope = new URL(location).searchParams.get("scope");
    assert(scope?.includes("offline_access"), "No refresh token is requested");
    const browser = deny ? createBrowser({ deny }) : this.#browser;
    return `${await browser.authorize(location)}`;
  }

  /** Signs out here and at the server, where a silent sign-in then fails. */
  async signOut(): Promise<void> {
    const fields = { Origin: this.#site.origin };
    const { location } = await this.open("/logout", "POST", fields);
    const home = await this.#browser.authorize(location);
    assertEquals(home.href, `${this.#site.origin}/`);
    const login = new URL((await this.open("/login")).location);
    login.searchParams.set("prompt", "none");
    const { searchParams } = await this.#browser.authorize(login);
    assertEquals(searchParams.get("error"), "login_required");
  }

  async signIn(): Promise<void> {
    const { location } = await this.open(await this.visit());
    assertEquals(new URL(location, this.#site.origin).pathname, "/");
    await this.requireSignedIn();
  }

  async requireSignedIn(): Promise<void> {
    const { status, text } = await this.open("/");
    assertEquals([status, JSON.parse(text).resource], [
      200,
      this.#site.servers.protectedResource.resource,
    ]);
  }

  /** A request of a page's script: no redirect leads to the server. */
  async requireSignedOut(): Promise<void> {
    const script = {
      ...{ "Sec-Fetch-Dest": "empty", "Sec-Fetch-Site": "same-origin" },
    };
    const { status, location } = await this.open("/", "GET", script);
    assertEquals([status, location], [401, ""]);
  }
}

const CALLS = 8;
const ROUNDS = 10;

/** A user signs in, refuses, comes back twice, is attacked, and signs out. */
async function playVisits(site: Site): Promise<void> {
  const { requests } = site.servers.server;
  const [alice, bob] = [new Visitor(site), new Visitor(site)];
  requests.length = 0;
  await alice.requireSignedOut();
  // No redirect, which would be endless if the home page led to a sign-in.
  const lost = await alice.open("/callback");
  assertEquals([lost.status, lost.location], [400, ""]);
  assertEquals(alice.cookies.size, 0);
  await alice.open("/login");
  await alice.open("/login");
  assertEquals(requests.filter((one) => one === "POST /reg"), []);

  const refusal = await alice.open(await alice.visit(true));
  assertEquals(refusal.status, 403);
  assert(refusal.text.includes("access_denied"), refusal.text);
  await until(LIMIT_MS, () => site.log.includes("access_denied"));
  await alice.requireSignedOut();

  const callback = await alice.visit();
  // The attacker has bob open the callback of alice.
  await bob.open(callback);
  await bob.requireSignedOut();
  const last = await bob.visit();
  await bob.open(callback);
  await bob.requireSignedOut();
  // It has not ended the sign-in of bob.
  await bob.open(last);
  await bob.requireSignedIn();
  // Of a page of the site that sends no referrer.
  const own = { "Sec-Fetch-Site": "same-origin", Origin: "null" };
  await bob.open("/logout", "POST", own);
  await bob.requireSignedOut();

  await alice.open(callback);
  await alice.requireSignedIn();
  // A reload does not redeem the code again, for which servers revoke the tokens.
  requests.length = 0;
  await alice.open(callback);
  assertEquals(requests, []);
  await alice.requireSignedIn();
  await bob.requireSignedOut();
  await bob.signIn();

  // Another site can have the browser request this, but not send a form with cookies,
  // whose response must not replace them either.
  await alice.open("/logout");
  const stranger = new Visitor(site);
  for (
    const fields of [
      { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
      { "Sec-Fetch-Site": "same-site", Origin: "https://a.app.example" },
      { Origin: "null" },
      {},
    ]
  ) {
    for (const path of ["/logout", "/login", "/callback"]) {
      const { status } = await stranger.open(path, "POST", fields);
      assert(status >= 400, `${path}: ${status}`);
    }
  }
  assertEquals(stranger.cookies.size, 0);
  await alice.requireSignedIn();
  const before = new Map(alice.cookies);
  await alice.signOut();
  assert(requests.some((one) => one.includes("/revocation")), `${requests}`);
  await alice.requireSignedOut();
  await bob.requireSignedIn();
  for (const [name, value] of before) alice.cookies.set(name, value);
  await alice.requireSignedOut();
}

/** Two tabs sign in at once, and each comes back to its page. */
async function playTabs(site: Site): Promise<void> {
  const { origin } = site;
  const user = new Visitor(site);
  const tabs = [
    await user.visit(false, "/login?returnTo=/a%3Fb"),
    await user.visit(false, "/login?returnTo=//evil.example"),
  ];
  const pages = tabs.map(async (one) => (await user.open(one)).location);
  assertEquals(await Promise.all(pages), [`${origin}/a?b`, `${origin}/`]);
  await user.requireSignedIn();
  const before = new Map(user.cookies);
  const prefetch = { "Sec-Purpose": "prefetch", "Sec-Fetch-Dest": "document" };
  assertEquals((await user.open("/login", "GET", prefetch)).status, 403);
  assertEquals(user.cookies, before);
}

/** The pages of a user make calls at once after each expiry. */
async function playExpiries(site: Site): Promise<void> {
  const { requests } = site.servers.server;
  const visitor = new Visitor(site);
  await visitor.signIn();
  for (let round = 1; round <= ROUNDS; round++) {
    await site.expire((path) => visitor.open(path));
    requests.length = 0;
    const calls = Array.from({ length: CALLS }, () => visitor.open("/"));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assertEquals(statuses, Array(CALLS).fill(200), `round ${round}`);
    // The server revokes all tokens if a refresh token is used again.
    assertEquals(requests, ["POST /token"], `round ${round}`);
  }
}

/** The processes end while a user is away, and while others are signed in. */
async function playRestarts(site: Site): Promise<void> {
  const [alice, bob] = [new Visitor(site), new Visitor(site)];
  await alice.signIn();
  const callback = await bob.visit();
  await site.restart();
  await alice.requireSignedIn();
  await bob.open(callback);
  await bob.requireSignedIn();
}

/** Starts the server of an example at an origin, as browsers know it. */
type StartSite = (name: string, origin: string) => Promise<Site>;

/** Starts a site, and Chromium at `/login`, beside a page of another site. */
async function startInChromium(name: string, start: StartSite) {
  const seen: string[] = [];
  // Chromium accepts secure cookies of loopback without TLS.
  const front = serve(async ({ url, method, headers }) => {
    const { hostname, pathname, search } = new URL(url);
    // Of another site, and of this one: what it passes on of its API allows no form.
    if (hostname === "localhost" || pathname === "/form") {
      const page = "<!DOCTYPE html><form method=post></form>";
      return new Response(page, { headers: { "Content-Type": "text/html" } });
    }
    const { status, body, headers: fields } = await site.send(
      new URL(pathname + search, front.origin),
      { method, headers: Object.fromEntries(headers), redirect: "manual" },
    );
    seen.push(`${method} ${pathname}${search} ${status}`);
    return new Response(body, { status, headers: fields });
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(front.close);
  const site = stack.use(await start(name, front.origin));
  const browser = stack.use(await startBrowser());
  const { origin } = front;
  const { issuer } = site.servers.server;
  /** Opens a page that leads to the server. */
  const login = async (path = "/login") => {
    const page = await browser.attach(await browser.open(origin + path));
    // What a site passes on of its API allows no `fetch`.
    await page.send("Page.setBypassCSP", { enabled: true });
    await page.find(`location.origin === ${JSON.stringify(issuer)}`);
    return page;
  };
  /** Waits for the response to a request; returns its status. */
  const statusOf = async (request: string) => {
    const find = () =>
      seen.find((one) => /^(.*?)(\?.*)? \d+$/.exec(one)?.[1] === request);
    await until(LIMIT_MS, () => find() !== undefined);
    return Number(find()?.split(" ").at(-1));
  };
  const open = async (page: Page, url: string) => {
    seen.length = 0;
    await page.send("Page.navigate", { url });
    await page.find(`location.href === ${JSON.stringify(url)}`);
  };
  const send = async (page: Page, path: string) => {
    const url = JSON.stringify(origin + path);
    await page.run(`{
      const form = document.createElement("form");
      form.method = "post";
      form.action = ${url};
      document.body.append(form);
      form.submit();
    }`);
    return await statusOf(`POST ${path}`);
  };
  const elsewhere = `${origin.replace("127.0.0.1", "localhost")}/`;
  const running = stack.move();
  return {
    ...{ site, origin, issuer, seen, elsewhere, login, statusOf, open, send },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** In Chromium, a page of another site sends the forms of this one. */
async function playForeignForms(name: string, start: StartSite) {
  await using world = await startInChromium(name, start);
  const { origin, issuer, seen, elsewhere, login, statusOf, open, send } =
    world;
  const page = await login();
  await consent(page, issuer);
  assertEquals(await statusOf("GET /"), 200);
  for (const path of ["/logout", "/login"]) {
    await open(page, elsewhere);
    await send(page, path);
    // Another URL each time, as the browser has the former one in its cache.
    await open(page, `${origin}/?after=${path}`);
    assertEquals(await statusOf("GET /"), 200, path);
  }
  await open(page, `${origin}/form`);
  assertEquals(await send(page, "/logout"), 303);
  // Else the next page could replace this response before its cookies are stored.
  await page.find(`location.origin === ${JSON.stringify(issuer)}`);
  seen.length = 0;
  await page.send("Page.navigate", { url: `${origin}/?after=all` });
  assertEquals(await statusOf("GET /"), 303);
}

/** In Chromium, a user has two tabs, goes back and reloads, and signs out. */
async function playBrowser(name: string, start: StartSite) {
  await using world = await startInChromium(name, start);
  const { site, origin, issuer, seen, elsewhere, login, statusOf, open, send } =
    world;
  const tabs = await Promise.all(
    ["a", "b"].map((one) => login(`/login?returnTo=/?${one}`)),
  );
  for (const [index, one] of ["a", "b"].entries()) {
    await consent(tabs[index]!, issuer);
    // A tab that has lost its cookie to the other begins once more by itself.
    await tabs[index]!.find(`location.href === "${origin}/?${one}"`);
    assert(seen.includes(`GET /?${one} 200`), `${seen}`);
  }
  const [page] = tabs as [Page, Page];

  const { requests } = site.servers.server;
  const callback = seen.findLast((one) => one.startsWith("GET /callback"))!
    .split(" ")[1]!;
  requests.length = 0;
  seen.length = 0;
  await page.send("Page.navigate", { url: origin + callback });
  await page.find(`location.origin === "${origin}" && location.search`);
  assertEquals(await statusOf("GET /callback"), 303);
  assertEquals(requests, []);
  await page.run("history.back()");
  await page.find(`location.href !== "${origin}/?b"`);
  await open(page, `${origin}/?after=back`);
  assertEquals(await statusOf("GET /"), 200);

  await open(page, elsewhere);
  await page.run(`{
    new Image().src = "${origin}/login?image";
    const link = document.createElement("link");
    link.rel = "prefetch";
    link.href = "${origin}/login?prefetch";
    document.head.append(link);
  }`);
  for (const one of ["image", "prefetch"]) {
    const refused = `GET /login?${one} 403`;
    await until(LIMIT_MS, () => seen.includes(refused));
  }
  const { cookies } = await page.send("Network.getCookies", {
    urls: [origin],
  }) as { cookies: { name: string; httpOnly: boolean }[] };
  // Cookies do not tell ports apart: those of the server are here as well.
  const ours = cookies.filter((one) => one.name.startsWith("sign-in"));
  assertEquals(
    ours.map((one) => [one.name, one.httpOnly]),
    [["sign-in", true]],
  );

  await open(page, `${origin}/form`);
  assertEquals(await send(page, "/logout"), 303);
  const button = "document.querySelector('button[name=logout]')";
  await page.find(`location.origin === "${issuer}" && ${button}`);
  seen.length = 0;
  await page.run(`${button}.click()`);
  assertEquals(await statusOf("GET /"), 303);
  // The next sign-in is not silent.
  await page.find(
    `location.origin === "${issuer}" && document.querySelector("[name=login]")`,
  );
}

/** In Chromium, a page of the site uses `fetch`, and the server is down at a refresh. */
async function playOutage(name: string, start: StartSite) {
  await using world = await startInChromium(name, start);
  const { site, origin, issuer, seen, login, statusOf, open } = world;
  const page = await login();
  const ask = `(async () => {
    const response = await fetch("/?script");
    const type = response.headers.get("Content-Type");
    const wait = response.headers.get("Retry-After");
    return JSON.stringify([response.status, type, wait, await response.text()]);
  })()`;
  const asked = async () =>
    JSON.parse(String(await page.find(ask))) as [
      number,
      string,
      string,
      string,
    ];
  // The page of a failed callback is a page of the site that anyone can open.
  await open(page, `${origin}/callback?none`);
  const [status, type, , text] = await asked();
  assertEquals([status, type], [401, "application/json"]);
  assertEquals(JSON.parse(text), {
    code: "sign_in_required",
    login: `${origin}/login`,
  });
  await page.send("Page.navigate", { url: `${origin}/login` });
  await page.find(`location.origin === "${issuer}"`);
  seen.length = 0;
  await consent(page, issuer);
  assertEquals(await statusOf("GET /"), 200);
  await site.expire(() => Promise.resolve());
  await site.servers.server[Symbol.asyncDispose]();
  await open(page, `${origin}/?down`);
  assert(seen.includes("GET /?down 503"), `${seen}`);
  const links = "document.body.innerText.includes('Try again')";
  await page.find(links);
  const [failed, , wait, body] = await asked();
  assertEquals([failed, Number(wait) > 0], [503, true]);
  assertEquals(JSON.parse(body).login, `${origin}/login`);
}

export function testInChromium(name: string, start: StartSite): void {
  Deno.test({
    name: `${name} survives a server that is down, in Chromium`,
    ignore: findChromium() === undefined,
    fn: () => playOutage(name, start),
  });
  Deno.test({
    name: `${name} survives two tabs, going back and reloading, in Chromium`,
    ignore: findChromium() === undefined,
    fn: () => playBrowser(name, start),
  });
}

export function testSite(name: string, start: StartSite): void {
  const test = (what: string, play: (site: Site) => Promise<void>) =>
    Deno.test(`${name} ${what}`, async () => {
      await using site = await start(name, "https://app.example");
      await play(site);
    });
  Deno.test({
    name: `${name} signs nobody out for another site, in Chromium`,
    ignore: findChromium() === undefined,
    fn: () => playForeignForms(name, start),
  });
  test(
    "signs its users in and out, each in a browser of their own",
    playVisits,
  );
  test("signs in two tabs at once", playTabs);
  test("makes one refresh for eight calls at once, ten times", playExpiries);
  test("keeps sessions and sign-ins when it restarts", playRestarts);
}
