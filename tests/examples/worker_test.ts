/** The example for Workers, in workerd with Durable Objects. */

import type { Readable } from "node:stream";
import { Miniflare } from "miniflare";
import { startFlowServers } from "../servers/_flow.ts";
import { bundle } from "../support/bundle.ts";
import { type Site, testSite } from "./_sites.ts";

const SECRET = "secret-of-the-worker";

const { default: wrangler } = await import("./wrangler.json", {
  with: { type: "json" },
});

async function startWorker(_: string, origin: string): Promise<Site> {
  await using started = new AsyncDisposableStack();
  const servers = started.use(
    await startFlowServers({
      clients: [{
        client_id: "worker",
        client_secret: SECRET,
        redirect_uris: [`${origin}/callback`],
        post_logout_redirect_uris: [`${origin}/`],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      }],
    }),
  );
  const directory = await Deno.makeTempDir();
  started.defer(() => Deno.remove(directory, { recursive: true }));
  const path = `${directory}/worker.mjs`;
  const source = new URL("_expiring_worker.ts", import.meta.url).pathname;
  await bundle(source, path, ["cloudflare:workers"]);
  const { server: { issuer }, protectedResource: { resource } } = servers;
  let log = "";
  const start = () =>
    new Miniflare({
      handleRuntimeStdio(_: Readable, errors: Readable) {
        errors.setEncoding("utf8").on("data", (text) => log += text);
      },
      modules: [{
        type: "ESModule",
        path: "worker.mjs",
        contents: Deno.readTextFileSync(path),
      }],
      compatibilityDate: wrangler.compatibility_date,
      durableObjects: Object.fromEntries(
        wrangler.durable_objects.bindings.map(({ name, class_name }) => [
          name,
          {
            className: class_name,
            useSQLite: wrangler.migrations.some((one) =>
              one.new_sqlite_classes.includes(class_name)
            ),
          },
        ]),
      ),
      durableObjectsPersist: `${directory}/objects`,
      bindings: {
        ...wrangler.vars,
        RESOURCE: resource,
        ORIGIN: origin,
        COOKIE_KEY: btoa("a key of thirty-two bytes, or so"),
        CLIENT: JSON.stringify({
          issuer,
          client_id: "worker",
          client_secret: SECRET,
        }),
      },
      // Else miniflare downloads an example of the properties of a request.
      cf: false,
    });
  let miniflare = start();
  started.defer(() => miniflare.dispose());
  const running = started.move();
  return {
    origin,
    servers,
    get log() {
      return log;
    },
    send: async (url, { method = "GET", headers }) =>
      // Its types are those of workers.
      await miniflare.dispatchFetch(url, {
        method,
        headers: headers as Record<string, string>,
        redirect: "manual",
      }) as unknown as Response,
    expire: (open) => open("/expire"),
    async restart() {
      await miniflare.dispose();
      miniflare = start();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

testSite("worker.ts", startWorker);
