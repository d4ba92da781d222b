import { createHash, randomBytes } from "node:crypto";
import process from "node:process";
import { AuthorizationCode } from "simple-oauth2";
import { receive } from "./receive.ts";

const { RESOURCE = "", ISSUER = "", ID = "", SECRET = "" } = process.env;
const oauth = new AuthorizationCode({
  client: { id: ID, secret: SECRET },
  auth: { tokenHost: ISSUER, tokenPath: "/token", authorizePath: "/auth" },
});
const redirect_uri = "http://127.0.0.1:8766/callback";
const [state = "", code_verifier = ""] = [1, 2]
  .map(() => randomBytes(32).toString("base64url"));
const code_challenge = createHash("sha256").update(code_verifier)
  .digest("base64url");
const url = oauth.authorizeURL({
  ...{ redirect_uri, state, scope: "mcp:read", resource: RESOURCE },
  ...{ code_challenge, code_challenge_method: "S256" },
});
const { searchParams } = await receive(url, redirect_uri);
if (searchParams.get("state") !== state) throw new Error("Not our callback");
const code = searchParams.get("code") ?? "";
const grant = { code, redirect_uri, code_verifier, resource: RESOURCE };
let token = await oauth.getToken(grant);
if (token.expired(300)) token = await token.refresh();
const headers = { Authorization: `Bearer ${token.token.access_token}` };
console.log((await fetch(RESOURCE, { headers })).status);
