import process from "node:process";
import * as oauth from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { ID = "", SECRET = "" } = process.env;
const issuer = "https://accounts.google.com";
const apis = "https://www.googleapis.com";
const client = oauth.clientSecretPost(ID, SECRET, { issuer });
const scopes = [`${apis}/auth/drive.readonly`, `${apis}/auth/gmail.readonly`];
const flow = { client, scopes, parameters: { access_type: "offline" } };
const api = oauth.createAuthorizedFetch(`${apis}/drive/v3`, {
  authorizationServer: issuer,
  alsoFor: ["https://gmail.googleapis.com"],
  tokenRequired: true,
  store: fileStore(".session.json"),
  flow: oauth.codeFlow({ ...createLoopbackReceiver(), ...flow }),
});
const response = await api(process.argv[2] ?? `${apis}/drive/v3/files`);
console.log(response.status, await response.text());
