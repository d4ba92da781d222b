import { readFile } from "node:fs/promises";
import process from "node:process";
import * as oauth from "@oauth-helper/client";

const { RESOURCE = "", ISSUER = "", CLIENT_ID = "", ...env } = process.env;
// A projected volume with a serviceAccountToken, whose audience is the issuer.
const path = env.TOKEN_FILE ?? "/var/run/secrets/tokens/oauth";

const flow = oauth.assertionFlow({
  client: { issuer: ISSUER, client_id: CLIENT_ID },
  // The kubelet replaces the file before the token expires.
  getAssertion: async () => (await readFile(path, "utf8")).trim(),
});
const api = oauth.createAuthorizedFetch(RESOURCE, { flow });

const response = await api(RESOURCE);
console.log(response.status, await response.text());
