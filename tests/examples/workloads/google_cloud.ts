import process from "node:process";
import * as oauth from "@oauth-helper/client";

const { RESOURCE = "", ISSUER = "", CLIENT_ID = "", ...env } = process.env;
// The metadata server of Compute Engine, Cloud Run and GKE.
const host = env.GCE_METADATA_HOST ?? "metadata.google.internal";
const path = "computeMetadata/v1/instance/service-accounts/default/identity";

const flow = oauth.assertionFlow({
  client: { issuer: ISSUER, client_id: CLIENT_ID },
  async getAssertion({ audience }) {
    const query = new URLSearchParams({ audience, format: "full" });
    const headers = { "Metadata-Flavor": "Google" };
    const response = await fetch(`http://${host}/${path}?${query}`, {
      headers,
    });
    if (!response.ok) throw new Error(`No ID token: ${response.status}`);
    return await response.text();
  },
});
const api = oauth.createAuthorizedFetch(RESOURCE, { flow });

const response = await api(RESOURCE);
console.log(response.status, await response.text());
