/**
 * What a page meets: its own origin with the examples, an authorization server and an
 * API, each on an origin of its own, and a site that has the page in a frame.
 */

import * as esbuild from "esbuild";
import { serve } from "../servers/_serve.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../servers/authorization_server.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";

const root = new URL("../../", import.meta.url);
const EXAMPLES = new URL("../examples/", import.meta.url);

/** The module of each package that the pages import. */
const MODULES: Readonly<Record<string, string>> = {
  "@oauth-helper/client": "mod.ts",
  "@oauth-helper/client/browser": "lib/browser/mod.ts",
  "@oauth-helper/client/stores": "lib/stores/mod.ts",
};

/** Bundles the modules, which share what they have in common; returns them by path. */
async function bundleModules(): Promise<Map<string, string>> {
  const paths = Object.values(MODULES);
  const { outputFiles } = await esbuild.build({
    entryPoints: paths.map((path) => new URL(path, root).pathname),
    outbase: root.pathname,
    outdir: "/",
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "silent",
  });
  await esbuild.stop();
  return new Map(outputFiles.map(({ path, text }) => [path, text]));
}

const IMPORT_MAP = JSON.stringify({
  imports: Object.fromEntries(
    Object.entries(MODULES).map(([name, path]) => [
      name,
      `/${path.replace(/ts$/, "js")}`,
    ]),
  ),
});

/** How the servers behave; tests change it. */
export interface Behaviour {
  /** The `Cross-Origin-Opener-Policy` of the authorization server's pages. */
  coop?: string | undefined;
  /** The same of the examples. */
  ownCoop?: string | undefined;
  /** Called before a request of this path, such as `/token`, is handled. */
  before: Map<string, () => Promise<void>>;
}

export interface World extends AsyncDisposable {
  readonly origin: string;
  /** An origin of another site; `/frame?URL` has a page in a frame. */
  readonly otherSite: string;
  readonly server: AuthorizationServer;
  readonly behaviour: Behaviour;
}

const html = (text: string, coop = "unsafe-none") =>
  new Response(text, {
    headers: {
      "Content-Type": "text/html",
      "Cross-Origin-Opener-Policy": coop,
    },
  });

export async function startWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const behaviour: Behaviour = { before: new Map() };
  const server = stack.use(
    await startAuthorizationServer({
      async before({ url = "", method }, response) {
        const path = url.replace(/\?.*/s, "");
        await behaviour.before.get(path)?.();
        const { coop } = behaviour;
        if (coop) response.setHeader("Cross-Origin-Opener-Policy", coop);
        if (path !== "/reg") return;
        // oidc-provider allows pages its other endpoints alone.
        response.setHeader("Access-Control-Allow-Origin", "*");
        response.setHeader("Access-Control-Allow-Headers", "*");
        if (method === "OPTIONS") response.writeHead(204).end();
      },
    }),
  );
  const { resource } = stack.use(startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
    cors: true,
  }));
  const modules = await bundleModules();
  const site = serve(async (request) => {
    const { pathname, search } = new URL(request.url);
    const script = modules.get(pathname);
    if (script !== undefined) {
      const headers = { "Content-Type": "text/javascript" };
      return new Response(script, { headers });
    }
    if (pathname === "/frame") {
      const url = decodeURIComponent(search.slice(1));
      return html(
        `<!DOCTYPE html><iframe src="${url}" allow="*"></iframe>`,
      );
    }
    const name = pathname.slice(1);
    if (!/^\w+\.html$/.test(name)) return new Response("", { status: 404 });
    const text = await Deno.readTextFile(new URL(name, EXAMPLES));
    const map = `<script type="importmap">${IMPORT_MAP}</script>\n`;
    return html(
      text.replace(/(?=<script)/, map)
        .replace("https://api.example/mcp", resource)
        // The button makes a call, and authorizes nothing.
        .replace(
          "api.signIn().then(call)",
          search === "?call" ? "call()" : "$&",
        ),
      behaviour.ownCoop,
    );
  });
  stack.defer(site.close);
  const running = stack.move();
  return {
    origin: site.origin,
    otherSite: site.origin.replace("127.0.0.1", "localhost"),
    server,
    behaviour,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
