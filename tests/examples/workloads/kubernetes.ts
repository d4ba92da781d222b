import * as oauth from "@oauth-helper/client";

const { RESOURCE = "", ISSUER = "", CLIENT_ID = "", ...env } = Deno.env
  .toObject();
// A projected volume with a serviceAccountToken, whose audience is the issuer.
const path = env.TOKEN_FILE ?? "/var/run/secrets/tokens/oauth";

const authorize = oauth.assertionFlow({
  client: { issuer: ISSUER, client_id: CLIENT_ID },
  // The kubelet replaces the file before the token expires.
  getAssertion: async () => (await Deno.readTextFile(path)).trim(),
});
const api = oauth.createAuthorizedFetch(RESOURCE, { authorize });

const response = await api(RESOURCE);
console.log(response.status, await response.text());
