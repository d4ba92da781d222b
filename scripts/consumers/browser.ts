/** Opens a page in headless Chromium and saves a screenshot. */

import { type IOutcome, MissingError, parseOutcome } from "./context.ts";
import { outputOf, run } from "../support/process.ts";
import { root } from "../support/deno.ts";

const PROGRAMS = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

const FILES: Record<string, string> = {
  "/": "browser.html",
  "/scenario.js": "scenario.js",
  "/client.js": "client.js",
};

async function findChromium(cwd: string): Promise<[string, string]> {
  for (const program of PROGRAMS) {
    try {
      const version = await outputOf(program, ["--version"], { cwd });
      return [program, /[\d.]+/.exec(version)?.[0] ?? "-"];
    } catch {
      // This one is not installed.
    }
  }
  throw new MissingError(
    `None of ${PROGRAMS.join(", ")} is on the path. On Debian: ` +
      "apt-get install chromium",
  );
}

/**
 * Serves the directory on loopback and opens its page. The page posts its outcome.
 * The response to its image is sent only then, which completes the loading of the
 * page, so that the screenshot shows the outcome.
 */
export async function runPage(
  directory: string,
  server: string,
): Promise<{ version: string; outcome: IOutcome }> {
  const [program, version] = await findChromium(directory);
  const posted = Promise.withResolvers<IOutcome>();
  const page = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/outcome") {
        posted.resolve(parseOutcome(await request.text()));
        return new Response(null, { status: 204 });
      }
      if (pathname === "/done") {
        await posted.promise;
        return new Response(null, { status: 204 });
      }
      const name = FILES[pathname];
      if (name === undefined) return new Response(null, { status: 404 });
      const type = name.endsWith(".js") ? "text/javascript" : "text/html";
      return new Response(await Deno.readTextFile(`${directory}/${name}`), {
        headers: { "Content-Type": `${type}; charset=utf-8` },
      });
    },
  );
  try {
    const artifacts = new URL("artifacts/", root);
    await Deno.mkdir(artifacts, { recursive: true });
    const query = new URLSearchParams({ server });
    const { stderr } = await run(program, [
      "--headless",
      "--disable-gpu",
      "--no-first-run",
      // Chromium does not run as root with its sandbox.
      ...(Deno.build.os !== "windows" && Deno.uid() === 0
        ? ["--no-sandbox"]
        : []),
      `--user-data-dir=${directory}/profile`,
      "--window-size=1200,1500",
      `--screenshot=${new URL("browser.png", artifacts).pathname}`,
      `http://127.0.0.1:${page.addr.port}/?${query}`,
    ], { cwd: directory });
    posted.resolve({ failure: `The page posted no outcome. ${stderr}` });
    return { version, outcome: await posted.promise };
  } finally {
    await page.shutdown();
  }
}
