import { node } from "@elysiajs/node";
import { Elysia } from "elysia";
import { answer } from "./sign_in.ts";

// Bun and Deno need no adapter.
export const app = new Elysia({ adapter: node() })
  .onRequest(({ request }) => answer(request))
  .post("/notes", ({ body }) => body);
