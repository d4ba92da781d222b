import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const resource = Deno.args[0] ?? "https://api.example/mcp";
const api = createAuthorizedFetch(resource, {
  store: fileStore(".session.json"),
  authorize: codeFlow({
    ...createLoopbackReceiver({ title: "My tool" }),
    clientMetadata: { client_name: "My tool" },
  }),
});

const response = await api(resource);
console.log(response.status, await response.text());
