/** Returns what the server knows of a token; undefined if it is not active. */
import type {
  IAuthorizationServerMetadata,
  IClientAuthentication,
} from "@oauth-helper/client";

export async function introspect(
  serverMetadata: IAuthorizationServerMetadata,
  client: IClientAuthentication,
  token: string,
) {
  const body = new URLSearchParams({ token });
  const headers = { Accept: "application/json" };
  await client.authenticate({ serverMetadata, body, headers });
  const init = { method: "POST", headers, body, redirect: "manual" } as const;
  const url = serverMetadata.introspection_endpoint ?? "";
  const { active, ...claims } = await (await fetch(url, init)).json();
  return active === true ? claims : undefined;
}
