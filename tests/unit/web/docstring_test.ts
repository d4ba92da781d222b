/** The example in the docstring of `./web`, as a reader copies it. */

import { assertEquals } from "@std/assert";
import { createTestServers } from "../../../lib/testing/mod.ts";
import { replaceGlobals } from "../../support/globals.ts";
import { fakeRedis } from "../stores/_fakes.ts";
import { KEY, ORIGIN } from "./_world.ts";

const LIB = new URL("../../../lib/", import.meta.url);

async function loadExample() {
  const source = await Deno.readTextFile(new URL("web/mod.ts", LIB));
  const [, block = ""] = /@example A server\n \* ```ts\n(.*?)\n \* ```/s
    .exec(source) ?? [];
  const code = block.replace(/^ \* ?/gm, "")
    .replace(/^import type .*$/gm, "")
    .replaceAll("redisStore, type RedisClient", "redisStore")
    .replace(/@oauth-helper\/client\/(\w+)/g, `${LIB}$1/mod.ts`)
    .replace(/\((redis): \w+, (client): \w+, (key): \w+\)/, "($1, $2, $3)")
    .replace("request: Request", "request");
  return await import(`data:text/javascript,${encodeURIComponent(code)}`);
}

Deno.test("the example of ./web sets no cookie of the API", async () => {
  const client = { client_id: "site", client_secret: "secret" };
  const redirect_uris = [`${ORIGIN}/callback`];
  const servers = createTestServers({
    resource: "https://api.example/notes",
    clients: [{
      ...{ ...client, redirect_uris },
      grant_types: ["authorization_code", "refresh_token"],
    }],
  });
  let isHostile = false;
  using _ = replaceGlobals({
    fetch: async (...args: Parameters<typeof fetch>) => {
      const response = await servers.fetch(...args);
      if (!isHostile) return response;
      const headers = {
        "Set-Cookie": "__Host-sign-in=of-the-attacker; Path=/",
      };
      return new Response(response.body, { status: response.status, headers });
    },
  });
  const { serve } = await loadExample();
  const site = serve(fakeRedis(), { issuer: servers.issuer, ...client }, KEY);
  const cookies = new Map<string, string>();
  const open = async (url: string): Promise<Response> => {
    const Cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await site(new Request(url, { headers: { Cookie } }));
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^(.*?)=(.*?);/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const { headers } = await open(`${ORIGIN}/notes`);
  await open(await servers.receiver.visit(headers.get("Location")!));
  isHostile = true;
  const response = await open(`${ORIGIN}/notes`);
  assertEquals([response.status, response.headers.getSetCookie()], [200, []]);
  assertEquals((await response.json()).ok, true);
});
