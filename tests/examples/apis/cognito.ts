import process from "node:process";
import * as oauth from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { ID = "", SECRET = "", POOL = "", API = "" } = process.env;
const region = POOL.split("_")[0];
const issuer = `https://cognito-idp.${region}.amazonaws.com/${POOL}`;
const client = oauth.clientSecretBasic(ID, SECRET, { issuer });
const receiver = createLoopbackReceiver({ host: "localhost", port: 8765 });
const api = oauth.createAuthorizedFetch(API, {
  authorizationServer: issuer,
  bearer: "id_token",
  store: fileStore(".session.json"),
  flow: oauth.codeFlow({ ...receiver, client, assumePkce: true }),
});
const response = await api(`${API}/users`);
console.log(response.status, await response.text());
