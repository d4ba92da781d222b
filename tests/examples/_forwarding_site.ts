/** A site with Express that forwards `/api`, with a user who signs in at once. */

import process from "node:process";
import { createTestServers } from "@oauth-helper/client/testing";
import { memoryStore } from "@oauth-helper/client";
import * as web from "@oauth-helper/client/web";
// @ts-types="@types/express"
import express from "express";

const { RESOURCE = "", PORT } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const servers = createTestServers({
  resource: RESOURCE,
  clients: [{
    client_id: "site",
    client_secret: "secret",
    redirect_uris: [`${origin}/callback`],
  }],
});
const store = memoryStore();
const signIn = web.createWebSignIn(RESOURCE, {
  origin,
  client: {
    issuer: servers.issuer,
    client_id: "site",
    client_secret: "secret",
  },
  storeOf: () => store,
  cookieKeys: [new Uint8Array(32)],
  onError() {},
  // The API is real: what is tested are connections and memory.
  fetch: (input, init) =>
    (String(input).startsWith(RESOURCE) && init?.headers &&
        "Authorization" in init.headers
      ? fetch
      : servers.fetch)(input, init),
});

const app = express();
app.get("/start", async (request, response) => {
  const login = await signIn.login(web.webRequestOf(request), {
    returnTo: "/",
  });
  const back = await servers.receiver.visit(login.headers.get("Location")!);
  login.headers.set("Location", back);
  await web.sendResponse(login, response);
});
app.get("/memory", (_, response) => {
  response.json(process.resourceUsage().maxRSS);
});
app.get("/", (_, response) => {
  response.type("html").send("<!DOCTYPE html><title>Own page</title>");
});
app.use((request, response, next) => {
  const asked = web.webRequestOf(request, response);
  signIn.handle(asked)
    .then((handled) => handled ?? signIn.forward(asked, { path: "/api" }))
    .then((result) => result ? web.sendResponse(result, response) : next())
    .catch(next);
});
app.use("/late", express.json(), async (request, response) => {
  const asked = web.webRequestOf(request, response);
  const { message } = await signIn.forward(asked, { path: "/late" })
    .catch((error) => error);
  response.send(message);
});
app.listen(Number(PORT), "127.0.0.1");
