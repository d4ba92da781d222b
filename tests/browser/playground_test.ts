/** The playground of the site in Chromium, if `deno task docs` has built it. */

import { assert, assertEquals } from "@std/assert";
import recording from "../../scripts/site/playground/recording.json" with {
  type: "json",
};
import { type Page, startBrowser } from "../support/chromium.ts";

const site = new URL(
  Deno.env.get("DOCS_DIR") ?? "../../docs/",
  import.meta.url,
);

const isBuilt = () => {
  try {
    return Deno.statSync(new URL("playground.html", site)).isFile;
  } catch {
    return false;
  }
};

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  css: "text/css",
  js: "text/javascript",
  svg: "image/svg+xml",
};

async function respond({ url }: Request): Promise<Response> {
  const { pathname } = new URL(url);
  try {
    const file = await Deno.readFile(new URL(`.${pathname}`, site));
    const type = TYPES[pathname.split(".").at(-1)!] ??
      "application/octet-stream";
    return new Response(file, { headers: { "Content-Type": type } });
  } catch {
    return new Response("Nothing is here", { status: 404 });
  }
}

/** Opens a page of the site in a tab of this width. */
type Open = (
  path: string,
  width: number,
  wishes?: { scheme?: string; motion?: string },
) => Promise<Page>;

/** Tests the site in Chromium. */
function test(
  name: string,
  run: (open: Open, t: Deno.TestContext) => Promise<void>,
): void {
  const fn = async (t: Deno.TestContext) => {
    const address = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    await using server = Deno.serve(address, respond);
    await using browser = await startBrowser();
    const open: Open = async (
      path,
      width,
      { scheme = "light", motion = "reduce" } = {},
    ) => {
      const page = await browser.attach(await browser.open("about:blank"));
      await page.send("Emulation.setDeviceMetricsOverride", {
        ...{ width, height: 900, deviceScaleFactor: 1, mobile: false },
      });
      await page.send("Emulation.setEmulatedMedia", {
        features: [
          { name: "prefers-color-scheme", value: scheme },
          { name: "prefers-reduced-motion", value: motion },
        ],
      });
      const url = `http://127.0.0.1:${server.addr.port}/${path}.html`;
      await page.send("Page.navigate", { url });
      await page.find(`location.href === "${url}" && document.readyState ===
        "complete" && document.querySelector("h1")`);
      return page;
    };
    await run(open, t);
  };
  Deno.test({ name, ignore: !isBuilt(), fn });
}

async function click(page: Page, name: string): Promise<unknown> {
  await page.find(`document.querySelector('[data-action="${name}"]')`);
  await page.run(
    `document.querySelector('[data-action="${name}"]').click()`,
    true,
  );
  return await page.find(`(() => {
    const text = document.querySelector(".rule").textContent;
    return /in progress/.test(text) ? "" : text;
  })()`);
}

/** Sets a field, as a visitor would. */
const set = (page: Page, name: string, value: string | boolean) =>
  page.run(`(() => {
    const field = document.querySelector('[name="${name}"]');
    field[${typeof value === "boolean" ? '"checked"' : '"value"'}] = ${
    JSON.stringify(value)
  };
    field.dispatchEvent(new Event("change", { bubbles: true }));
  })()`);

const rows = `[...document.querySelectorAll(".diagram li button")]
  .map((button) => button.getAttribute("aria-label"))`;

/** How many pixels of a page are beyond the screen. */
const OVERFLOW =
  "Math.max(0, document.documentElement.scrollWidth - innerWidth)";

