import process from "node:process";
import * as oauth from "oauth4webapi";
import { receive } from "./receive.ts";

const { RESOURCE = "", ISSUER = "", ID = "" } = process.env;
const options = { [oauth.allowInsecureRequests]: true }; // On loopback.
const issuer = new URL(ISSUER);
const found = await oauth.discoveryRequest(issuer, options);
const server = await oauth.processDiscoveryResponse(issuer, found);
const client = { client_id: ID };
const redirect_uri = "http://127.0.0.1:8766/callback";
const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
const url = new URL(server.authorization_endpoint ?? "");
url.search = `${new URLSearchParams({
  ...{ client_id: ID, redirect_uri, response_type: "code", state },
  ...{ code_challenge, code_challenge_method: "S256" },
  ...{ scope: "mcp:read offline_access", resource: RESOURCE },
})}`;
const callback = await receive(url.href, redirect_uri);
const params = oauth.validateAuthResponse(server, client, callback, state);
const response = await oauth.authorizationCodeGrantRequest(
  ...[server, client, oauth.None(), params, redirect_uri, verifier] as const,
  { ...options, additionalParameters: { resource: RESOURCE } },
);
const { access_token } = await oauth //
  .processAuthorizationCodeResponse(server, client, response);
const headers = { Authorization: `Bearer ${access_token}` };
console.log((await fetch(RESOURCE, { headers })).status);
