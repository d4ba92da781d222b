/** The page of a popup passes its response to its own origin only, and closes. */

import { assertEquals } from "@std/assert";
import { finishPopup } from "../../../lib/browser/mod.ts";
import { skipWaits } from "../../support/timers.ts";
import { LIMIT_MS, turn, within } from "../../support/within.ts";
import { codeOf, fakeWindow, openChannel } from "./_fake_window.ts";

const RESPONSE = "https://app.example/callback?code=c0de&state=s1";
const taken = { type: "oauth-helper:taken", state: "s1" };

Deno.test("finishPopup() cleans the URL, passes the response on and closes the window", async () => {
  using page = fakeWindow(RESPONSE);
  const channel = openChannel("oauth-helper:s1");
  const received = new Promise((resolve) => {
    channel.onmessage = ({ data }) => {
      resolve(data);
      assertEquals(page.replaced, ["/callback"]);
      assertEquals(page.isClosed, false);
      channel.postMessage(taken);
    };
  });
  assertEquals(await within(LIMIT_MS, finishPopup()), true);
  const sent = { type: "oauth-helper:response", state: "s1", url: RESPONSE };
  assertEquals(await received, sent);
  // An opener of another origin does not receive it.
  assertEquals(page.sentToOpener, [[sent, "https://app.example"]]);
  assertEquals(page.isClosed, true);
  channel.close();
  assertEquals(page.listeners, 0);
});

Deno.test("finishPopup() waits for the opener, and for nobody of another origin", async () => {
  using page = fakeWindow(RESPONSE);
  const finished = finishPopup();
  const fire = (origin: string, data: unknown) =>
    page.fire("message", { origin, data });
  fire("https://evil.example", taken);
  fire("https://app.example", { ...taken, state: "s2" });
  await turn();
  assertEquals(page.isClosed, false);
  fire("https://app.example", taken);
  assertEquals(await within(LIMIT_MS, finished), true);
});

Deno.test("finishPopup() closes the window after a second if nobody takes the response", async () => {
  using page = fakeWindow(RESPONSE);
  const timers = skipWaits();
  const finished = finishPopup();
  timers[Symbol.dispose]();
  assertEquals(await within(LIMIT_MS, finished), false);
  assertEquals(page.isClosed, true);
  assertEquals(page.listeners, 0);
});

Deno.test("finishPopup() does nothing without a response", async () => {
  using page = fakeWindow("https://app.example/callback?theme=dark");
  assertEquals(await finishPopup(), false);
  assertEquals([page.replaced, page.isClosed], [[], false]);
});

Deno.test("finishPopup() fails outside of a page", async () => {
  assertEquals(await codeOf(finishPopup()), "unsupported");
});
