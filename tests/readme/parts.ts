/** Parts of README.md, in the code that they leave out: each `part` is there, dedented. */

import {
  Client,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { AuthorizedFetch } from "@oauth-helper/client";

export async function connect(url: string, api: AuthorizedFetch) {
  // part
  await api.signIn(); // First: the requests of `connect` time out after a minute.
  const client = new Client({ name: "Notes", version: "1.0.0" });
  const options = { fetch: api };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), options),
  );
  // end
  return client;
}
