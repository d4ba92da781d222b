/** Opens a URL in the browser, and waits for the callback on a port of 127.0.0.1. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";

export async function receive(url: string, redirectUri: string): Promise<URL> {
  const server = createServer();
  server.listen(Number(new URL(redirectUri).port), "127.0.0.1");
  await once(server, "listening");
  spawn("xdg-open", [url], { stdio: "ignore" });
  const [request, response] = await once(server, "request");
  response.setHeader("Connection", "close").end("You can close this window.");
  server.close();
  return new URL(request.url, redirectUri);
}
