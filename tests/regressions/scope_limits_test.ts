/** A resource that makes the list of requested scopes longer with each response. */
import { assert, assertEquals } from "@std/assert";
import { type IAuthorizeRequest, memoryStore } from "../../mod.ts";
import { AS, MCP, PRM } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";

function scopeList(prefix: string, count: number, padding = ""): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${padding}${n}`);
}

/** A response that requires scopes. */
function forbidden(scopes: string[]): Response {
  const challenge = `Bearer error="insufficient_scope", scope="${
    scopes.join(" ")
  }"`;
  const headers = { "WWW-Authenticate": challenge };
  return new Response("no", { status: 403, headers });
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

for (
  const [what, count, padding] of [
    ["100 scopes", 60, ""],
    ["4,096 characters", 4, "x".repeat(600)],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() adds no scopes to more than ${what}, which calls at the same time have requested`, async () => {
    const { requested, authorize } = grantsAll();
    const { api } = resourceFetch(
      ({ url }) =>
        url.startsWith(`${MCP}/`)
          ? forbidden(scopeList(url.slice(-1), count, padding))
          : undefined,
      { store: memoryStore(SESSION), authorize },
    );
    const call = (names: string[]) =>
      Promise.all(names.map(async (name) => {
        const response = await api(`${MCP}/${name}`);
        assertEquals([response.status, await response.text()], [403, "no"]);
      }));
    await call(["a", "b"]);
    // Each of the two adds its scopes once; no later call does.
    const added = requested.map(({ length }) => length - 1);
    assertEquals(added, [count, 2 * count]);
    await call(["c", "d"]);
    assertEquals(requested.length, 2);
    assertWithinLimits(requested.slice(0, 1));
  });
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
