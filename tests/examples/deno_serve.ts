import * as oauth from "@oauth-helper/client";
import { denoKvStore } from "@oauth-helper/client/stores";
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

async function redirect(url: string | URL, visit: IVisit): Promise<Response> {
  const cookie = await sealCookie(visit);
  const headers = { Location: `${url}`, "Set-Cookie": cookie };
  return new Response(null, { status: 303, headers });
}

Deno.serve(async (request) => {
  const { method, headers } = request;
  const { pathname, searchParams } = new URL(request.url);
  const home = Response.redirect(new URL("/", redirectUri));
  const isOwn = headers.get("Sec-Fetch-Site") === "same-origin" ||
    headers.get("Origin") === ORIGIN;
  // A form of another site comes without the cookie, and must not replace it.
  const isForeign = method === "POST" && !isOwn;
  if (isForeign) return new Response("From another site", { status: 403 });
  const { id, pending } = await openCookie(headers.get("Cookie"));
  if (pathname === "/login") {
    const challenge = await fetch(RESOURCE);
    const context = await oauth.discoverAuthorization(RESOURCE, { challenge });
    const session = await apiOf(id).session();
    const options = { client, redirectUri, offlineAccess: true, session };
    const start = await oauth.startAuthorization(context, options);
    return await redirect(start.url, { id, pending: start.pending });
  } else if (pathname === "/callback") {
    if (pending?.state !== searchParams.get("state")) return home;
    const next = { id: crypto.randomUUID() };
    return await apiOf(next.id).finish(request, pending).then(
      () => redirect("/", next),
      (error) => {
        console.error(error);
        return new Response(error.error ?? error.code, { status: 403 });
      },
    );
  } else if (pathname === "/logout" && method === "POST") {
    const session = await apiOf(id).session();
    await apiOf(id).revoke();
    const home = { postLogoutRedirectUri: new URL("/", redirectUri) };
    const url = session && oauth.buildEndSessionUrl(session, home);
    return await redirect(url ?? "/", {});
  }
  const result = await apiOf(id)(RESOURCE);
  return new Response(await result.text(), { status: result.status });
});
