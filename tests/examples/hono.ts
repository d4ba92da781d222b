import * as oauth from "@oauth-helper/client";
import { denoKvStore } from "@oauth-helper/client/stores";
import { type Context, Hono } from "hono";
import { type IVisit, openCookie, sealCookie } from "./sealed_cookie.ts";

const RESOURCE = Deno.env.get("RESOURCE")!;
const ORIGIN = Deno.env.get("ORIGIN")!;
const redirectUri = `${ORIGIN}/callback`;
const client: oauth.IKnownClient = JSON.parse(Deno.env.get("CLIENT")!);
const kv = await Deno.openKv(Deno.env.get("KV_PATH"));
const lifetimeSeconds = 30 * 24 * 3600;

function apiOf(id: string = crypto.randomUUID()) {
  const store = denoKvStore(kv, ["sessions", id], { lifetimeSeconds });
  return oauth.createAuthorizedFetch(RESOURCE, { client, store });
}
const visitOf = (c: Context) => openCookie(c.req.header("Cookie"));
async function redirect(c: Context, url: string, visit: IVisit) {
  c.header("Set-Cookie", await sealCookie(visit));
  return c.redirect(url, 303);
}
const app = new Hono();
app.get("/login", async (c) => {
  const challenge = await fetch(RESOURCE);
  const context = await oauth.discoverAuthorization(RESOURCE, { challenge });
  const visit = await visitOf(c);
  const session = await apiOf(visit.id).session();
  const options = { client, redirectUri, offlineAccess: true, session };
  const { url, pending } = await oauth.startAuthorization(context, options);
  return redirect(c, url.href, { ...visit, pending });
});
app.get("/callback", async (c) => {
  const { pending } = await visitOf(c);
  if (!pending || pending.state !== c.req.query("state")) {
    return c.redirect("/");
  }
  const next = { id: crypto.randomUUID() };
  return await apiOf(next.id).finish(c.req.raw, pending).then(
    () => redirect(c, "/", next),
    (error) => {
      console.error(error);
      return c.text(error.error ?? error.code, 403);
    },
  );
});
app.post("/logout", async (c) => {
  const isOwn = c.req.header("Sec-Fetch-Site") === "same-origin" ||
    c.req.header("Origin") === ORIGIN;
  // A form of another site comes without the cookie, and must not replace it.
  if (!isOwn) return c.text("From another site", 403);
  const { id } = await visitOf(c);
  const session = await apiOf(id).session();
  await apiOf(id).revoke();
  const home = { postLogoutRedirectUri: new URL("/", redirectUri) };
  const url = session && oauth.buildEndSessionUrl(session, home);
  return redirect(c, url?.href ?? "/", {});
});
app.get("/", async (c) => {
  const result = await apiOf((await visitOf(c)).id)(RESOURCE);
  return new Response(await result.text(), { status: result.status });
});
Deno.serve(app.fetch);
