/** The baselines: `fetch` by hand, without a library. */

import type { Prepare } from "../contest.ts";
import { ACCESS_TOKEN } from "../servers.ts";
import {
  CLIENT_METADATA,
  REDIRECT_URI,
  requestResource,
  visit,
} from "./_browser.ts";

/** How a baseline sends a request and creates a code challenge. */
interface IBareFunctions {
  read(url: string, init: RequestInit): ReturnType<Response["json"]>;
  challengeOf(verifier: string): string | Promise<string>;
}

const PLAIN: IBareFunctions = {
  read: async (url, init) => await (await fetch(url, init)).json(),
  challengeOf: (verifier) => verifier,
};

/** The size that a body may have. */
const MAX_BYTES = 1_048_576;

/** Reads a body in chunks up to the limit. */
async function readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error("too large");
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(length);
  for (const chunk of chunks.toReversed()) {
    length -= chunk.length;
    bytes.set(chunk, length);
  }
  return bytes;
}

/** Checks whether a body has a known length within the limit, and no encoding. */
function isSmall(headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= MAX_BYTES &&
    !headers.has("content-encoding") && !headers.has("transfer-encoding");
}

/** With a timeout and a size limit, which every client needs; bodies as ours reads them. */
const GUARDED: IBareFunctions = {
  async read(url, init) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), 10_000);
    try {
      const { signal } = controller;
      const response = await fetch(url, { ...init, signal });
      const bytes = isSmall(response.headers)
        ? await response.arrayBuffer()
        : await readChunks(response.body);
      return JSON.parse(new TextDecoder().decode(bytes));
    } finally {
      clearTimeout(timer);
    }
  },
  async challengeOf(verifier) {
    const bytes = new TextEncoder().encode(verifier);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    return btoa(String.fromCharCode(...new Uint8Array(digest)));
  },
};

/** Sends the six requests and nothing else: no checks, no random values. */
async function getBare(
  target: string,
  { read, challengeOf }: IBareFunctions,
): Promise<string> {
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
    code_challenge: await challengeOf(verifier),
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

export const getToken: Prepare = ({ target }) => () => getBare(target, PLAIN);

export const getTokenGuarded: Prepare = ({ target }) => () =>
  getBare(target, GUARDED);

export const getResourceGuarded: Prepare = ({ target }) => async () => {
  const headers = headersOf(await getBare(target, GUARDED));
  return await GUARDED.read(target, { headers });
};

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
