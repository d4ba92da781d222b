import process from "node:process";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { RESOURCE = "", ISSUER = "", ID = "" } = process.env;
const client = { issuer: ISSUER, client_id: ID };
const receiver = createLoopbackReceiver({ port: 8766 });
const api = createAuthorizedFetch(RESOURCE, {
  store: fileStore(".session.json"),
  flow: codeFlow({ ...receiver, client }),
});
console.log((await api(RESOURCE)).status);
