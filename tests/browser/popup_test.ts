/** `createPopupReceiver()` in Chromium, with the page of the examples. */

import { assertEquals, assertMatch } from "@std/assert";
import type { Page } from "../support/chromium.ts";
import {
  change,
  press,
  READY,
  reload,
  requireNotes,
  shown,
  startUser,
} from "./_user.ts";

const PAGE = "/page_popup.html";

/** Long enough after the first page of a popup that `closed` is believed. */
const LATER = "performance.now() > 1_500 + " +
  "performance.getEntriesByType('navigation')[0].responseEnd";

Deno.test("createPopupReceiver() signs in without leaving the page, in Chromium", async (t) => {
  await using user = await startUser();
  const { world, browser } = user;
  const { server: { issuer, requests }, behaviour } = world;
  const step = (name: string, run: () => Promise<void>) =>
    user.step(t, name, run);

  const signIn = async (page: Page) => {
    await press(page);
    await user.consent(await user.find(issuer));
    await requireNotes(page);
  };

  await step("without a click, the popup is blocked at once", async () => {
    const page = await user.open(PAGE);
    await press(page, false);
    assertMatch(await shown(page), /: The browser has blocked the popup/);
    await user.count(1);
  });

  await step("the user signs in, and the popup is closed", async () => {
    const page = await user.open(PAGE);
    await signIn(page);
    await user.count(1);
    assertEquals(await page.run("location.pathname"), PAGE);
  });

  await step("the user closes the popup", async () => {
    const page = await user.open(PAGE);
    await press(page);
    const popup = await user.find(issuer);
    await popup.find(LATER);
    await browser.close(popup.id);
    assertMatch(await shown(page), /: The popup was closed/);
    // The lock is free again, and the next click works.
    await signIn(page);
  });

  await step("the user closes the popup that has the focus", async () => {
    const page = await user.open(PAGE);
    // Headless pages have the focus all the time.
    await page.run(`document.hasFocus = () => {
      window.looks = (window.looks ?? 0) + 1;
      return window.isFocused;
    }`);
    await press(page);
    const popup = await user.find(issuer);
    await page.find("window.looks > 1");
    await browser.close(popup.id);
    await page.run("window.isFocused = true");
    assertMatch(await shown(page), /: The popup was closed/);
  });

  await step("the user denies access", async () => {
    const page = await user.open(PAGE);
    await press(page);
    await user.consent(await user.find(issuer), true);
    assertMatch(await shown(page), /access_denied/);
    await user.count(1);
  });

  for (const setting of ["coop", "ownCoop"] as const) {
    const who = setting === "coop" ? "server" : "page";
    await step(`the policy of the ${who} cuts the popup off`, async () => {
      behaviour[setting] = "same-origin";
      const page = await user.open(PAGE);
      await press(page);
      const popup = await user.find(issuer);
      await popup.find(LATER);
      assertEquals(await popup.run("opener"), null);
      await user.consent(popup);
      await requireNotes(page);
      await user.count(1);
    });
  }

  await step("the page is in a frame of another site", async () => {
    const url = world.origin + PAGE;
    await browser.open(`${world.otherSite}/frame?${encodeURIComponent(url)}`);
    const page = await user.find(url, "iframe");
    await page.find(READY);
    await signIn(page);
    await user.count(2);
  });

  await step("two tabs need a session at once", async () => {
    const first = await user.open(PAGE);
    const second = await user.open(PAGE);
    requests.length = 0;
    await press(first);
    const popup = await user.find(issuer);
    await press(second);
    await user.count(3);
    await user.consent(popup);
    await requireNotes(first);
    await requireNotes(second);
    assertEquals(requests.filter((one) => one === "POST /token").length, 1);
    assertEquals(requests.filter((one) => one === "POST /reg").length, 1);
    await user.count(2);
  });

  await step("the page is reloaded in the middle", async () => {
    const page = await user.open(PAGE);
    await press(page);
    await user.find(issuer);
    await reload(page);
    // The popup goes with the page that has opened it.
    await user.count(1);
    await signIn(page);
  });

  await step(
    "nobody takes the response that a reload has left behind",
    async () => {
      behaviour.coop = "same-origin";
      const page = await user.open(PAGE);
      await press(page);
      const popup = await user.find(issuer);
      await reload(page);
      await user.consent(popup);
      const callback = await user.find(`${world.origin}/callback.html`);
      await callback.find("location.search === ''");
      await user.count(1);
    },
  );

  await step(
    "a page that is closed while it refreshes leaves no lock",
    async () => {
      const first = await user.open(PAGE);
      await signIn(first);
      const second = await user.open(PAGE, true);
      await change(first, "session.token.expires_at = 1;");
      const held = user.holdToken();
      await press(first);
      await held.received;
      await press(second);
      await browser.close(first.id);
      await requireNotes(second);
      held.release();
      await user.count(1);
    },
  );

  await step(
    "open() needs the click, and visit() then needs none",
    async () => {
      const page = await user.open(PAGE);
      await page.run(`(async () => {
      const { createPopupReceiver } = await import("@oauth-helper/client/browser");
      const redirectUri = location.origin + "/callback.html";
      const receiver = createPopupReceiver({ redirectUri });
      const url = new URL("?code=c0de&state=s1", redirectUri);
      window.receiver = receiver;
      window.visit = () => receiver.visit(url, { pending: { state: "s1" } })
        .then(({ search }) => search, ({ code }) => code);
    })()`);
      const blocked =
        "(() => { try { receiver.open() } catch (e) { return e.code } })()";
      assertEquals(await page.run(blocked), "popup_blocked");
      assertEquals(await page.run("visit()"), "popup_blocked");
      await page.run("void (window.popup = receiver.open())", true);
      // Chromium lets a page open one popup for a click.
      assertEquals(await page.run("visit()"), "?code=c0de&state=s1");
      assertEquals(await page.run("visit()"), "popup_blocked");
      await page.run("receiver.open().close()", true);
      assertEquals(await page.run("visit()"), "popup_blocked");
      await user.count(1);
    },
  );
});
