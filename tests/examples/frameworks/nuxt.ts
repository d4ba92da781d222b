import { sendResponse, webRequestOf } from "@oauth-helper/client/web";
import { defineEventHandler } from "h3";
import { signIn } from "./sign_in.ts";

export default defineEventHandler(async ({ node: { req, res } }) => {
  const request = webRequestOf(req, res);
  const response = await signIn.handle(request) ??
    // Nuxt has its own routes below `/api`.
    await signIn.forward(request, { path: "/backend" });
  if (response) await sendResponse(response, res);
});
