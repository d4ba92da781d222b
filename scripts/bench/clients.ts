/**
 * The clients of the benchmark. Each gets from a 401 to a token as its own
 * documentation shows, with as few requests as possible. Two steps are the same
 * for all: the first request to the resource, and reading the redirect.
 */

import * as mcp from "@modelcontextprotocol/client";
import * as oauth from "oauth4webapi";
import * as ours from "../../mod.ts";
import {
  createMcpProvider,
  MCP_CLIENT_METADATA as CLIENT_METADATA,
} from "../../tests/support/mcp_provider.ts";

/** A client; `getToken` returns the access token. */
export interface IClient {
  readonly name: string;
  getToken(target: string): Promise<string>;
}

const REDIRECT_URI = CLIENT_METADATA.redirect_uris[0]!;

/** Requests the resource, which responds with 401. */
async function requestResource(target: string): Promise<Response> {
  const response = await fetch(target);
  // Read completely, so that the connection stays open for the next request.
  await response.arrayBuffer();
  return response;
}

/** Plays the user's browser: requests the URL and returns the redirect URI. */
async function visit(url: URL | string): Promise<URL> {
  const response = await fetch(url, { redirect: "manual" });
  await response.arrayBuffer();
  return new URL(response.headers.get("location") ?? "");
}

async function getWithOurs(target: string): Promise<string> {
  const challenge = await requestResource(target);
  const { serverMetadata, resource, scopes } = await ours
    .discoverAuthorization(target, { challenge });
  const client = await ours.registerClient(serverMetadata, CLIENT_METADATA);
  const { codeVerifier, codeChallenge } = await ours.createPkcePair();
  const state = ours.createState();
  const callback = await visit(ours.buildAuthorizationUrl(serverMetadata, {
    clientId: client.client_id,
    redirectUri: REDIRECT_URI,
    state,
    codeChallenge,
    scopes,
    resource,
  }));
  const { code } = ours.parseAuthorizationResponse(callback, {
    state,
    serverMetadata,
  });
  const body = ours.buildAuthorizationCodeBody({
    code,
    redirectUri: REDIRECT_URI,
    codeVerifier,
    resource,
  });
  const token = await ours.fetchToken(serverMetadata, body, { client });
  return token.access_token;
}

async function getWithMcp(target: string): Promise<string> {
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

const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

async function getWithOauth4webapi(target: string): Promise<string> {
  await requestResource(target);
  const resource = new URL(target);
  const metadata = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, INSECURE),
  );
  const issuer = new URL(metadata.authorization_servers?.[0] ?? "");
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...INSECURE, algorithm: "oauth2" }),
  );
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      server,
      CLIENT_METADATA,
      INSECURE,
    ),
  ) as oauth.Client;
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(server.authorization_endpoint ?? "");
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    // Its functions for challenges work for requests with a token only.
    scope: metadata.scopes_supported?.join(" ") ?? "",
    resource: metadata.resource,
  }).toString();
  const callback = oauth.validateAuthResponse(
    server,
    client,
    await visit(url),
    state,
  );
  const token = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      callback,
      REDIRECT_URI,
      verifier,
      { ...INSECURE, additionalParameters: { resource: metadata.resource } },
    ),
  );
  return token.access_token;
}

/** How a baseline sends a request and creates a code challenge. */
interface IBareFunctions {
  read(url: string, init: RequestInit): ReturnType<Response["json"]>;
  challengeOf(verifier: string): string | Promise<string>;
}

const PLAIN: IBareFunctions = {
  read: async (url, init) => await (await fetch(url, init)).json(),
  challengeOf: (verifier) => verifier,
};

/** With a timeout and a size limit, which every client needs. */
const GUARDED: IBareFunctions = {
  async read(url, init) {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), 10_000);
    try {
      const { signal } = controller;
      const { body } = await fetch(url, { ...init, signal });
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      let length = 0;
      for await (const chunk of body ?? []) {
        length += chunk.length;
        if (length > 1_048_576) throw new Error("too large");
        chunks.push(chunk);
      }
      const bytes = new Uint8Array(length);
      for (const chunk of chunks.toReversed()) {
        length -= chunk.length;
        bytes.set(chunk, length);
      }
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

/** The name of the baseline with what every client needs. */
export const GUARDED_BARE =
  "bare fetches with a timeout, a size limit and PKCE";

/** All clients: ours first, the baselines last. */
export const CLIENTS: readonly IClient[] = [
  { name: "ours", getToken: getWithOurs },
  { name: "@modelcontextprotocol/client", getToken: getWithMcp },
  { name: "oauth4webapi", getToken: getWithOauth4webapi },
  { name: GUARDED_BARE, getToken: (target) => getBare(target, GUARDED) },
  { name: "bare fetches", getToken: (target) => getBare(target, PLAIN) },
];
