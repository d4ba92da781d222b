import process from "node:process";
import * as oidc from "openid-client";
import { receive } from "./receive.ts";

const { RESOURCE = "", ISSUER = "", ID = "" } = process.env;
const scope = "mcp:read offline_access";
const redirect_uri = "http://127.0.0.1:8766/callback";
const config = await oidc.discovery(new URL(ISSUER), ID, {}, oidc.None(), {
  execute: [oidc.allowInsecureRequests], // On loopback.
});
const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
const code_challenge = await oidc.calculatePKCECodeChallenge(pkceCodeVerifier);
const expectedState = oidc.randomState();
const given = { redirect_uri, scope, state: expectedState, resource: RESOURCE };
const pkce = { code_challenge, code_challenge_method: "S256" };
const url = oidc.buildAuthorizationUrl(config, { ...given, ...pkce });
const callback = await receive(url.href, redirect_uri);
const checks = { pkceCodeVerifier, expectedState };
const resource = { resource: RESOURCE };
const { access_token } = await oidc //
  .authorizationCodeGrant(config, callback, checks, resource);
const headers = { Authorization: `Bearer ${access_token}` };
console.log((await fetch(RESOURCE, { headers })).status);
