/** A resource that makes the list of requested scopes longer with each response. */
import { assert, assertEquals } from "@std/assert";
import { type IAuthorizeRequest, memoryStore } from "../../mod.ts";
import { AS, MCP, PRM } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";

function scopeList(prefix: string, count: number, padding = ""): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${padding}${n}`);
}

/** A user who grants what is requested, at most so often. */
function grantsAll() {
  const requested: string[][] = [];
  const authorize = ({ scopes }: IAuthorizeRequest) => {
    requested.push(scopes);
    const token = {
      ...SESSION.token,
      access_token: `a-token-that-is-new-${requested.length}`,
    };
    return Promise.resolve({ ...SESSION, scopes, token });
  };
  return { requested, authorize };
}

function assertWithinLimits(requested: string[][]): void {
  assert(requested.length > 0);
  for (const scopes of requested) {
    assert(scopes.length <= 100, `${scopes.length}`);
    assert(scopes.join(" ").length <= 4_096, `${scopes.join(" ").length}`);
  }
}

Deno.test("createAuthorizedFetch() adds no scopes of the metadata to those of a challenge", async () => {
  const { requested, authorize } = grantsAll();
  let documents = 0;
  const { api } = resourceFetch(({ url }) => {
    if (url === MCP) {
      const headers = {
        "WWW-Authenticate": `Bearer resource_metadata="${PRM}/mcp", ` +
          `Bearer error="insufficient_scope", scope="s${documents}"`,
      };
      return new Response("no", { status: 403, headers });
    }
    return url === `${PRM}/mcp`
      ? Response.json({
        resource: MCP,
        authorization_servers: [AS],
        scopes_supported: scopeList(`m${++documents}-`, 60),
      })
      : undefined;
  }, { authorize });
  assertEquals(await (await api(MCP)).text(), "no");
  assertEquals(requested.map(({ length }) => length), [2, 3, 4]);
  assertWithinLimits(requested);
});

Deno.test("createAuthorizedFetch() requests all scopes of the metadata in the first sign-in", async () => {
  const { requested, authorize } = grantsAll();
  const scopes = scopeList("s", 150);
  const { api } = resourceFetch(({ url, headers }) => {
    if (url === MCP && !headers.has("Authorization")) {
      return new Response(null, { status: 401 });
    }
    return url === `${PRM}/mcp`
      ? Response.json({
        resource: MCP,
        authorization_servers: [AS],
        scopes_supported: scopes,
      })
      : undefined;
  }, { authorize, store: memoryStore() });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(requested, [scopes]);
});
