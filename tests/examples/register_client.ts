/** Registers a web server once; prints the client, for its configuration. */
import process from "node:process";
import { discoverAuthorization, ensureClient } from "@oauth-helper/client";

const [resource = "", redirectUri = ""] = process.argv.slice(2);
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
