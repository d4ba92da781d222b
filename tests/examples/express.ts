import process from "node:process";
import * as oauth from "@oauth-helper/client";
import { redisStore } from "@oauth-helper/client/stores";
// @ts-types="@types/express"
import express, { type Response } from "express";
import { createClient } from "redis";
import { type IVisit, openCookie, sealCookie } from "./sealed_cookie.ts";

const { RESOURCE = "", ORIGIN, CLIENT = "", REDIS = "", PORT } = process.env;
const client: oauth.IKnownClient = JSON.parse(CLIENT);
const redis = createClient({ url: REDIS });
await redis.on("error", console.error).connect();
function apiOf({ id = crypto.randomUUID() }: IVisit) {
  const store = redisStore(redis, `user:${id}`, { lifetimeSeconds: 2592000 });
  return oauth.createAuthorizedFetch(RESOURCE, { client, store });
}
const redirect = async (response: Response, url: string, visit: IVisit) =>
  response.header("Set-Cookie", await sealCookie(visit)).redirect(303, url);
const app = express();
app.get("/login", async ({ headers }, response) => {
  const visit = await openCookie(headers.cookie);
  const challenge = await fetch(RESOURCE);
  const context = await oauth.discoverAuthorization(RESOURCE, { challenge });
  const redirectUri = `${ORIGIN}/callback`;
  const session = await apiOf(visit).session();
  const options = { client, redirectUri, offlineAccess: true, session };
  const { url, pending } = await oauth.startAuthorization(context, options);
  await redirect(response, url.href, { ...visit, pending });
});
app.get("/callback", async ({ headers, query, url }, response) => {
  const { pending } = await openCookie(headers.cookie);
  if (!pending || pending.state !== query.state) return response.redirect("/");
  const next = { id: crypto.randomUUID() };
  await apiOf(next).finish(new URL(url, ORIGIN), pending).then(
    () => redirect(response, "/", next),
    (error) => {
      console.error(error);
      response.status(403).type("text").send(error.error ?? error.code);
    },
  );
});
app.post("/logout", async ({ headers }, response) => {
  const { origin, "sec-fetch-site": site } = headers;
  // A form of another site comes without the cookie, and must not replace it.
  const isForeign = site !== "same-origin" && origin !== ORIGIN;
  if (isForeign) return response.status(403).send("From another site");
  const visit = await openCookie(headers.cookie);
  const session = await apiOf(visit).session();
  await apiOf(visit).revoke();
  const home = { postLogoutRedirectUri: `${ORIGIN}/` };
  const url = session && oauth.buildEndSessionUrl(session, home);
  await redirect(response, url?.href ?? "/", {});
});
app.get("/", async ({ headers }, response) => {
  const result = await apiOf(await openCookie(headers.cookie))(RESOURCE);
  response.status(result.status).type("text").send(await result.text());
});
app.listen(Number(PORT), "127.0.0.1");
