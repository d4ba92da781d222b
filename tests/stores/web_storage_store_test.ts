/** Two tabs of Chromium share a session, and its lock. */

import { assertEquals } from "@std/assert";
import { startRotatingServer } from "../servers/rotating_server.ts";
import { bundle } from "../support/bundle.ts";
import { startBrowser } from "../support/chromium.ts";
import { LIMIT_MS, within } from "../support/within.ts";

Deno.test("webStorageStore() shares a session and a lock between two tabs of Chromium", async () => {
  await using stack = new AsyncDisposableStack();
  const path = await Deno.makeTempFile({ suffix: ".js" });
  stack.defer(() => Deno.remove(path));
  await bundle(new URL("_page.ts", import.meta.url).pathname, path);
  const script = await Deno.readTextFile(path);
  const page = `<!DOCTYPE html><script type="module">${script}</script>`;
  const headers = { "Content-Type": "text/html" };
  const server = stack.use(
    await startRotatingServer(() =>
      Promise.resolve(new Response(page, { headers }))
    ),
  );
  const browser = stack.use(await startBrowser());
  const open = async () => {
    const id = await browser.open(`${server.origin}/tab`);
    const tab = await browser.attach(id);
    await tab.find("globalThis.damage");
    return tab;
  };
  const [first, second] = [await open(), await open()];

  await first.run(`store.save(${JSON.stringify(server.session)})`);
  for (let round = 1; round <= 10; round++) {
    const calls = [first, second].map((tab) => tab.run("call()"));
    assertEquals(await Promise.all(calls), [200, 200]);
    assertEquals([server.refreshes, server.isRevoked], [round, false]);
    server.expire();
  }

  assertEquals(await first.run("hold()"), "held");
  const locked = second.run("store.lock(() => Promise.resolve('locked'))");
  await second.find(
    "navigator.locks.query().then(({ pending }) => pending.length === 1)",
  );
  await browser.close(first.id);
  assertEquals(await within(LIMIT_MS, locked), "locked");

  assertEquals(
    await second.run("damage()"),
    'OAuthClientError: Value in web storage at key "session" is not a session. ' +
      "It was left as it is; delete it to sign in again, 32 characters",
  );
});
