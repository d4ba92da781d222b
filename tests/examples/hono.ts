import * as oauth from "@oauth-helper/client";
import { denoKvStore } from "@oauth-helper/client/stores";
import { type Context, Hono } from "hono";
import { type IVisit, openCookie, sealCookie } from "./sealed_cookie.ts";

const RESOURCE = Deno.env.get("RESOURCE")!;
const redirectUri = `${Deno.env.get("ORIGIN")}/callback`;
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
    ({ error, code }) => c.text(error ?? code, 403),
  );
});
app.post("/logout", async (c) => {
  const { id } = await visitOf(c);
  const session = await apiOf(id).session();
  await apiOf(id).revoke();
  const home = { postLogoutRedirectUri: new URL("/", redirectUri) };
  const hasPage = session?.serverMetadata.end_session_endpoint;
  const url = hasPage ? oauth.buildEndSessionUrl(session, home).href : "/";
  return redirect(c, url, {});
});
app.get("/", async (c) => {
  const result = await apiOf((await visitOf(c)).id)(RESOURCE);
  return new Response(await result.text(), { status: result.status });
});
Deno.serve(app.fetch);
