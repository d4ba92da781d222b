import process from "node:process";
import * as oauth from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { ID = "", SECRET = "", REPOSITORY = "" } = process.env;
const issuer = "https://github.com/login/oauth";
const authorization_endpoint = `${issuer}/authorize`;
const token_endpoint = `${issuer}/access_token`;
const client = oauth.clientSecretPost(ID, SECRET, { issuer });
const receiver = createLoopbackReceiver({ port: 33418 });
const api = oauth.createAuthorizedFetch("https://api.github.com", {
  serverMetadata: { issuer, authorization_endpoint, token_endpoint },
  tokenRequired: true,
  store: fileStore(".session.json"),
  flow: oauth.codeFlow({ ...receiver, client }),
});
const response = await api(`https://api.github.com/repos/${REPOSITORY}`);
console.log(response.status, await response.text());
