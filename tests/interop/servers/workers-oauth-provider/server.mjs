/** Runs the Worker in workerd; the argument is how clients are identified. */
import { Miniflare, Response } from "miniflare";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const { PORT, CLIENT_URL, REDIRECT_URI } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const provider = fileURLToPath(
  import.meta.resolve("@cloudflare/workers-oauth-provider"),
);
const module = async (path, file) => ({
  type: "ESModule",
  path,
  contents: await readFile(file, "utf8"),
});

const worker = new Miniflare({
  host: "127.0.0.1",
  port: Number(PORT),
  modules: [
    await module("worker.mjs", "worker.mjs"),
    await module("oauth-provider.js", provider),
  ],
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["global_fetch_strictly_public", "nodejs_compat"],
  kvNamespaces: ["OAUTH_KV"],
  bindings: { ORIGIN: origin, MODE: process.argv[2] },
  // The client metadata document, which is on the internet for the Worker.
  outboundService: () =>
    Response.json({
      client_id: CLIENT_URL,
      client_name: "Interop",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    }),
});
await worker.ready;
process.on("SIGTERM", () => worker.dispose().then(() => process.exit()));
console.log(`${origin}/mcp`);
