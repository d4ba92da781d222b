/** The steps that are the same for all libraries. */

import { MCP_CLIENT_METADATA } from "../../../tests/support/mcp_provider.ts";

/** The metadata that each library registers. */
export const CLIENT_METADATA = MCP_CLIENT_METADATA;

/** The redirect URI, which is not requested. */
export const REDIRECT_URI = CLIENT_METADATA.redirect_uris[0]!;

/** Requests the resource, which responds with 401. */
export async function requestResource(target: string): Promise<Response> {
  const response = await fetch(target);
  // Read completely, so that the connection stays open for the next request.
  await response.arrayBuffer();
  return response;
}

/** Plays the user's browser: requests the URL and returns the redirect URI. */
export async function visit(url: URL | string): Promise<URL> {
  const response = await fetch(url, { redirect: "manual" });
  await response.arrayBuffer();
  return new URL(response.headers.get("location") ?? "");
}
