/** A user of the pages, with a browser. */

import { assertEquals } from "@std/assert";
import {
  type Browser,
  type Page,
  PAUSE_MS,
  startBrowser,
} from "../support/chromium.ts";
import { deferred } from "../support/stub_fetch.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { startWorld, type World } from "./_world.ts";

export interface User extends AsyncDisposable {
  readonly world: World;
  readonly browser: Browser;
  /** Opens an example in a tab, signed out unless `isSignedIn`. */
  open(path: string, isSignedIn?: boolean): Promise<Page>;
  /** Waits for a page whose URL begins so, in a tab or a popup. */
  find(url: string, type?: string): Promise<Page>;
  /** Waits until there are so many pages of the world. */
  count(pages: number): Promise<void>;
  /** As the function of this name, at the server of the world. */
  consent(page: Page, isDenied?: boolean): Promise<void>;
  /** Holds back the next response of the token endpoint. */
  holdToken(): { received: Promise<void>; release(): void };
  step(
    test: Deno.TestContext,
    name: string,
    run: () => Promise<void>,
  ): Promise<void>;
}

/** True once the script of an example has run. */
export const READY = "document.querySelector('button')?.onclick";

export async function press(page: Page, isClick = true): Promise<void> {
  const code = "document.querySelector('pre').textContent = ''; " +
    "document.querySelector('button').click()";
  await page.run(code, isClick);
}

export async function reload(page: Page): Promise<void> {
  await page.run("window.isOld = true; location.reload()");
  await page.find(`!window.isOld && ${READY}`);
}

export async function requireNothing(page: Page): Promise<void> {
  assertEquals(
    await page.run("document.querySelector('pre').textContent"),
    "",
  );
}

export async function shown(page: Page): Promise<string> {
  return String(
    await page.find("document.querySelector('pre')?.textContent"),
  );
}

export async function change(page: Page, code: string): Promise<void> {
  await page.run(`{
    const session = JSON.parse(localStorage.session);
    ${code}
    localStorage.session = JSON.stringify(session);
  }`);
}

/** Waits until an example shows what the API returned. */
export async function requireNotes(page: Page): Promise<void> {
  assertEquals((await shown(page)).slice(0, 13), '{"resource":"');
}

/** Signs in and consents, or cancels, until the browser leaves the server. */
export async function consent(
  page: Page,
  issuer: string,
  isDenied = false,
): Promise<void> {
  const code = `(() => {
    if (location.origin !== ${JSON.stringify(issuer)}) return true;
    const [form] = document.forms;
    if (document.readyState !== "complete" || !form || window.isSent) return;
    window.isSent = true;
    if (${isDenied}) return document.querySelector("a[href$=abort]").click();
    for (const one of form.elements) one.value ||= "alice";
    HTMLFormElement.prototype.submit.call(form);
  })()`;
  await until(LIMIT_MS, async () => {
    try {
      return Boolean(await page.run(code));
    } catch (error) {
      // Else it is on its way from one page to the next.
      return String(error).includes("was closed");
    }
  }, PAUSE_MS);
}

export async function startUser(): Promise<User> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld());
  const browser = stack.use(
    // Else a page is not kept where memory is short.
    await startBrowser(["--disable-features=BackForwardCacheMemoryControls"]),
  );
  const { issuer } = world.server;
  const running = stack.move();
  const targets = async () =>
    (await browser.targets()).filter(({ url }) => /^https?:/.test(url));

  const find: User["find"] = async (url, type = "page") => {
    let id: string | undefined;
    await until(LIMIT_MS, async () => {
      const found = (await targets()).find((one) =>
        one.url.startsWith(url) && one.type === type
      );
      id = found?.id;
      return id !== undefined;
    }, PAUSE_MS);
    return await browser.attach(id!);
  };

  return {
    world,
    browser,
    async open(path, isSignedIn = false) {
      const page = await browser.attach(
        await browser.open(world.origin + path),
      );
      await page.find(READY);
      if (!isSignedIn) await page.run("localStorage.clear()");
      return page;
    },
    find,
    async count(pages) {
      await until(
        LIMIT_MS,
        async () => (await targets()).length === pages,
        PAUSE_MS,
      );
    },
    consent: (page, isDenied) => consent(page, issuer, isDenied),
    holdToken() {
      const received = deferred<void>();
      const released = deferred<void>();
      world.behaviour.before.set("/token", () => {
        world.behaviour.before.clear();
        received.resolve();
        return released.promise;
      });
      return { received: received.promise, release: () => released.resolve() };
    },
    async step(test, name, run) {
      await test.step(name, async () => {
        try {
          await run();
        } finally {
          const { behaviour } = world;
          delete behaviour.coop;
          delete behaviour.ownCoop;
          behaviour.before.clear();
          for (const { id } of await targets()) await browser.close(id);
          await until(
            LIMIT_MS,
            async () => (await targets()).length === 0,
            PAUSE_MS,
          );
        }
      });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
