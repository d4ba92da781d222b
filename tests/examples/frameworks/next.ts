import { answer } from "./sign_in.ts";

async function handler(request: Request): Promise<Response> {
  return await answer(request) ?? new Response(null, { status: 404 });
}

export {
  handler as DELETE,
  handler as GET,
  handler as PATCH,
  handler as POST,
  handler as PUT,
};
