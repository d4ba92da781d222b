/** Prints a protected resource. The user signs in at the first run. */

import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const [url = "https://api.example/mcp"] = process.argv.slice(2);
const api = createAuthorizedFetch(url, {
  store: fileStore(join(homedir(), ".config", "example", "session.json")),
  authorize: codeFlow({
    ...createLoopbackReceiver({ title: "Example" }),
    clientMetadata: { client_name: "Example" },
  }),
});
const response = await api(url);
console.log(response.status, await response.text());
