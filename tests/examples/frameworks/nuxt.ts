import { sendResponse, webRequestOf } from "@oauth-helper/client/web";
import { defineEventHandler } from "h3";
import { answer } from "./sign_in.ts";

export default defineEventHandler(async ({ node: { req, res } }) => {
  // Nuxt has its own routes below `/api`.
  const response = await answer(webRequestOf(req, res), "/backend");
  if (response) await sendResponse(response, res);
});
