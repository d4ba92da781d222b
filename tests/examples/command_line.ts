/**
 * Prints a protected resource. The user signs in at the first run. In Node 22.18 or
 * newer, run `node command_line.ts URL`; in Deno, make `~/.config/example` first:
 * deno run --allow-net --allow-env --allow-sys=homedir --allow-run=xdg-open,open \
 *   --allow-read=$HOME/.config/example --allow-write=$HOME/.config/example \
 *   command_line.ts URL
 */

import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const [url = "https://api.example/mcp"] = process.argv.slice(2);
const file = `${encodeURIComponent(url)}.json`;
const api = createAuthorizedFetch(url, {
  store: fileStore(join(homedir(), ".config", "example", file), {
    onWait: (pid) => console.error("Waiting for pid", pid),
  }),
  flow: codeFlow({
    ...createLoopbackReceiver({ title: "Example" }),
    clientMetadata: { client_name: "Example" },
  }),
  onEvent: (event) => event.type === "token_refused" && console.error(event),
});

// An interrupt ends the call, which releases the lock of the session.
const interrupted = new AbortController();
const stop = () => interrupted.abort("Interrupted");
process.once("SIGINT", stop).once("SIGTERM", stop);
try {
  const response = await api(url, { signal: interrupted.signal });
  console.log(response.status, await response.text());
} catch (error) {
  // What fetch fails with says why in its cause.
  const reason = error instanceof TypeError ? error.cause ?? error : error;
  console.error(String(reason));
  process.exitCode = 1;
}
