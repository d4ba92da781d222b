import { Hono } from "hono";
import { answer } from "./sign_in.ts";

export const app = new Hono();
app.use(async (c, next) => await answer(c.req.raw) ?? await next());
app.post("/notes", async (c) => c.json(await c.req.json()));
