import process from "node:process";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";
import { callForSeconds } from "./calls.ts";

const { RESOURCE = "" } = process.env;
const api = createAuthorizedFetch(RESOURCE, {
  store: fileStore(".session.json"),
  flow: codeFlow({
    ...createLoopbackReceiver(),
    clientMetadata: { client_name: "Three processes" },
  }),
});
await callForSeconds(() => api(RESOURCE));
