import { sendResponse, webRequestOf } from "@oauth-helper/client/web";
// @ts-types="@types/express"
import express from "express";
import { signIn } from "./sign_in.ts";

export const app = express();
app.use((request, response, next) => {
  const own = webRequestOf(request, response);
  signIn.handle(own)
    .then((handled) => handled ?? signIn.forward(own, { path: "/api" }))
    .then((result) => result ? sendResponse(result, response) : next())
    .catch(next);
});
// Parsers come after: the bodies of `/api` go on to the API.
app.use(express.json());
app.post("/notes", (request, response) => {
  response.json(request.body);
});
