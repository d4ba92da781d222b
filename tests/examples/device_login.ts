import process from "node:process";
import { createAuthorizedFetch, deviceFlow } from "@oauth-helper/client";
import { fileStore } from "@oauth-helper/client/native";

const resource = process.argv[2] ?? "https://api.example/mcp";
const api = createAuthorizedFetch(resource, {
  store: fileStore(".session.json"),
  flow: deviceFlow({
    clientMetadata: { client_name: "My device" },
    show: ({ verification_uri, user_code }) =>
      console.log(`Open ${verification_uri} and enter ${user_code}`),
  }),
});

const response = await api(resource);
console.log(response.status, await response.text());
