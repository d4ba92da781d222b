import {
  requireNonEmptyString,
  requireObject,
  requireStrings,
} from "../core/_arguments.ts";
import { rulesFor, urlProblem, urlString } from "../core/_url.ts";
import { endpointUrl } from "../token/_authorization_parameters.ts";
import { formOf } from "../token/_form.ts";
import type { StoredSession } from "./session.ts";

/** Options of {@linkcode buildEndSessionUrl}. */
export interface BuildEndSessionUrlOptions {
  /**
   * Where the server redirects the user afterwards: one of the client's registered
   * `post_logout_redirect_uris`.
   */
  postLogoutRedirectUri?: string | URL | undefined;
  /** A value that the server adds to `postLogoutRedirectUri` as `state`. */
  state?: string | undefined;
  /** The user who signs out, such as an e-mail address, instead of an ID token. */
  logoutHint?: string | undefined;
  /** Languages for the server's pages, in order of preference. */
  uiLocales?: readonly string[] | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
}

/**
 * Builds the URL where the server signs the user out. Open it in the user's browser.
 * {@linkcode revokeSession} revokes only the tokens, so the server may sign the user in
 * again without a prompt.
 *
 * The parameters are `client_id` and the session's ID token as `id_token_hint`. Without
 * the hint, most servers prompt the user, and some do not redirect. Build the URL
 * before you delete the session, and do not log it: the ID token identifies the user.
 * With `bearer: "id_token"`, the hint is omitted, because the ID token is a credential.
 * To omit it in other cases, pass a session without `token`.
 *
 * @param session The session of the user.
 * @param options Where the server redirects the user, and other parameters.
 * @returns Undefined if the session has no `end_session_endpoint`, or one that is
 * neither https nor http on loopback. A server cannot make a sign-out fail.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid.
 * @see OpenID Connect RP-Initiated Logout 1.0, section 2.
 *
 * @example Sign a user out, also at the server
 * ```ts
 * import {
 *   buildEndSessionUrl,
 *   createAuthorizedFetch,
 *   type SessionStore,
 * } from "@oauth-helper/client";
 *
 * export async function logout(store: SessionStore): Promise<Response> {
 *   const api = createAuthorizedFetch("https://api.example/mcp", { store });
 *   const session = await api.session();
 *   await api.revoke();
 *   const home = { postLogoutRedirectUri: "https://app.example/" };
 *   const page = session && buildEndSessionUrl(session, home);
 *   return Response.redirect(page ?? home.postLogoutRedirectUri, 303);
 * }
 * ```
 *
 * @category Sessions
 */
export function buildEndSessionUrl(
  session: StoredSession,
  options: BuildEndSessionUrlOptions = {},
): URL | undefined {
  const { issuer, server, token, client, bearer } = requireObject(
    "session",
    session,
  );
  const { end_session_endpoint: endpoint } = server;
  const { postLogoutRedirectUri, state, logoutHint, uiLocales } = options;
  const optional = (name: string, value: unknown) =>
    value === undefined ? undefined : requireNonEmptyString(name, value);
  const form = formOf({
    id_token_hint: bearer === "id_token" ? undefined : token?.id_token,
    client_id: client?.client_id,
    post_logout_redirect_uri: optional(
      "postLogoutRedirectUri",
      urlString(postLogoutRedirectUri),
    ),
    state: optional("state", state),
    logout_hint: optional("logoutHint", logoutHint),
    ui_locales: uiLocales &&
      optional("uiLocales", requireStrings("uiLocales", uiLocales).join(" ")),
  });
  const rules = rulesFor(issuer, options.allowHttp);
  return endpoint && urlProblem(endpoint, rules) === undefined
    ? endpointUrl(endpoint, form)
    : undefined;
}
