/** Returns what the server knows of a token; undefined if it is not active. */
import type {
  ClientAuthentication,
  IAuthorizationServerMetadata,
} from "@oauth-helper/client";

export async function introspect(
  serverMetadata: IAuthorizationServerMetadata,
  client: ClientAuthentication,
  token: string,
) {
  const { issuer, introspection_endpoint = "" } = serverMetadata;
  const url = new URL(introspection_endpoint);
  // Discovery has not checked it: https, or http if the issuer is on loopback.
  const isSafe = url.protocol === new URL(issuer).protocol;
  if (!isSafe) throw new Error(`The token is not sent to ${url.origin}`);
  const body = new URLSearchParams({ token });
  const headers = { Accept: "application/json" };
  await client.authenticate({ serverMetadata, body, headers });
  const init = { method: "POST", headers, body, redirect: "manual" } as const;
  const { active, ...claims } = await (await fetch(url, init)).json();
  return active === true ? claims : undefined;
}
