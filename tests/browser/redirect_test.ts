/** `createRedirectReceiver()` in Chromium, with the page of the examples. */

import { assertEquals, assertMatch } from "@std/assert";
import type { Page } from "../support/chromium.ts";
import {
  change,
  press,
  reload,
  requireNotes,
  requireNothing,
  shown,
  startUser,
} from "./_user.ts";

const PAGE = "/page_redirect.html";

Deno.test("createRedirectReceiver() leaves the page and returns to it, in Chromium", async (t) => {
  await using user = await startUser();
  const { world } = user;
  const { server: { issuer, requests } } = world;
  const step = (name: string, run: () => Promise<void>) =>
    user.step(t, name, run);
  const leave = async (page: Page) => {
    await press(page, false);
    await page.find(`location.origin === ${JSON.stringify(issuer)}`);
  };
  const signIn = async (page: Page) => {
    await leave(page);
    await user.consent(page);
    await requireNotes(page);
  };

  await step(
    "the user returns to where they were, and the URL is clean",
    async () => {
      const page = await user.open(`${PAGE}?note=3#top`);
      await signIn(page);
      assertEquals(
        await page.run("location.href"),
        `${world.origin}${PAGE}?note=3#top`,
      );
      assertEquals(await page.run("sessionStorage.length"), 0);
      // A reload begins nothing, and the session is there.
      await reload(page);
      requests.length = 0;
      await press(page);
      await requireNotes(page);
      assertEquals(requests, []);
    },
  );

  await step("a denial is shown once", async () => {
    const page = await user.open(`${PAGE}#top`);
    await leave(page);
    await user.consent(page, true);
    assertMatch(await shown(page), /access_denied/);
    assertEquals(await page.run("location.href"), `${world.origin}${PAGE}#top`);
    // The server knows the client, for the next sign-in of this page.
    requests.length = 0;
    await leave(page);
    assertEquals(requests.includes("POST /reg"), false);
    await user.consent(page, true);
    assertMatch(await shown(page), /access_denied/);
    await reload(page);
    await requireNothing(page);
  });

  await step("the page is reloaded while the code is redeemed", async () => {
    const page = await user.open(PAGE);
    const held = user.holdToken();
    await leave(page);
    await user.consent(page);
    await held.received;
    requests.length = 0;
    await reload(page);
    await requireNothing(page);
    assertEquals(requests, []);
    held.release();
    await signIn(page);
  });

  await step(
    "the user goes back, and the page in the cache holds no lock",
    async () => {
      const page = await user.open(PAGE);
      await page.run(
        "addEventListener('pageshow', (event) => window.isRestored = event.persisted)",
      );
      await leave(page);
      const other = await user.open(PAGE);
      await leave(other);
      await page.run("history.back()");
      await page.find("window.isRestored");
      assertMatch(await shown(page), /left/);
      await signIn(page);
    },
  );

  await step("the user goes back, and the next call signs in", async () => {
    const page = await user.open(`${PAGE}?call`);
    await page.run(
      "addEventListener('pageshow', (event) => window.isRestored = event.persisted)",
    );
    await leave(page);
    await page.run("history.back()");
    await page.find("window.isRestored");
    assertMatch(await shown(page), /left/);
    await signIn(page);
  });

  await step(
    "a registration is used again, by another tab and after a denial",
    async () => {
      const page = await user.open(PAGE);
      await signIn(page);
      await change(
        page,
        "session.token.access_token = ''; delete session.token.refresh_token;",
      );
      // Else the server would remember the user, and the consent.
      await page.send("Network.clearBrowserCookies");
      requests.length = 0;
      await leave(page);
      await user.consent(page, true);
      assertMatch(await shown(page), /access_denied/);
      assertEquals(requests.includes("POST /reg"), false);
      assertEquals(
        await page.run("JSON.parse(localStorage.session).internal.isUserAway"),
        undefined,
      );
      await leave(page);
      assertEquals(requests.includes("POST /reg"), false);
      // The first user may never come back: the next tab takes no chances.
      const other = await user.open(PAGE, true);
      await signIn(other);
      assertEquals(requests.filter((one) => one === "POST /reg").length, 1);
    },
  );
});
