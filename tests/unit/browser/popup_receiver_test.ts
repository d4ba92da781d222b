/**
 * A visit in a popup ends with the response for its state, and leaves nothing behind.
 */

import { assertEquals } from "@std/assert";
import { createPopupReceiver } from "../../../lib/browser/mod.ts";
import { LIMIT_MS, within } from "../../support/within.ts";
import { codeOf, fakeWindow, openChannel } from "./_fake_window.ts";
import { assertThrowsCode, pinThrown } from "../../support/fixtures.ts";

const PAGE = "https://app.example/notes";
const REDIRECT_URI = "https://app.example/callback";
const RESPONSE = `${REDIRECT_URI}?code=c0de&state=s1`;
const URL_OF_SERVER = new URL("https://as.example/authorize");
const pending = { state: "s1" };
const sent = { type: "oauth-helper:response", state: "s1", url: RESPONSE };
const taken = { type: "oauth-helper:taken", state: "s1" };

const create = (options = {}) =>
  createPopupReceiver({ redirectUri: REDIRECT_URI, ...options });

Deno.test("createPopupReceiver() opens nothing on a server", () => {
  pinThrown(() => create().open(), "unsupported");
});

Deno.test("visit() returns the response that arrives on the channel of its state, and leaves nothing behind", async () => {
  using page = fakeWindow(PAGE);
  const visit = create().visit(URL_OF_SERVER, { pending });
  const channel = openChannel("oauth-helper:s1");
  const confirmed = new Promise((resolve) => {
    channel.onmessage = ({ data }) => resolve(data);
  });
  channel.postMessage({ ...sent, state: "s2", url: "https://x.example" });
  channel.postMessage(sent);
  assertEquals((await within(LIMIT_MS, visit)).href, RESPONSE);
  assertEquals(await within(LIMIT_MS, confirmed), taken);
  assertEquals(page.popups.map(({ closed }) => closed), [true]);
  channel.close();
  assertEquals(page.listeners, 0);
});

Deno.test("visit() accepts messages of its own origin only", async () => {
  using page = fakeWindow(PAGE);
  const confirmed: unknown[] = [];
  const source = {
    postMessage: (data: unknown, origin: string) =>
      confirmed.push([data, origin]),
  };
  const visit = create().visit(URL_OF_SERVER, { pending });
  const fire = (origin: string, data: unknown) =>
    // As in browsers, where the members are not the event's own.
    page.fire("message", Object.create({ origin, data, source }));
  fire("https://evil.example", { ...sent, url: "https://evil.example/" });
  fire("https://app.example", "another message");
  fire("https://app.example", { ...sent, state: "s2" });
  assertEquals(confirmed, []);
  fire("https://app.example", sent);
  assertEquals((await within(LIMIT_MS, visit)).href, RESPONSE);
  assertEquals(confirmed, [[taken, "https://app.example"]]);
});

const ENDS: [
  how: string,
  options: { timeoutMs?: number },
  end: (
    page: ReturnType<typeof fakeWindow>,
    controller: AbortController,
  ) => void,
][] = [
  ["popup_closed", {}, (page) => page.fire("pagehide")],
  ["timeout", { timeoutMs: 1 }, () => {}],
  ["abort", {}, (_, controller) => controller.abort({ code: "abort" })],
];

for (const [how, options, end] of ENDS) {
  Deno.test(`visit() that ends with ${how} closes the popup`, async () => {
    using page = fakeWindow(PAGE);
    const controller = new AbortController();
    const { signal } = controller;
    const visit = create(options).visit(URL_OF_SERVER, { pending, signal });
    end(page, controller);
    assertEquals(await within(LIMIT_MS, codeOf(visit)), how);
    assertEquals(page.popups.map(({ closed }) => closed), [true]);
    assertEquals(page.listeners, 0);
  });
}

Deno.test("visit() rejects at once if the popup is blocked", async () => {
  using page = fakeWindow(PAGE);
  page.isBlocking = true;
  const receiver = create();
  const visit = receiver.visit(URL_OF_SERVER, { pending });
  assertEquals(await codeOf(visit), "popup_blocked");
  assertThrowsCode(() => receiver.open(), "popup_blocked");
});

Deno.test("open() opens the popup of the next visit, which the user may close before", async () => {
  using page = fakeWindow(PAGE);
  const receiver = create();
  receiver.open();
  page.isBlocking = true;
  const visit = receiver.visit(URL_OF_SERVER, { pending });
  assertEquals(page.popups.map(({ href }) => href), [undefined]);
  page.fire("pagehide");
  assertEquals(await within(LIMIT_MS, codeOf(visit)), "popup_closed");

  page.isBlocking = false;
  receiver.open();
  page.popups.at(-1)!.closed = true;
  const next = receiver.visit(URL_OF_SERVER, { pending });
  assertEquals(await within(LIMIT_MS, codeOf(next)), "popup_closed");
});

Deno.test("open() replaces the popup that no visit has used, and close() ends it", async () => {
  using page = fakeWindow(PAGE);
  const receiver = create();
  const first = receiver.open();
  const second = receiver.open();
  assertEquals(page.popups.map(({ closed }) => closed), [true, false]);
  first.close();
  assertEquals(page.popups.map(({ closed }) => closed), [true, false]);
  second.close();
  assertEquals(page.popups.map(({ closed }) => closed), [true, true]);
  page.isBlocking = true;
  const visit = receiver.visit(URL_OF_SERVER, { pending });
  assertEquals(await codeOf(visit), "popup_blocked");
});
