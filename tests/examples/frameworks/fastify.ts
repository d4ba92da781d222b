import { webRequestOf } from "@oauth-helper/client/web";
import { fastify } from "fastify";
import { answer } from "./sign_in.ts";

export const app = fastify();
// A hook comes before parsers, and for paths without a route too.
app.addHook("onRequest", async (request, reply) => {
  const response = await answer(webRequestOf(request.raw, reply.raw));
  if (response) return reply.send(response);
});
app.post("/notes", (request) => Promise.resolve(request.body));
