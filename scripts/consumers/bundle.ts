/** The consumers that run a bundle: workerd and a browser. */

import {
  attempt,
  type Context,
  copyFiles,
  installTool,
  judge,
  type Outcome,
  packages,
  parseOutcome,
  rowsOf,
} from "./context.ts";
import { startBrowser } from "../../tests/support/chromium.ts";
import { findNode } from "./node.ts";
import { findKeptImports } from "../support/bundle.ts";
import { entryPoints } from "../support/npm_package.ts";
import { install, outputOf } from "../support/process.ts";
import type { Row } from "./table.ts";

/** The dates whose behaviour workerd shows; many changes came after the older one. */
const COMPATIBILITY_DATES = ["2026-07-01", "2023-12-01"];

/** The entry points that a bundle has beside the main one. */
const BUNDLED = ["browser", "doctor", "stores", "testing"];

/** Bundles the installed package as `client.js` into a new directory. */
async function bundle(
  context: Context,
  condition: "workerd" | "browser",
): Promise<string> {
  const { name, tarball } = context.package;
  const project = `${context.temporary}/${condition}`;
  const esbuild = await installTool(context, "esbuild", packages.esbuild);
  await install(project, { [name]: `file:${tarball}` });
  const entry = [
    `export * from "${name}";`,
    ...BUNDLED.map((other) => `export * as ${other} from "${name}/${other}";`),
  ];
  await Deno.writeTextFile(`${project}/entry.js`, entry.join("\n"));
  await outputOf(`${esbuild}/node_modules/.bin/esbuild`, [
    "entry.js",
    "--bundle",
    "--format=esm",
    "--target=es2022",
    "--platform=browser",
    `--conditions=${condition}`,
    "--outfile=client.js",
    // A module that cannot be bundled is an error, not a warning.
    "--log-limit=0",
  ], { cwd: project });
  await copyFiles(project, "scenario.js", "worker.js", "workerd.mjs");
  return project;
}

/** Runs the scenario in workerd, without Node's modules in the worker. */
export async function runWorkerd(
  context: Context,
): Promise<readonly Row[]> {
  return await attempt("workerd", "-", "bundle", async () => {
    const tool = await installTool(context, "miniflare", packages.miniflare);
    const node = await findNode(context, packages.node.at(-1) ?? "");
    const project = await bundle(context, "workerd");
    // Node looks for miniflare in the script's directory and above.
    await Deno.symlink(
      `${tool}/node_modules`,
      `${context.temporary}/node_modules`,
    );
    const { version } = JSON.parse(
      await Deno.readTextFile(`${tool}/node_modules/workerd/package.json`),
    );
    return await rowsOf(
      COMPATIBILITY_DATES,
      (date) =>
        attempt("workerd", version, `bundle, as of ${date}`, async () => {
          const args = ["workerd.mjs", date, context.server];
          const printed = await outputOf(node, args, { cwd: project });
          return judge(parseOutcome(printed), "worker");
        }),
    );
  });
}

async function runPage(
  directory: string,
  server: string,
): Promise<{ version: string; outcome: Outcome }> {
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
  const outcome = await page.find("globalThis.outcome") as Outcome;
  const { product } = await page.send("Browser.getVersion");
  return { version: String(product).replace(/^.*\//, ""), outcome };
}

/** Runs the scenario in headless Chromium, on a page of another origin. */
export async function runChromium(
  context: Context,
): Promise<readonly Row[]> {
  return await attempt("Chromium", "-", "bundle as a module", async () => {
    const project = await bundle(context, "browser");
    await copyFiles(project, "browser.html");
    const { version, outcome } = await runPage(project, context.server);
    return { version, ...judge(outcome, "browser") };
  });
}

/** Bundles an import of each entry point of which nothing is used. */
export async function runUnused(
  context: Context,
): Promise<readonly Row[]> {
  const { name, tarball } = context.package;
  const loaded = `unused imports, ${entryPoints.length}`;
  return await attempt("esbuild", packages.esbuild, loaded, async () => {
    const project = `${context.temporary}/unused`;
    await install(project, { [name]: `file:${tarball}` });
    const kept = findKeptImports(name, project);
    return { failure: kept.join("\n") || undefined };
  });
}
