/** The sites of the frameworks in Node, each on its own port; prints the ports as JSON. */

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server } from "node:net";
import process from "node:process";
import type { AuthorizedFetch } from "@oauth-helper/client";
import { serve } from "@hono/node-server";
import { toNodeHandler } from "h3/node";
import { createApp, toNodeListener } from "h3-v1";
import { app as elysia } from "./elysia.ts";
import { app as express } from "./express.ts";
import { app as fastify } from "./fastify.ts";
import { app as h3 } from "./h3.ts";
import { app as hono } from "./hono.ts";
import * as next from "./next.ts";
import nuxt from "./nuxt.ts";
import { handle } from "./sveltekit.ts";
import start from "./tanstack_start.ts";

const listen = { hostname: "127.0.0.1", port: 0 };

/** Waits until a server of Node listens; returns its port. */
async function portOf(server: Server): Promise<number> {
  if (!server.listening) {
    await new Promise((resolve) => server.once("listening", resolve));
  }
  return (server.address() as AddressInfo).port;
}

const ofFetch = (fetch: (request: Request) => Promise<Response> | Response) =>
  portOf(serve({ fetch, ...listen }) as Server);

const ofHandler = (handler: RequestListener) =>
  portOf(createServer(handler).listen(0, listen.hostname));

async function ofFastify() {
  await fastify.listen({ host: listen.hostname, port: listen.port });
  return portOf(fastify.server);
}

const ports = {
  Express: await ofHandler(express),
  Fastify: await ofFastify(),
  Hono: await ofFetch(hono.fetch),
  "h3 2": await ofHandler(toNodeHandler(h3) as RequestListener),
  "Nuxt (h3 1)": await ofHandler(toNodeListener(createApp().use(nuxt))),
  Elysia: await ofFetch(elysia.fetch),
  "TanStack Start": await ofFetch(async (request) =>
    await start.fetch(request)
  ),
  SvelteKit: await ofFetch((request) =>
    handle({
      event: { request, locals: {} as { api?: AuthorizedFetch | undefined } },
      resolve: async ({ locals }) =>
        await locals.api?.(process.env["RESOURCE"]!) ?? new Response("A page"),
    })
  ),
  "Next.js": await ofFetch((request) =>
    next[request.method as keyof typeof next](request)
  ),
};
console.log(JSON.stringify(ports));
