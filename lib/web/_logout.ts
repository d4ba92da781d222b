import { fork } from "../http/_context.ts";
import { buildEndSessionUrl } from "../session/end_session.ts";
import { revokeSessionWith } from "../session/session.ts";
import { isForeign } from "./_requests.ts";
import { redirect, refuse } from "./_responses.ts";
import type { Site } from "./_site.ts";
import type { WebRequest } from "./web_sign_in_options.ts";

/** Deletes the session, revokes its tokens, and signs the user out at the server. */
export async function logout(
  site: Site,
  request: WebRequest,
  { atServer = true }: { readonly atServer?: boolean | undefined } = {},
): Promise<Response> {
  const { origin, home, cookies, context, options } = site.settings;
  const { allowHttp } = options;
  const { method, headers } = request;
  if (method !== "POST") return refuse("POST");
  if (isForeign(request, origin)) return refuse();
  const signedIn = await cookies.signedIn(headers);
  // A new cookie would replace the one that a foreign request does not send.
  if (!signedIn) return redirect(home);
  try {
    const session = await site.remove(signedIn);
    if (session) {
      // Many servers cannot revoke.
      await revokeSessionWith(fork(context), session).catch(() => {});
    }
    const back = { postLogoutRedirectUri: home, allowHttp };
    const end = atServer && session && buildEndSessionUrl(session, back);
    return redirect(end ? end.href : home, cookies.signOut(headers));
  } catch (error) {
    // The user is still signed in, and can try again.
    return await site.failed(error, request, { step: "logout" });
  }
}
