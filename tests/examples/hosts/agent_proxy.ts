/**
 * Calls APIs for a program that must not have the user's tokens, such as a coding agent in
 * a container: `node agent_proxy.ts agent.json`. It prints the program's environment. The
 * guide "Agents and sandboxes" describes the file.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import process from "node:process";
import * as client from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";
import * as web from "@oauth-helper/client/web";

const { url, socket: path, session, apis, paths }: {
  url: string;
  socket?: string;
  session: string;
  apis: Record<string, client.SharedApi>;
  paths: (web.ForwardRequestOptions & { allow: string[]; env: string[] })[];
} = JSON.parse(readFileSync(process.argv[2]!, "utf8"));

const options: client.AuthorizedFetchOptions = {
  store: fileStore(session),
  apis: client.sharedSignIn(apis),
  flow: client.codeFlow({
    ...createLoopbackReceiver(),
    clientMetadata: { client_name: "Agent proxy" },
  }),
  // Only the start opens a browser, never a call.
  signInOn: "signIn",
};
const rows = paths.flatMap(({ path, url, headers = [], allow }) => {
  const api = client.createAuthorizedFetch(url, options);
  return allow.map((row) => {
    // Such as "GET /models" or "GET /models/*".
    const [, method, below = "", all] = /^([A-Z]+) (|\/.*?)(\/\*)?$/.exec(row)!;
    const to = { path: path + below, url: url + below, headers };
    return { api, method, to, isExact: !all };
  });
});
for (const { api } of rows) await api.signIn();

const { host, port, origin } = new URL(url);
const secret = randomBytes(32).toString("base64url");
const hash = (text: string) => createHash("sha256").update(text).digest();
const reject = (status: number, error = status < 500 ? "rejected" : "failed") =>
  Response.json({ error }, { status });
const env = paths.map(({ path, env: [base, key] }) =>
  `${base}=${origin}${path}\n${key}=${secret}`
);

async function respond(incoming: IncomingMessage, request: web.WebRequest) {
  // All lines of a field: of two, `headers` has only the first.
  const lines = incoming.headersDistinct;
  // A host name of another site may point here, and its pages send requests.
  if (`${lines.host}` !== host) return reject(421);
  if (lines.origin || lines["sec-fetch-site"]) return reject(403);
  const given = hash(`${lines.authorization}`);
  if (!timingSafeEqual(given, hash(`Bearer ${secret}`))) return reject(403);
  const [path = ""] = request.url.split("?");
  for (const { api, method, to, isExact } of rows) {
    const isAt = isExact ? path === to.path : path.startsWith(`${to.path}/`);
    if (method !== request.method || !isAt) continue;
    return await web.forwardRequest(request, api, to) ?? reject(404);
  }
  return reject(404);
}

const address = path ? { path } : { host: "127.0.0.1", port: Number(port) };
// A socket is the user's alone (0600) from the first moment on.
const umask = process.umask(0o177);
createServer(async (incoming, outgoing) => {
  const start = Date.now();
  const request = web.webRequestOf(incoming, outgoing);
  const response = await respond(incoming, request).catch((error) => {
    console.error(error.message, error.cause ?? "");
    return reject(error.code === "sign_in_required" ? 401 : 502, error.code);
  });
  await web.sendResponse(response, outgoing);
  const line = `${request.method} ${request.url.replace(/\?.*/, "")}`;
  console.error(`${line} ${response.status} ${Date.now() - start} ms`);
}).listen(address, () => console.log(env.join("\n")));
process.umask(umask);
