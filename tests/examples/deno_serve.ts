import type { KnownClient } from "@oauth-helper/client";
import { denoKvStore } from "@oauth-helper/client/stores";
import { createWebSignIn } from "@oauth-helper/client/web";

// RESOURCE is the URL of the API and ORIGIN that of the site, as browsers see it. CLIENT
// is what register_client.ts prints, and COOKIE_KEY what `openssl rand -base64 32` does.
// KV_PATH is the file of Deno KV.
const RESOURCE = Deno.env.get("RESOURCE")!;
const client: KnownClient = JSON.parse(Deno.env.get("CLIENT")!);
const kv = await Deno.openKv(Deno.env.get("KV_PATH"));
const lifetimeSeconds = 30 * 24 * 3600;
const signIn = createWebSignIn(RESOURCE, {
  origin: Deno.env.get("ORIGIN")!,
  client,
  storeOf: (id) => denoKvStore(kv, ["sessions", id], { lifetimeSeconds }),
  cookieKeys: [Deno.env.get("COOKIE_KEY")!],
  lifetimeSeconds,
});

Deno.serve(async (request) => {
  const handled = await signIn.handle(request);
  return handled ?? await signIn.respond(request, (api) => api(RESOURCE));
});
