import {
  ensureClient,
  finishAuthorization,
  type IAuthorizationContext,
  startAuthorization,
} from "@oauth-helper/client";

const redirectUri = "https://app.example/callback";

export async function login(
  context: IAuthorizationContext, // await discoverAuthorization(resource)
  user: Map<string, string>, // the storage of this user
) {
  const client = await ensureClient(context.serverMetadata, {
    clientMetadata: { client_name: "My app" },
    redirectUri,
  });
  const options = { client, redirectUri };
  const { url, pending } = await startAuthorization(context, options);
  user.set(pending.state, JSON.stringify(pending));
  return Response.redirect(url);
}

export async function callback(request: Request, user: Map<string, string>) {
  const state = new URL(request.url).searchParams.get("state") ?? "";
  const pending = user.get(state);
  if (!pending) return new Response("Please sign in again", { status: 400 });
  user.delete(state);
  const session = await finishAuthorization(request, JSON.parse(pending));
  user.set("session", JSON.stringify(session));
  return Response.redirect("https://app.example/");
}
