import { readFile, rename, writeFile } from "node:fs/promises";
import process from "node:process";
import * as oidc from "openid-client";
import { receive } from "../migrating/receive.ts";
import { callForSeconds } from "./calls.ts";

type Response = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

interface Tokens {
  access_token: string;
  refresh_token: string | undefined;
  expires_at: number;
}

const { RESOURCE = "", ISSUER = "", ID = "" } = process.env;
const FILE = ".tokens.json";
const resource = { resource: RESOURCE };
const config = await oidc.discovery(new URL(ISSUER), ID, {}, oidc.None(), {
  execute: [oidc.allowInsecureRequests], // On loopback.
});

async function signIn(): Promise<Tokens> {
  const redirect_uri = "http://127.0.0.1:8776/callback";
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const expectedState = oidc.randomState();
  const url = oidc.buildAuthorizationUrl(config, {
    ...resource,
    redirect_uri,
    scope: "mcp:read offline_access",
    state: expectedState,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const callback = await receive(url.href, redirect_uri);
  const checks = { pkceCodeVerifier, expectedState };
  return save(
    await oidc.authorizationCodeGrant(config, callback, checks, resource),
  );
}

/** Replaces the file at once: no process reads half of it. */
async function save(response: Response): Promise<Tokens> {
  const { access_token, refresh_token } = response;
  const expires_at = Date.now() + (response.expiresIn() ?? 0) * 1000;
  const tokens = { access_token, refresh_token, expires_at };
  const part = `${FILE}.${process.pid}`;
  await writeFile(part, JSON.stringify(tokens), { mode: 0o600 });
  await rename(part, FILE);
  return tokens;
}

/** Reads the file before each call: another process may have refreshed. */
async function load(): Promise<Tokens> {
  const text = await readFile(FILE, "utf8").catch(() => undefined);
  return text === undefined ? await signIn() : JSON.parse(text);
}

async function refresh({ refresh_token = "" }: Tokens): Promise<Tokens> {
  try {
    return await save(
      await oidc.refreshTokenGrant(config, refresh_token, resource),
    );
  } catch (error) {
    // If another process was first, its tokens are in the file.
    const latest = await load();
    if (latest.refresh_token !== refresh_token) return latest;
    throw error;
  }
}

const send = ({ access_token }: Tokens) =>
  fetch(RESOURCE, { headers: { Authorization: `Bearer ${access_token}` } });

await callForSeconds(async () => {
  let tokens = await load();
  // 2 seconds early. For tokens that live an hour, use a minute.
  if (tokens.expires_at < Date.now() + 2_000) tokens = await refresh(tokens);
  const response = await send(tokens);
  if (response.status !== 401) return response;
  await response.body?.cancel();
  return await send(await refresh(await load()));
});
