/** A user who is signed out at oidc-provider has to sign in again there. */

import { assertEquals } from "@std/assert";
import {
  buildEndSessionUrl,
  codeFlow,
  createAuthorizedFetch,
  type Session,
} from "../../mod.ts";
import { REDIRECT_URI, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { LIMIT_MS, within } from "../support/within.ts";

const HOME = "https://app.example/";

Deno.test("buildEndSessionUrl() signs a user out at oidc-provider, with the ID token and without", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  const browser = createBrowser();
  const apiWith = (parameters: Record<string, string>) =>
    createAuthorizedFetch(resource, {
      flow: codeFlow({
        clientMetadata: {
          client_name: "Sign-out test",
          post_logout_redirect_uris: [HOME],
        },
        redirectUri: REDIRECT_URI,
        scopes: ["openid", "mcp:read"],
        parameters,
        visit: (url) => browser.authorize(url),
      }),
    });
  /** Returns how a sign-in without a page for the user ends. */
  const silently = async () => {
    const api = apiWith({ prompt: "none" });
    return await within(LIMIT_MS, api.signIn())
      .then(() => "signed in", ({ error }) => error);
  };
  const api = apiWith({});
  const signIn = () => within(LIMIT_MS, api.signIn({ fresh: true }));
  const options = { postLogoutRedirectUri: HOME, state: "s 1" };
  const withoutHint = (session: Session) => {
    const { id_token: _, ...token } = session.token;
    return { ...session, token };
  };
  for (const edit of [(session: Session) => session, withoutHint]) {
    const session = await signIn();
    // The user is known, and has not consented to this other client.
    assertEquals(await silently(), "interaction_required");
    const url = buildEndSessionUrl(edit(session), options);
    const { href } = await browser.authorize(url!);
    assertEquals(href, `${HOME}?state=s+1`);
    assertEquals(await silently(), "login_required");
  }
  const last = buildEndSessionUrl(withoutHint(await signIn()));
  assertEquals([...last!.searchParams.keys()], ["client_id"]);
  assertEquals(await browser.activate(last!), "Signed out.");
  assertEquals(await silently(), "login_required");
});
