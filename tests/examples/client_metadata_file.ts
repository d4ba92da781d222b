/** Writes the client metadata document of a program, for a host of static files. */
import { writeFile } from "node:fs/promises";
import process from "node:process";
import { buildClientMetadata } from "@oauth-helper/client";

const [url = "https://tool.example/client.json"] = process.argv.slice(2);
const document = buildClientMetadata({
  url,
  clientName: "My tool",
  redirectUris: ["http://127.0.0.1:33418/callback"],
});
await writeFile("client.json", JSON.stringify(document, null, 2));
