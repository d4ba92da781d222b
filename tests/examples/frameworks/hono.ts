import { Hono } from "hono";
import { signIn } from "./sign_in.ts";

export const app = new Hono();
app.use(async (c, next) =>
  await signIn.handle(c.req.raw) ??
    await signIn.forward(c.req.raw, { path: "/api" }) ??
    await next()
);
app.post("/notes", async (c) => c.json(await c.req.json()));
