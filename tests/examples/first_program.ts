import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const url = "https://api.example/notes";
const api = createAuthorizedFetch(url, {
  store: fileStore(".session.json"),
  flow: codeFlow({
    ...createLoopbackReceiver(),
    clientMetadata: { client_name: "Notes" },
  }),
});
const response = await api(url);
console.log(response.status, await response.text());
