import { assertEquals } from "@std/assert";
import type { ITestRequest } from "../../lib/testing/mod.ts";
import { startRotatingServer } from "../servers/rotating_server.ts";
import { bundle } from "../support/bundle.ts";
import { type IBrowser, startBrowser } from "../support/chromium.ts";
import { LIMIT_MS, within } from "../support/within.ts";

const PAGE =
  '<!DOCTYPE html><title>Tab</title><script type="module" src="/page.js"></script>';

interface IOrder {
  action: string;
  argument?: string;
}

/** Tabs of one browser, which wait for orders. */
class Tabs {
  readonly #outcomes = new Map<string, (outcome: string) => void>();
  readonly #orders = new Map<string, (order: IOrder) => void>();
  readonly #script: string;

  constructor(script: string) {
    this.#script = script;
  }

  /** Responds to a request of a tab. */
  async handle({ url, body }: ITestRequest): Promise<Response> {
    const { pathname, searchParams } = url;
    if (pathname === "/page.js") {
      return new Response(this.#script, {
        headers: { "Content-Type": "text/javascript" },
      });
    }
    if (pathname === "/tab") {
      return new Response(PAGE, { headers: { "Content-Type": "text/html" } });
    }
    if (pathname !== "/next") return new Response(null, { status: 404 });
    const tab = searchParams.get("tab") ?? "";
    const order = new Promise<IOrder>((resolve) =>
      this.#orders.set(tab, resolve)
    );
    this.#outcomes.get(tab)?.(body);
    return Response.json(await order);
  }

  /** Opens a tab; returns its identifier in the browser. */
  async open(browser: IBrowser, url: string, tab: string): Promise<string> {
    const ready = new Promise<string>((resolve) =>
      this.#outcomes.set(tab, resolve)
    );
    const id = await browser.open(url);
    assertEquals(await ready, "ready");
    return id;
  }

  /** Lets a tab do something; returns what came of it. */
  order(tab: string, action: string, argument?: unknown): Promise<string> {
    const outcome = new Promise<string>((resolve) =>
      this.#outcomes.set(tab, resolve)
    );
    this.#orders.get(tab)?.({ action, argument: JSON.stringify(argument) });
    return outcome;
  }

  /** Ends all tabs. */
  end(): void {
    for (const order of this.#orders.values()) order({ action: "end" });
  }
}

Deno.test("webStorageStore() shares a session and a lock between two tabs of Chromium", async () => {
  await using stack = new AsyncDisposableStack();
  const path = await Deno.makeTempFile({ suffix: ".js" });
  stack.defer(() => Deno.remove(path));
  await bundle(new URL("_page.ts", import.meta.url).pathname, path);
  const tabs = new Tabs(await Deno.readTextFile(path));
  const server = stack.use(
    await startRotatingServer((request) => tabs.handle(request)),
  );
  // After the browser has ended: responses to requests that still wait.
  stack.defer(() => tabs.end());
  const browser = stack.use(await startBrowser());
  const open = (tab: string) =>
    tabs.open(browser, `${server.origin}/tab?tab=${tab}`, tab);
  const first = await open("1");
  await open("2");

  assertEquals(await tabs.order("1", "save", server.session), "saved");
  for (let round = 1; round <= 10; round++) {
    const statuses = await Promise.all(
      ["1", "2"].map((tab) => tabs.order(tab, "call")),
    );
    assertEquals(statuses, ["200", "200"]);
    assertEquals([server.refreshes, server.isRevoked], [round, false]);
    server.expire();
  }

  assertEquals(await tabs.order("1", "hold"), "held");
  const locked = tabs.order("2", "lock");
  const waited = await Promise.race([
    locked,
    new Promise((resolve) => setTimeout(() => resolve("waiting"), 300)),
  ]);
  assertEquals(waited, "waiting");
  await browser.close(first);
  assertEquals(await within(LIMIT_MS, locked), "locked");

  assertEquals(
    await tabs.order("2", "damage"),
    'OAuthClientError: Value in web storage at key "session" is not a session. ' +
      "It was left as it is; delete it to sign in again, 32 characters",
  );
});
