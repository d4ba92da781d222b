import type { AuthorizedFetch } from "@oauth-helper/client";
import type { AuthProvider } from "@modelcontextprotocol/client";

/**
 * For hosts of the MCP SDK 2.x that accept an `authProvider`, and no `fetch`. With
 * `fetch: api`, a `403` that requires more scopes is met as well.
 */
export const authProviderOf = (api: AuthorizedFetch): AuthProvider => ({
  token: async () => (await api.session())?.token.access_token,
  onUnauthorized: async ({ response }) => void await api.renew(response),
});
