import process from "node:process";
import * as arctic from "arctic";
import { receive } from "./receive.ts";

const { RESOURCE = "", ISSUER = "", ID = "" } = process.env;
const redirectUri = "http://127.0.0.1:8766/callback";
const client = new arctic.OAuth2Client(ID, null, redirectUri);
const state = arctic.generateState();
const verifier = arctic.generateCodeVerifier();
const url = client.createAuthorizationURLWithPKCE(
  ...[`${ISSUER}/auth`, state, arctic.CodeChallengeMethod.S256, verifier],
  ["mcp:read"],
);
url.searchParams.set("resource", RESOURCE);
const { searchParams } = await receive(url.href, redirectUri);
if (searchParams.get("state") !== state) throw new Error("Not our callback");
const code = searchParams.get("code") ?? "";
const tokens = await client
  .validateAuthorizationCode(`${ISSUER}/token`, code, verifier);
const headers = { Authorization: `Bearer ${tokens.accessToken()}` };
console.log((await fetch(RESOURCE, { headers })).status);
