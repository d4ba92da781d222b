/**
 * A program that calls a resource with a session in a file, whose token has expired.
 * Arguments: path of the file, URL of the resource, and the state of the renewal in
 * which it prints the state and stops, to be killed. It prints the status at the end,
 * or `sign-in` if a user would have to sign in.
 */

import { open } from "node:fs/promises";
import process from "node:process";
import { createAuthorizedFetch } from "../../mod.ts";
import { fileStore } from "../../lib/native/mod.ts";

const [path = "", resource = "", state = ""] = process.argv.slice(2);

async function stopAt(here: string): Promise<void> {
  if (here !== state) return;
  setInterval(() => {}, 60_000);
  console.log(here);
  await new Promise(() => {});
}

if (state === "saving") {
  const file = await open(process.argv[1] ?? "");
  const prototype = Object.getPrototypeOf(file);
  await file.close();
  prototype.sync = () => stopAt("saving");
}
const store = fileStore(path);
const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort("Interrupted"));
const api = createAuthorizedFetch(resource, {
  store: {
    ...store,
    async save(session) {
      await store.save(session);
      await stopAt("saved");
    },
  },
  async fetch(input, init) {
    const isToken = String(input).endsWith("/token");
    if (isToken) await stopAt("locked");
    const response = await fetch(input, init);
    if (isToken) await stopAt("received");
    return response;
  },
  flow: () => Promise.reject("sign-in"),
});
try {
  const { signal } = interrupted;
  console.log((await api(resource, { signal })).status);
} catch (error) {
  console.log(String(error));
}
