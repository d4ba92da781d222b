/** Registers a web server once; prints the client, for its configuration. */
import { discoverAuthorization, ensureClient } from "@oauth-helper/client";

const [resource = "", redirectUri = ""] = Deno.args;
const { serverMetadata } = await discoverAuthorization(resource);
const client = await ensureClient(serverMetadata, {
  clientMetadata: {
    client_name: "My app",
    token_endpoint_auth_method: "client_secret_basic",
    post_logout_redirect_uris: [new URL("/", redirectUri).href],
  },
  redirectUri,
});
console.log(JSON.stringify(client));
