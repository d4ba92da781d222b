import process from "node:process";
import * as oauth from "@oauth-helper/client";

const { RESOURCE = "", ISSUER = "", CLIENT_ID = "", ...env } = process.env;
// GitHub sets both in a job with the permission `id-token: write`.
const requestUrl = env.ACTIONS_ID_TOKEN_REQUEST_URL ?? "";
const Authorization = `Bearer ${env.ACTIONS_ID_TOKEN_REQUEST_TOKEN}`;

const flow = oauth.assertionFlow({
  client: { issuer: ISSUER, client_id: CLIENT_ID },
  async getAssertion({ audience }) {
    const url = new URL(requestUrl);
    url.searchParams.set("audience", audience);
    const response = await fetch(url, { headers: { Authorization } });
    if (!response.ok) throw new Error(`No ID token: ${response.status}`);
    return (await response.json()).value;
  },
});
const api = oauth.createAuthorizedFetch(RESOURCE, { flow });

const response = await api(RESOURCE);
console.log(response.status, await response.text());
