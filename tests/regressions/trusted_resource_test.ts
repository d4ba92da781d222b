/** Resources whose metadata has another identifier, behind a gateway or proxy. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { codeFlow, createAuthorizedFetch, memoryStore } from "../../mod.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import { asm, discovered, prm, undiscovered } from "../support/discover.ts";
import { AS, MCP, OAUTH, PRM, REDIRECT_URI } from "../support/fixtures.ts";
import { json, stubFetch } from "../support/stub_fetch.ts";

const INSIDE = "http://inside.example:8080/mcp";
const PLAIN = MCP.replace("https:", "http:");

/** Returns what authorizes a request. */
function authorizationIn({ headers }: { headers?: HeadersInit }) {
  return new Headers(headers).get("authorization");
}

for (const inside of [INSIDE, PLAIN, "urn:example:inside"]) {
  const routes = {
    [`${PRM}/mcp`]: prm({ resource: inside }),
    [OAUTH]: asm(AS),
  };

  Deno.test(`discoverAuthorization() accepts the resource ${inside} for the target that trustedResources names`, async () => {
    for (const name of [MCP, `${MCP}#part`]) {
      const trustedResources = { [name]: inside };
      const found = await discovered(routes, { trustedResources });
      assertEquals([found.resource, found.resourceIndicator], [MCP, inside]);
    }
  });

  Deno.test(`discoverAuthorization() refuses the resource ${inside} if it is not trusted for the target`, async () => {
    for (
      const trustedResources of [
        undefined,
        { [`${MCP}2`]: inside },
        { [MCP]: `${inside}/` },
        { [inside]: MCP },
        { [inside]: inside },
      ]
    ) {
      const { error } = await undiscovered(routes, { trustedResources });
      assertStringIncludes(
        error.message,
        "is not the resource of its metadata",
      );
      assertEquals(
        /forward X-Forwarded-Proto.*set trustedResources/.test(error.message),
        inside === PLAIN,
      );
    }
  });
}

Deno.test("createAuthorizedFetch() sends the trusted identifier as resource, and the token to the target only", async () => {
  const token = json({ access_token: "a1", token_type: "Bearer" });
  using stub = stubFetch({
    [`${PRM}/mcp`]: prm({ resource: INSIDE }),
    [OAUTH]: asm(AS, { authorization_endpoint: `${AS}/authorize` }),
    [`${AS}/token`]: token,
    [MCP]: ({ init }) =>
      new Response(null, { status: authorizationIn(init) ? 200 : 401 }),
    [INSIDE]: json({}),
  });
  const store = memoryStore();
  const requested: (string | null)[] = [];
  const api = createAuthorizedFetch(MCP, {
    fetch: stub.globalFetch,
    store,
    trustedResources: { [MCP]: INSIDE },
    allowHttp: true,
    authorize: codeFlow({
      client: { issuer: AS, client_id: "c" },
      redirectUri: REDIRECT_URI,
      assumePkce: true,
      visit(url) {
        requested.push(url.searchParams.get("resource"));
        const state = url.searchParams.get("state")!;
        return Promise.resolve(new URLSearchParams({ code: "c0de", state }));
      },
    }),
  });
  await (await api(MCP)).body?.cancel();
  const session = await store.load();
  assertEquals([session?.resource, session?.resourceIndicator], [MCP, INSIDE]);
  const { body } = stub.requests.find(({ url }) => url === `${AS}/token`)!;
  assertEquals([...requested, new URLSearchParams(body).get("resource")], [
    INSIDE,
    INSIDE,
  ]);
  await (await api(INSIDE)).body?.cancel();
  assertEquals(
    stub.requests.filter(({ url }) => url === MCP || url === INSIDE)
      .map(({ url, init }) => [url, authorizationIn(init)]),
    [[MCP, null], [MCP, "Bearer a1"], [INSIDE, null]],
  );
});

Deno.test("diagnose() names the proxy that does not forward the scheme, and accepts trustedResources", async () => {
  const { fetch } = stubFetch({
    [MCP]: () => new Response(null, { status: 401 }),
    [`${PRM}/mcp`]: prm({ resource: PLAIN }),
    [PRM]: () => new Response(null, { status: 404 }),
    [OAUTH]: asm(AS),
  });
  const { findings } = await diagnose(MCP, { fetch });
  const found = findings.find(({ id }) => id === "resource_mismatch");
  assertStringIncludes(`${found?.operator}`, "Forward `X-Forwarded-Proto`");
  assertStringIncludes(
    `${found?.client}`,
    `\`trustedResources: { "${MCP}": "${PLAIN}" }\``,
  );
  const trusted = await diagnose(MCP, {
    fetch,
    trustedResources: { [MCP]: PLAIN },
  });
  assertEquals(
    trusted.findings.filter(({ id }) => id === "resource_mismatch"),
    [],
  );
});
