/**
 * A process that shares a session with others. Arguments: store, location and URL
 * of the resource. For each line on the standard input it does what the line says,
 * and prints one line: `call` requests the resource and prints the status, `hold`
 * acquires the lock and keeps it.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { createAuthorizedFetch } from "../../mod.ts";
import { openStore, type StoreName } from "./_stores.ts";

const [name, location = "", resource = ""] = process.argv.slice(2);
const { store } = await openStore(name as StoreName, location);
const api = createAuthorizedFetch(resource, {
  store,
  authorize: () => Promise.reject(new Error("The user would have to sign in")),
});

async function call(): Promise<string> {
  try {
    const response = await api(resource);
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    return String(error);
  }
}

function hold(): Promise<string> {
  return new Promise((resolve) => {
    store.lock?.(() => {
      resolve("held");
      return new Promise(() => {});
    });
  });
}

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(line === "hold" ? await hold() : await call());
}
process.exit();
