import type { AuthorizedFetch } from "@oauth-helper/client";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";

/**
 * For hosts that accept header fields only. They keep them, so ask again before each
 * run: these are refreshed, and the user signs in if that is necessary.
 */
export async function headersOf(api: AuthorizedFetch) {
  const { token } = await api.signIn();
  return { Authorization: `Bearer ${token.access_token}` };
}

/** Runs an agent's task with the tools of an MCP server. */
export async function withTools<T>(
  url: string,
  api: AuthorizedFetch,
  task: (client: MultiServerMCPClient) => Promise<T>,
): Promise<T> {
  const server = { url, headers: await headersOf(api) };
  const client = new MultiServerMCPClient({ mcpServers: { server } });
  try {
    return await task(client);
  } finally {
    await client.close();
  }
}
