/** Opens a page in headless Chromium. */

import { startBrowser } from "../../tests/support/chromium.ts";
import type { IOutcome } from "./context.ts";

/** Serves the directory on loopback, and returns the outcome of its page. */
export async function runPage(
  directory: string,
  server: string,
): Promise<{ version: string; outcome: IOutcome }> {
  await using browser = await startBrowser();
  await using files = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async ({ url }) => {
      const name = new URL(url).pathname.slice(1) || "browser.html";
      const text = await Deno.readTextFile(`${directory}/${name}`)
        .catch(() => undefined);
      const type = name.endsWith(".js") ? "text/javascript" : "text/html";
      return new Response(text ?? null, {
        status: text === undefined ? 404 : 200,
        headers: { "Content-Type": `${type}; charset=utf-8` },
      });
    },
  );
  const query = new URLSearchParams({ server });
  const page = await browser.attach(
    await browser.open(`http://127.0.0.1:${files.addr.port}/?${query}`),
  );
  const outcome = await page.find("globalThis.outcome") as IOutcome;
  const { product } = await page.send("Browser.getVersion");
  return { version: String(product).replace(/^.*\//, ""), outcome };
}
