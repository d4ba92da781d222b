/** The example of a host with a user interface, in a page of Chromium and in a terminal. */

import { assertEquals } from "@std/assert";
import {
  type RunningTestServers,
  startTestServers,
} from "../../lib/testing/mod.ts";
import { startBrowser } from "../support/chromium.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { createDesk } from "./_programs.ts";

interface View {
  /** Waits until the list shows this for a server. */
  find(index: number, state: RegExp): Promise<unknown>;
  signIn(index: number): Promise<unknown>;
}

const countsOf = ({ received }: RunningTestServers) => [
  received("authorization").length,
  received("registration").length,
];

/** Plays what becomes of three servers; the page or the terminal is opened by `open`. */
async function play(
  open: (urls: string[], test: (view: View) => Promise<void>) => Promise<void>,
): Promise<void> {
  const servers = await Promise.all(
    Array.from({ length: 3 }, () => startTestServers({ user: "leaves" })),
  );
  const [first, second, broken] = servers as [
    RunningTestServers,
    RunningTestServers,
    RunningTestServers,
  ];
  broken.intercept = () => new Response("Down", { status: 500 });
  const urls = servers.map(({ resource }) => resource);
  try {
    await open(urls, async (view) => {
      // At the start, no page is opened, and nothing is registered.
      await view.find(0, /sign-in required \(no_session/);
      await view.find(1, /sign-in required \(no_session/);
      await view.find(2, /error \(Status 500\)/);
      assertEquals(servers.map(countsOf), [[0, 0], [0, 0], [0, 0]]);

      // The user closes the page, and wishes it again: with a client of its own.
      await view.signIn(0);
      const opened = (count: number) =>
        until(LIMIT_MS, () => countsOf(first)[0] === count);
      await opened(1);
      first.user = "consents";
      await view.find(0, /signing in/);
      await view.signIn(0);
      await view.find(0, /signed in/);
      assertEquals(servers.map(countsOf), [[2, 2], [0, 0], [0, 0]]);

      second.user = "refuses";
      await view.signIn(1);
      await view.find(1, /sign-in required \(.*access_denied/);
      second.user = "consents";
      await view.signIn(1);
      await view.find(1, /signed in/);
      // A denial keeps its client.
      assertEquals(servers.map(countsOf), [[2, 2], [2, 1], [0, 0]]);
    });
  } finally {
    await Promise.all(servers.map((one) => one.close()));
  }
}

Deno.test("server_list_page.ts has a button for each server, and opens a page for its clicks only", () =>
  play(async (urls, test) => {
    await using desk = await createDesk();
    const program = desk.start("hosts/server_list_page.ts", ...urls);
    const [url] = await program.find(/^http:.*(?=\n)/m);
    try {
      const other = await fetch(new URL("/sign-in/0", url), { method: "POST" });
      assertEquals([other.status, await other.text()], [404, ""]);
      await using browser = await startBrowser();
      const page = await browser.attach(await browser.open(url));
      const row = (index: number) =>
        `document.querySelectorAll("li")[${index}]`;
      await test({
        find: (index, state) =>
          page.find(`${state}.test(${row(index)}.textContent)`),
        signIn: (index) =>
          page.run(
            `[...${row(index)}.querySelectorAll("button")]` +
              `.find((one) => one.textContent === "Sign in").click()`,
          ),
      });
    } finally {
      await program.kill();
    }
  }));

Deno.test("server_list_terminal.ts signs in to the server whose number is typed", () =>
  play(async (urls, test) => {
    await using desk = await createDesk();
    const program = desk.startInTerminal(
      "hosts/server_list_terminal.ts",
      ...urls,
    );
    await test({
      find: (index, { source }) =>
        program.find(new RegExp(`\n${index + 1} http\\S+: ${source}`)),
      signIn: (index) => program.type(`${index + 1}\n`),
    });
    await program.type("\n");
    assertEquals((await program.end()).code, 0);
  }));
