/** What a program that uses the official clients of MCP has to write. */
import type {
  OAuthClientProvider,
  OAuthTokens,
} from "@modelcontextprotocol/client";

const REDIRECT_URI = "http://127.0.0.1:33418/callback";

export const MCP_CLIENT_METADATA = {
  client_name: "Test",
  redirect_uris: [REDIRECT_URI],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  application_type: "native",
};

/**
 * Creates a provider that keeps everything in memory, with further or other members;
 * `url` is that of the last authorization request.
 */
export function createMcpProvider(own: Partial<OAuthClientProvider> = {}) {
  const kept: {
    [name: string]: unknown;
    tokens?: OAuthTokens;
    url?: URL;
    client?: unknown;
  } = {};
  const keep = (name: string) => (value: unknown) => void (kept[name] = value);
  const state = crypto.randomUUID();
  const provider = {
    redirectUrl: REDIRECT_URI,
    clientMetadata: MCP_CLIENT_METADATA,
    state: () => state,
    clientInformation: () => kept.client,
    saveClientInformation: keep("client"),
    tokens: () => kept.tokens,
    saveTokens: keep("tokens"),
    redirectToAuthorization: keep("url"),
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: keep("verifier"),
    discoveryState: () => kept.discovery,
    saveDiscoveryState: keep("discovery"),
    ...own,
  } as OAuthClientProvider;
  return { provider, kept };
}
