import process from "node:process";
import * as oauth from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { ID = "", TENANT = "" } = process.env;
const issuer = `https://login.microsoftonline.com/${TENANT}/v2.0`;
const client = oauth.publicClient(ID, { issuer });
const scopes = [`api://${ID}/Orders.Read`, "offline_access"];
const terms = { sendScopeOnRefresh: true, resourceIndicator: false } as const;
const receiver = createLoopbackReceiver({ host: "localhost" });
const flow = { ...receiver, client, scopes, ...terms, assumePkce: true };
const api = oauth.createAuthorizedFetch("https://api.contoso.example", {
  authorizationServer: issuer,
  store: fileStore(".session.json"),
  flow: oauth.codeFlow(flow),
});
const response = await api("https://api.contoso.example/orders");
console.log(response.status, await response.text());
