import { sendResponse, webRequestOf } from "@oauth-helper/client/web";
// @ts-types="@types/express"
import express from "express";
import { answer } from "./sign_in.ts";

export const app = express();
app.use((request, response, next) => {
  answer(webRequestOf(request, response))
    .then((result) => result ? sendResponse(result, response) : next())
    .catch(next);
});
// Parsers come after: the bodies of `/api` go on to the API.
app.use(express.json());
app.post("/notes", (request, response) => {
  response.json(request.body);
});
