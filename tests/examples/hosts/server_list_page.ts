/** A host with a page: prints its URL, and serves it until the program is ended. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createServerList } from "./server_list.ts";

const PAGE = `<!DOCTYPE html>
<meta charset="utf-8">
<title>Servers</title>
<ul></ul>
<script type="module">
const send = (name) => fetch(name, { method: "POST" });
const button = (text, name) => {
  const element = document.createElement("button");
  element.textContent = text;
  element.onclick = () => send(name);
  return element;
};
new EventSource("events").onmessage = ({ data }) => {
  const rows = JSON.parse(data).map(({ url, state, why }, index) => {
    const row = document.createElement("li");
    row.append(url + ": " + state + (why && " (" + why + ") "));
    if (state !== "signed in") row.append(button("Sign in", "sign-in/" + index));
    row.append(button("Check", "check/" + index));
    return row;
  });
  document.querySelector("ul").replaceChildren(...rows);
};
</script>
`;

const pages = new Set<ServerResponse>();
const event = () => `data: ${JSON.stringify(list.servers)}\n\n`;
const list = createServerList(process.argv.slice(2), () => {
  for (const page of pages) page.write(event());
});
// Other sites, and other users of the machine, do not know the path.
const path = `/${crypto.randomUUID()}/`;

const server = createServer(({ url = "", method }, response) => {
  const [, name, index = ""] = url.startsWith(path)
    ? /^([\w-]*)\/?(\d*)$/.exec(url.slice(path.length)) ?? []
    : [];
  const act = { "sign-in": list.signIn, check: list.check }[name ?? ""];
  if (method === "POST" && act && list.servers[Number(index)]) {
    void act(Number(index));
    response.writeHead(202).end();
  } else if (name === "events") {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(event());
    pages.add(response);
    response.once("close", () => pages.delete(response));
  } else if (name === "") {
    response.writeHead(200, { "Content-Type": "text/html" }).end(PAGE);
  } else response.writeHead(404).end();
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}${path}`);
});
for (const index of list.servers.keys()) void list.check(index);
