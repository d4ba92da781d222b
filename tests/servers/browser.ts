/**
 * A user with a browser, for tests and the demo, who signs in and consents on the
 * development pages of oidc-provider.
 */
import { createUser } from "../interop/user.ts";

/** It keeps its cookies, so that the user signs in once. */
export interface Browser {
  /**
   * Opens an authorization request and continues until a redirect leaves the
   * origin; returns the URL of that redirect, which is not requested.
   */
  authorize(url: string | URL): Promise<URL>;
  /**
   * Opens the page for user codes and continues until there is no form; returns
   * the text of the last page.
   */
  activate(url: string | URL, userCode?: string): Promise<string>;
}

export function createBrowser(
  { login = "alice", deny = false } = {},
): Browser {
  const options = { login, refuses: deny, userCode: "" };
  const user = createUser(options);
  const open = (url: string | URL) => {
    const { origin } = new URL(url);
    return user.visit(url, (next) => next.origin !== origin);
  };
  return {
    async authorize(url) {
      const ending = await open(url);
      if ("left" in ending) return ending.left;
      throw new Error(`Expected a redirect to a client, got ${ending.page}`);
    },
    async activate(url, userCode = "") {
      options.userCode = userCode;
      const ending = await open(url);
      if ("page" in ending) return ending.page.replace(/^\d+ /, "");
      throw new Error(`Expected a page, got a redirect to ${ending.left}`);
    },
  };
}
