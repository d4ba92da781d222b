/** The baseline: bare fetches, without a library. */

import type { Prepare } from "../contest.ts";
import { ACCESS_TOKEN } from "../servers.ts";
import {
  CLIENT_METADATA,
  REDIRECT_URI,
  requestResource,
  visit,
} from "./_browser.ts";

/** Reads JSON: no timeout, no limit, no check. */
async function read(
  url: string,
  init: RequestInit,
): ReturnType<Response["json"]> {
  return await (await fetch(url, init)).json();
}

/** Sends the six requests and nothing else: no checks, no random values. */
async function tokenFor(target: string): Promise<string> {
  const challenge =
    (await requestResource(target)).headers.get("www-authenticate") ?? "";
  const [, metadataUrl = ""] = /resource_metadata="(.*?)"/.exec(challenge) ??
    [];
  const headers = { Accept: "application/json" };
  const { resource, authorization_servers: [issuer], scopes_supported } =
    await read(metadataUrl, { headers });
  const server = await read(
    `${issuer}/.well-known/oauth-authorization-server`,
    { headers },
  );
  const { client_id } = await read(server.registration_endpoint, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(CLIENT_METADATA),
  });
  const verifier = "v".repeat(43);
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: REDIRECT_URI,
    state: "s".repeat(43),
    code_challenge: verifier,
    code_challenge_method: "S256",
    scope: scopes_supported.join(" "),
    resource,
  });
  const callback = await visit(`${server.authorization_endpoint}?${query}`);
  const { access_token } = await read(server.token_endpoint, {
    method: "POST",
    headers: {
      ...headers,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id,
      code: callback.searchParams.get("code") ?? "",
      redirect_uri: REDIRECT_URI,
      code_verifier: verifier,
      resource,
    }).toString(),
  });
  return access_token;
}

const headersOf = (token: string) => ({ Authorization: `Bearer ${token}` });

export const getToken: Prepare = ({ target }) => () => tokenFor(target);

export const getResource: Prepare = ({ target }) => async () =>
  await read(target, { headers: headersOf(await tokenFor(target)) });

export const call: Prepare = ({ target }) => {
  const headers = headersOf(ACCESS_TOKEN);
  return async () => await (await fetch(target, { headers })).json();
};

export const callWithRequest: Prepare = ({ target }) => {
  const headers = headersOf(ACCESS_TOKEN);
  return async () =>
    await (await fetch(new Request(target, { headers }))).json();
};

export const discover: Prepare = ({ issuer, tenant }) => async () => {
  const urls = [
    `${issuer}/.well-known/oauth-authorization-server/tenant`,
    `${issuer}/.well-known/openid-configuration/tenant`,
    `${tenant}/.well-known/openid-configuration`,
  ];
  for (const url of urls) {
    const headers = { Accept: "application/json" };
    const response = await fetch(url, { headers });
    if (response.ok) return (await response.json()).token_endpoint;
    await response.arrayBuffer();
  }
};
