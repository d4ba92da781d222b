/** Takes over the tokens of mcp-remote: `node mcp_remote.ts URL FILE`. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileStore } from "@oauth-helper/client/native";
import { takeOver } from "./take_over.ts";

const [url = "", file = ".session.json"] = process.argv.slice(2);
const { MCP_REMOTE_CONFIG_DIR = join(homedir(), ".mcp-auth") } = process.env;
const key = createHash("md5").update(url).digest("hex");
const read = async (name: string) => {
  const kept = `mcp-remote-v1/${key}_${name}.json`;
  return JSON.parse(await readFile(join(MCP_REMOTE_CONFIG_DIR, kept), "utf8"));
};
const client = await read("client_info");
const { access_token, token_type, refresh_token, scope, expires_at = 0 } =
  await read("tokens");
// Milliseconds there, seconds here.
const times = { expires_at: Math.floor(expires_at / 1000) };
const token = { access_token, token_type, refresh_token, scope, ...times };
await takeOver(url, fileStore(file), client, token);
console.log(`Kept in ${file}`);
