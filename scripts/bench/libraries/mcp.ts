/** The OAuth client of `@modelcontextprotocol/client`. */

import * as mcp from "@modelcontextprotocol/client";
import { createMcpProvider } from "../../../tests/support/mcp_provider.ts";
import type { Prepare } from "../contest.ts";
import { ACCESS_TOKEN } from "../servers.ts";
import { requestResource, visit } from "./_browser.ts";

/** Signs in by `auth()`, and returns the token. */
async function tokenFor(target: string): Promise<string> {
  const { resourceMetadataUrl, scope } = mcp.extractWWWAuthenticateParams(
    await requestResource(target),
  );
  const { provider, kept } = createMcpProvider();
  const request = {
    serverUrl: target,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope && { scope }),
  };
  await mcp.auth(provider, request);
  const { searchParams } = await visit(kept.url!);
  if (searchParams.get("state") !== provider.state!()) throw new Error("state");
  await mcp.auth(provider, {
    ...request,
    authorizationCode: searchParams.get("code") ?? "",
    iss: searchParams.get("iss") ?? "",
  });
  return kept.tokens?.access_token ?? "";
}

export const getToken: Prepare = ({ target }) => () => tokenFor(target);

export const getResource: Prepare = ({ target }) => async () => {
  const headers = { Authorization: `Bearer ${await tokenFor(target)}` };
  return await (await fetch(target, { headers })).json();
};

export const call: Prepare = ({ target }) => {
  const { provider } = createMcpProvider();
  provider.saveTokens({ access_token: ACCESS_TOKEN, token_type: "Bearer" });
  const api = mcp.withOAuth(provider, target)(fetch);
  return async () => await (await api(target)).json();
};

export const discover: Prepare = ({ tenant }) => async () =>
  (await mcp.discoverAuthorizationServerMetadata(tenant))?.token_endpoint;