test("the playground shows a session from the first call to its end", async (open) => {
  const page = await open("playground", 1280);
  assert(/The 401 tells the library/.test(`${await click(page, "call")}`));
  const labels = await page.run(rows) as string[];
  assertEquals(labels[0], "Process 1 to Library: api(url)");
  assertEquals(labels.at(-1), "Library to Process 1: 200");
  // The message of an arrow, by a click and by the keyboard.
  await page.run(
    `document.querySelectorAll(".diagram li button")[1].click()`,
  );
  const message = `document.querySelector(".message").textContent`;
  await page.find(`/^GET https:\\/\\/api.example\\/mcp/.test(${message})`);
  await page.run(`document.querySelectorAll(".diagram li button")[1].focus();
      document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }))`);
  await page.find(`/^HTTP 401/.test(${message})`);
  // An hour later; the server is down; it has revoked everything.
  await click(page, "hour");
  assert(/before the call/.test(`${await click(page, "three")}`));
  await click(page, "hour");
  await set(page, "isDown", true);
  assert(/session stays/.test(`${await click(page, "call")}`));
  await set(page, "isDown", false);
  await click(page, "minutes");
  await click(page, "revokeAtServer");
  await set(page, "user", "refuses");
  assert(/didn't finish/.test(`${await click(page, "call")}`));
  assert(/later calls fail/.test(`${await click(page, "call")}`));
  await set(page, "user", "consents");
  assert(/prompts the user/.test(`${await click(page, "signIn")}`));
  assert(/deletes the session/.test(`${await click(page, "revoke")}`));
  // A choice restarts the program, and is in its text.
  await set(page, "signInOn", true);
  await page.find(`document.querySelectorAll(".diagram li").length === 0`);
  assert(/prompts nobody/.test(`${await click(page, "call")}`));
  const program = await page.run(
    `document.querySelector(".program").textContent`,
  );
  assert(/signInOn: "signIn"/.test(`${program}`));
  const link = `document.querySelector(".rule a").href.replace(origin, "")`;
  assertEquals(await page.run(link), "/prompts#prompt-only-on-a-click");
});

test("the playground plays a call once it is in view, unless less motion is wanted", async (open) => {
  for (
    const [motion, calls] of [["no-preference", 2], ["reduce", 1]] as const
  ) {
    const page = await open("index", 1280, { motion });
    await page.find(`document.querySelector(".diagram ol")`);
    assertEquals(await page.run(rows), []);
    await page.run(
      `document.querySelector(".diagram ol").scrollIntoView()`,
    );
    if (calls === 2) await page.find(`${rows}.at(-1)?.endsWith(": 200")`);
    await click(page, "call");
    const labels = await page.run(rows) as string[];
    const made = labels.filter((one) => one.endsWith(": api(url)"));
    assertEquals(made.length, calls, motion);
  }
});

test("the playground shows the recording of three processes", async (open) => {
  const page = await open("playground", 360);
  await page.find(`document.querySelector('[data-tab="recorded"]')`);
  await page.run(`document.querySelector('[data-tab="recorded"]').click()`);
  const texts = (selector: string) =>
    `[...document.querySelectorAll(".recorded ${selector}")]
        .map(({ textContent }) => textContent)`;
  const arrows = recording.flatMap(({ refreshes }) => refreshes).length * 2;
  await page.find(`${texts("li")}.length === ${arrows}`);
  const figures = recording.map(({ calls, succeeded }) =>
    [succeeded, calls].map((one) => one.toLocaleString("en")).join(" of ")
  );
  assertEquals(await page.run(texts("strong")), figures.reverse());
  const programs = await page.run(texts("pre.program")) as string[];
  assert(programs[0]!.includes("openid-client"));
  assert(programs[1]!.includes("createAuthorizedFetch"));
  assertEquals(await page.run(texts("button.copy")), ["", ""]);
  assertEquals(await page.run(OVERFLOW), 0);
});

test("the pages of the site fit wide and narrow screens", async (open, t) => {
  for (const width of [1280, 768, 360]) {
    for (const path of ["index", "playground", "sessions"]) {
      await t.step(`${path} at ${width} px`, async () => {
        const page = await open(path, width, { scheme: "dark" });
        if (path === "playground") await click(page, "call");
        assertEquals(await page.run(OVERFLOW), 0);
      });
    }
  }
});
