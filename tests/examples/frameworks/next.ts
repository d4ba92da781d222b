import { signIn } from "./sign_in.ts";

async function handler(request: Request): Promise<Response> {
  return await signIn.handle(request) ??
    await signIn.forward(request, { path: "/api" }) ??
    new Response(null, { status: 404 });
}

export {
  handler as DELETE,
  handler as GET,
  handler as PATCH,
  handler as POST,
  handler as PUT,
};
