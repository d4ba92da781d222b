/** The report of the doctor in Chromium: wide and narrow, light and dark. */

import { assert, assertEquals } from "@std/assert";
import { type Diagnosis, reportHtml } from "../../lib/doctor/mod.ts";
import { signedIn, type SignInModel } from "../doctor/_sign_in_world.ts";
import { SNAPSHOTS } from "../doctor/_snapshots.ts";
import { startBrowser } from "../support/chromium.ts";

const SERVERS: Record<string, (model: SignInModel) => void> = {
  healthy: () => {},
  broken: (model) => SNAPSHOTS.broken?.(model),
  "stops at the token": ({ handlers, changes }) => {
    changes["/as/register"] = (members) => {
      members.grant_types = ["authorization_code"];
      members.client_name = "x".repeat(300);
    };
    handlers["POST /as/token"] = () =>
      new Response("<!doctype html><h1>502 Bad Gateway</h1>", {
        status: 502,
        headers: { "Content-Type": "text/html" },
      });
  },
  "without metadata": (model) => {
    model.documents = {};
    model.resource.headers["WWW-Authenticate"] = "Bearer";
  },
};

const SCREENS = { wide: 1280, narrow: 360 };
const SCHEMES = { light: "rgb(255, 255, 255)", dark: "rgb(16, 21, 27)" };

/** What is laid out: code of the page. */
const MEASURES = `(() => {
  const shown = [...document.querySelectorAll("svg")]
    .filter((svg) => getComputedStyle(svg).display !== "none");
  const [svg] = shown;
  const { right, left } = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")]
    .map((text) => text.getBoundingClientRect());
  return {
    diagrams: shown.length,
    overflow: document.documentElement.scrollWidth - innerWidth,
    outside: texts.filter((one) => one.right > right + 1 || one.left < left - 1).length,
    background: getComputedStyle(document.body).backgroundColor,
    requests: performance.getEntriesByType("resource").length,
  };
})()`;

interface Measures {
  diagrams: number;
  overflow: number;
  outside: number;
  background: string;
  requests: number;
}

Deno.test("reportHtml() fits wide and narrow screens, light and dark, in Chromium", async (t) => {
  const file = await Deno.makeTempFile({ suffix: ".html" });
  await using browser = await startBrowser();
  try {
    for (const [name, change] of Object.entries(SERVERS)) {
      const { model: _, ids: __, ...diagnosis } = await signedIn(change);
      await t.step(name, () => show(name, diagnosis));
    }
  } finally {
    await Deno.remove(file);
  }

  async function show(name: string, diagnosis: Diagnosis) {
    await Deno.writeTextFile(file, reportHtml(diagnosis));
    const id = await browser.open(`file://${file}`);
    const page = await browser.attach(id);
    await page.find("document.querySelector('footer')");
    for (const [screen, width] of Object.entries(SCREENS)) {
      for (const [scheme, background] of Object.entries(SCHEMES)) {
        await page.send("Emulation.setEmulatedMedia", {
          features: [{ name: "prefers-color-scheme", value: scheme }],
        });
        await page.send("Emulation.setDeviceMetricsOverride", {
          width,
          height: 800,
          deviceScaleFactor: 1,
          mobile: screen === "narrow",
        });
        const measures = await page.run(MEASURES) as Measures;
        assert(measures.overflow <= 0, `${name}: ${measures.overflow} pixels`);
        assertEquals(
          { ...measures, overflow: 0 },
          { diagrams: 1, overflow: 0, outside: 0, background, requests: 0 },
        );
      }
    }
    await browser.close(id);
  }
});
