/** The clients of the MCP SDK at the same servers, as far as they can play. */
import * as client from "@modelcontextprotocol/client";
// @ts-types="@modelcontextprotocol/sdk/client/auth"
import * as sdk from "@modelcontextprotocol/sdk/client/auth.js";
import {
  createMcpProvider,
  MCP_CLIENT_METADATA,
} from "../support/mcp_provider.ts";
import { INITIALIZE } from "./program.ts";
import {
  type ClientOptions,
  type Place,
  REDIRECT_URI,
  type Server,
} from "./server.ts";
import { createUser } from "./user.ts";

/** What became of a peer: the first words of an error, or undefined where it held. */
export interface PeerResult {
  readonly name: string;
  readonly challenge?: string | undefined;
  readonly refresh?: string | undefined;
}

/** What both packages export. */
interface Peer {
  auth(
    provider: client.OAuthClientProvider,
    options: Record<string, unknown>,
  ): Promise<string>;
  extractWWWAuthenticateParams(response: Response): Record<string, unknown>;
}

export const PEERS = {
  "client 2.4.0": client,
  "sdk 1.32.2": sdk,
} as unknown as Readonly<Record<string, Peer>>;

function createProvider(
  { knownClients, clientMetadataUrl, scopes }: ClientOptions["flow"] = {},
) {
  const created = createMcpProvider({
    redirectUrl: REDIRECT_URI,
    clientMetadata: {
      ...MCP_CLIENT_METADATA,
      redirect_uris: [REDIRECT_URI],
      ...scopes && { scope: scopes.join(" ") },
    },
    ...clientMetadataUrl && { clientMetadataUrl: String(clientMetadataUrl) },
  });
  created.kept.client = knownClients?.[0];
  return created;
}

/** Signs in after a challenge, calls the resource, then refreshes the token. */
async function playPeer(
  { auth, extractWWWAuthenticateParams }: Peer,
  resource: string,
  { provider, kept }: ReturnType<typeof createProvider>,
): Promise<() => Promise<void>> {
  const call = (headers = {}) =>
    fetch(resource, {
      ...INITIALIZE,
      headers: { ...INITIALIZE.headers, ...headers },
    });
  const challenge = await call();
  await challenge.body?.cancel();
  const options = {
    serverUrl: resource,
    ...extractWWWAuthenticateParams(challenge),
  };
  if (await auth(provider, options) === "REDIRECT") {
    const ending = await createUser().visit(kept.url ?? "", REDIRECT_URI);
    if (!("left" in ending)) throw new Error(ending.page);
    const params = ending.left.searchParams;
    const authorizationCode = params.get("code");
    if (!authorizationCode) throw new Error(ending.left.search);
    const iss = params.get("iss") ?? undefined;
    await auth(provider, { ...options, authorizationCode, iss });
  }
  const { access_token } = kept.tokens ?? {};
  const response = await call({ Authorization: `Bearer ${access_token}` });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The call ended with ${response.status}`);

  return async () => {
    if (!kept.tokens?.refresh_token) throw new Error("no refresh token");
    const before = kept.tokens;
    const result = await auth(provider, options);
    // Not by the token: it is the same within a second where it is a JWT without `jti`.
    const isNew = kept.tokens !== before;
    if (result !== "AUTHORIZED" || !isNew) throw new Error("not refreshed");
  };
}

/** Plays both peers; undefined where they lack what the server requires. */
export async function playPeers(
  server: Server,
  place: Place,
): Promise<PeerResult[] | undefined> {
  const { fetch, flow } = await server.options?.(place) ?? {};
  if (fetch?.dpop || fetch?.client) return undefined;
  const results: PeerResult[] = [];
  for (const [name, peer] of Object.entries(PEERS)) {
    const provider = createProvider(flow);
    const wordsOf = (error: unknown) => String(error).slice(0, 200);
    try {
      const refresh = await playPeer(peer, place.resource, provider);
      const failure = await refresh().then(() => undefined, wordsOf);
      results.push({ name, refresh: failure });
    } catch (error) {
      const failure = wordsOf(error);
      results.push({ name, challenge: failure, refresh: failure });
    }
  }
  return results;
}
