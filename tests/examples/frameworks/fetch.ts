import { signIn } from "./sign_in.ts";

export default {
  async fetch(request: Request): Promise<Response> {
    return await signIn.handle(request) ??
      await signIn.forward(request, { path: "/api" }) ??
      new Response("A page");
  },
};
