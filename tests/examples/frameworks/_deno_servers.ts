/** The sites of the frameworks in Deno, each on its own port; prints the ports as JSON. */

import { app as elysia } from "./elysia.ts";
import site from "./fetch.ts";
import { app as h3 } from "./h3.ts";
import { app as hono } from "./hono.ts";

function portOf(fetch: (request: Request) => Promise<Response> | Response) {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  return Deno.serve(options, fetch).addr.port;
}

console.log(JSON.stringify({
  "Deno.serve": portOf(site.fetch),
  "Hono in Deno": portOf(hono.fetch),
  "h3 2 in Deno": portOf(h3.fetch),
  "Elysia in Deno": portOf(elysia.fetch),
}));
