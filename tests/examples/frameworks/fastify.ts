import { webRequestOf } from "@oauth-helper/client/web";
import { fastify } from "fastify";
import { signIn } from "./sign_in.ts";

export const app = fastify();
// A hook comes before parsers, and for paths without a route too.
app.addHook("onRequest", async (request, reply) => {
  const own = webRequestOf(request.raw, reply.raw);
  const response = await signIn.handle(own) ??
    await signIn.forward(own, { path: "/api" });
  if (response) return reply.send(response);
});
app.post("/notes", (request) => Promise.resolve(request.body));
