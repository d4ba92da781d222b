import process from "node:process";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { RESOURCE = "", ISSUER = "", ID = "", SECRET = "" } = process.env;
const client = { issuer: ISSUER, client_id: ID, client_secret: SECRET };
const receiver = createLoopbackReceiver({ port: 8766 });
const api = createAuthorizedFetch(RESOURCE, {
  serverMetadata: {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/auth`,
    token_endpoint: `${ISSUER}/token`,
  },
  store: fileStore(".session.json"),
  flow: codeFlow({ ...receiver, client, scopes: ["mcp:read"] }),
});
console.log((await api(RESOURCE)).status);
