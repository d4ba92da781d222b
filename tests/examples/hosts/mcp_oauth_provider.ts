// @ts-types="@modelcontextprotocol/sdk/client/auth"
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import type { AuthorizedFetch } from "@oauth-helper/client";

/**
 * For hosts that accept nothing but an `OAuthClientProvider`: the AI SDK, Mastra, LangChain
 * and others with the MCP SDK 1.x. The host is given access tokens, and no more of the
 * session, so that it neither registers nor refreshes.
 */
export function oauthProviderOf(url: string | URL, api: AuthorizedFetch) {
  return {
    redirectUrl: "http://127.0.0.1/",
    clientMetadata: { redirect_uris: ["http://127.0.0.1/"] },
    async clientInformation() {
      return { client_id: (await api.signIn()).client!.client_id };
    },
    async tokens() {
      const { access_token } = (await api.signIn()).token;
      return { access_token, token_type: "Bearer" };
    },
    // A token was refused before its expiry. The fetch sees that too, and renews the
    // session; the host fails once, with `UnauthorizedError`.
    async redirectToAuthorization() {
      await (await api(url)).body?.cancel();
    },
    saveClientInformation() {},
    saveTokens() {},
    saveCodeVerifier() {},
    codeVerifier: () => "",
  } satisfies OAuthClientProvider;
}
