/** A host in a terminal: type the number of a server to sign in, or an empty line to end. */

import process from "node:process";
import { createInterface } from "node:readline/promises";
import { createServerList, type ServerState } from "./server_list.ts";

function show(servers: readonly ServerState[]) {
  console.log();
  for (const [index, { url, state, why }] of servers.entries()) {
    console.log(`${index + 1} ${url}: ${state}${why && ` (${why})`}`);
  }
}

const list = createServerList(process.argv.slice(2), show);
await Promise.all(list.servers.map((_, index) => list.check(index)));
const { stdin: input, stdout: output } = process;
const lines = createInterface({ input, output, prompt: "Sign in to number: " });
lines.prompt();
for await (const line of lines) {
  if (line === "") break;
  const index = Number(line) - 1;
  // The user can type while the browser is open.
  if (list.servers[index]) void list.signIn(index);
  lines.prompt();
}
list.close();
input.destroy();
