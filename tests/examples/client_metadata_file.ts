/** Writes the client metadata document of a program, for a host of static files. */
import { buildClientMetadata } from "@oauth-helper/client";

const [url = "https://tool.example/client.json"] = Deno.args;
const document = buildClientMetadata({
  url,
  clientName: "My tool",
  redirectUris: ["http://127.0.0.1:33418/callback"],
});
await Deno.writeTextFile("client.json", JSON.stringify(document, null, 2));
