import { answer } from "./sign_in.ts";

export default {
  async fetch(request: Request): Promise<Response> {
    return await answer(request) ?? new Response("A page");
  },
};
