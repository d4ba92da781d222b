import { node } from "@elysiajs/node";
import { Elysia } from "elysia";
import { signIn } from "./sign_in.ts";

// Without an adapter in Bun.
export const app = new Elysia({ adapter: node() })
  .onRequest(async ({ request }) =>
    await signIn.handle(request) ??
      await signIn.forward(request, { path: "/api" })
  )
  .post("/notes", ({ body }) => body);
