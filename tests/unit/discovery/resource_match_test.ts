/** Metadata of another resource must not be used (RFC 9728, section 3.3). */

import { internalOf } from "../../../lib/session/_internal.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { codeFlow, createAuthorizedFetch, memoryStore } from "../../../mod.ts";
import { diagnose } from "../../../lib/doctor/mod.ts";
import {
  asm,
  codes,
  discover,
  discovered,
  prm,
  undiscovered,
} from "../../support/discover.ts";
import {
  API,
  AS,
  MCP,
  OAUTH,
  PRM,
  REDIRECT_URI,
} from "../../support/fixtures.ts";
import { json, redirect, stubFetch, text } from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const ACCEPTED: [target: string, url: string, resource: string][] = [
  [MCP, `${PRM}/mcp`, MCP],
  [MCP, `${API}/anywhere`, MCP],
  [MCP, `${PRM}/mcp`, "https://API.example:443/mcp"],
  [MCP, `${PRM}/mcp`, `${MCP}/`],
  // A parent at its own well-known URL.
  [MCP, PRM, API],
  [`${MCP}/v1`, `${PRM}/mcp`, MCP],
];

for (const [target, url, resource] of ACCEPTED) {
  Deno.test(`discoverAuthorization() accepts ${resource} at ${url} for ${target}`, async () => {
    const found = await discovered(
      { [url]: prm({ resource }), [OAUTH]: asm() },
      { challenge: `Bearer resource_metadata="${url}"` },
      target,
    );
    // RFC 8707: the resource indicator is sent byte for byte.
    assertEquals(found.resource, resource);
  });
}

Deno.test("discoverAuthorization() finds the metadata of a path that the target has with a slash", async () => {
  const documents = {
    [`${PRM}/mcp/`]: text("", 404),
    [`${PRM}/mcp`]: prm({ resource: MCP }),
    [OAUTH]: asm(),
  };
  const { resource, attempts } = await discovered(documents, {}, `${MCP}/`);
  assertEquals(resource, MCP);
  assertEquals(attempts.map(({ url }) => url), [
    `${PRM}/mcp/`,
    `${PRM}/mcp`,
    OAUTH,
  ]);
  // Such metadata is not that of the target if the match is exact.
  const root = { ...documents, [PRM]: prm({ resource: `${MCP}/` }) };
  const exact = { resourceMatch: "exact" } as const;
  const found = await discovered(root, exact, `${MCP}/`);
  assertEquals(found.resource, `${MCP}/`);
});

/** Documents of a parent at another URL, which can belong to a tenant, and its own URL. */
const ELSEWHERE: [
  target: string,
  url: string,
  resource: string,
  ownUrl: string,
][] = [
  [MCP, `${PRM}/mcp`, API, PRM],
  [`${API}/tenant/mcp`, `${API}/tenant/meta`, API, PRM],
  [`${API}/tenant/mcp`, `${PRM}/tenant`, API, PRM],
  [`${MCP}/v1`, PRM, MCP, `${PRM}/mcp`],
  [MCP, "https://evil.example/.well-known/oauth-protected-resource", API, PRM],
  [MCP, `${PRM}?x`, API, PRM],
  [`${MCP}?tenant=a`, `${API}/anywhere`, MCP, `${PRM}/mcp`],
];
const OTHER_AS = "https://tenant-as.example";

for (const [target, url, resource, ownUrl] of ELSEWHERE) {
  Deno.test(`discoverAuthorization() goes on with the parent's own document for ${resource} at ${url} for ${target}`, async () => {
    const challenge = `Bearer resource_metadata="${url}"`;
    const tenant = prm({ resource, authorization_servers: [OTHER_AS] });
    const found = await discovered(
      { [url]: tenant, [ownUrl]: prm({ resource }), [OAUTH]: asm() },
      { challenge },
      target,
    );
    assertEquals([found.resource, found.issuer], [resource, AS]);
    assertEquals(codes(found.attempts).slice(0, 1), ["identifier_mismatch"]);

    // Nothing is assumed if it is missing, or if it is that of another resource.
    const rows = [
      text("Not found", 404),
      prm({ resource: "https://evil.example" }),
      text("No JSON", 200),
    ];
    await eachRowInTurn(rows, async (answer) => {
      const { error, code, urls } = await undiscovered(
        { [url]: tenant, [ownUrl]: answer },
        { challenge },
        target,
      );
      assertEquals([code, urls], ["discovery_failed", [url, ownUrl]]);
      const { cause } = error as { cause?: { code?: string } };
      assertEquals(cause?.code, "identifier_mismatch");
      assertStringIncludes(error.message, `"${resource}"`);
    });
  });
}

Deno.test("discoverAuthorization() requests one other URL, also if the document there names another parent", async () => {
  const url = `${API}/anywhere`;
  const { code, urls } = await undiscovered(
    { [url]: prm({ resource: API }), [PRM]: prm({ resource: MCP }) },
    { challenge: `Bearer resource_metadata="${url}"` },
    `${MCP}/v1`,
  );
  assertEquals([code, urls], ["discovery_failed", [url, PRM]]);
});

const REFUSED: [target: string, url: string, resource: string][] = [
  [MCP, `${PRM}/mcp`, `${MCP}#part`],
  [MCP, PRM, `${API}#part`],
  [MCP, `${PRM}/mcp`, "https://evil.example/mcp"],
  [MCP, `${PRM}/mcp`, "https://user:pa55word@api.example/mcp"],
];

for (const [target, url, resource] of REFUSED) {
  Deno.test(`discoverAuthorization() ends at ${resource} at ${url} for ${target}`, async () => {
    const { error, code, attempts, urls } = await undiscovered(
      { [url]: prm({ resource }) },
      { challenge: `Bearer resource_metadata="${url}"` },
      target,
    );
    assertEquals([code, urls], ["discovery_failed", [url]]);
    assertEquals(codes(attempts), ["identifier_mismatch"]);
    const shown = resource.replace("user:pa55word", "[redacted]");
    assertStringIncludes(error.message, `"${shown}"`);
    if (shown !== resource) pinMessage(error);
    assertEquals(JSON.stringify(error).includes("pa55word"), false);
  });
}

Deno.test("discoverAuthorization() accepts no parent resource where resourceMatch is exact", async () => {
  const rows: [target: string, resource: string, isAccepted: boolean][] = [
    [MCP, MCP, true],
    [API, `${API}/`, true],
    [MCP, API, false],
    [MCP, `${MCP}/`, false],
    [`${MCP}/`, MCP, false],
  ];
  for (const [target, resource, isAccepted] of rows) {
    const { result } = await discover(
      { [PRM]: prm({ resource }), [OAUTH]: asm() },
      {
        challenge: `Bearer resource_metadata="${PRM}"`,
        resourceMatch: "exact",
      },
      target,
    );
    assertEquals(!(result instanceof Error), isAccepted, resource);
  }
});

Deno.test("discoverAuthorization() accepts no parent that a redirect leads away from", async () => {
  const { attempts } = await undiscovered(
    {
      [`${PRM}/t/evil`]: text("", 404),
      [PRM]: redirect(`${API}/t/evil/m`),
      [`${API}/t/evil/m`]: prm({ resource: API }),
    },
    {},
    `${API}/t/evil`,
  );
  assertEquals(codes(attempts).at(-1), "identifier_mismatch");
});

Deno.test("discoverAuthorization() assumes no endpoints beside malformed metadata of another resource", async () => {
  const document = { resource: "https://other.example", scopes_supported: "a" };
  const { code, attempts } = await undiscovered({
    [`${PRM}/mcp`]: json(document),
  });
  assertEquals([code, codes(attempts)], [
    "discovery_failed",
    ["identifier_mismatch"],
  ]);
});

const INSIDE = "http://inside.example:8080/mcp";
const PLAIN = MCP.replace("https:", "http:");

function authorizationIn({ headers }: { headers?: HeadersInit }) {
  return new Headers(headers).get("authorization");
}

for (const inside of [INSIDE, PLAIN, "urn:example:inside"]) {
  const routes = {
    [`${PRM}/mcp`]: prm({ resource: inside }),
    [OAUTH]: asm(AS),
  };

  Deno.test(`discoverAuthorization() refuses the resource ${inside}, and says what names the server`, async () => {
    const { error } = await undiscovered(routes);
    assertEquals(
      error.message.includes("X-Forwarded-Proto"),
      inside === PLAIN,
    );
    if (inside !== INSIDE) pinMessage(error);
  });
}

Deno.test("createAuthorizedFetch() sends the name behind a gateway as resource, and the token to the target only, with authorizationServer and resource", async () => {
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
    authorizationServer: AS,
    allowHttp: true,
    flow: codeFlow({
      client: { issuer: AS, client_id: "c" },
      resourceIndicator: INSIDE,
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
  assertEquals([session?.resource, internalOf(session).resourceIndicator], [
    MCP,
    INSIDE,
  ]);
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

Deno.test("diagnose() names the proxy that does not forward the scheme", async () => {
  const { fetch } = stubFetch({
    [MCP]: () => new Response(null, { status: 401 }),
    [`${PRM}/mcp`]: prm({ resource: PLAIN }),
    [PRM]: () => new Response(null, { status: 404 }),
    [OAUTH]: asm(AS),
  });
  const { findings } = await diagnose(MCP, { fetch });
  const found = findings.find(({ id }) => id === "resource_mismatch");
  assertStringIncludes(`${found?.operator}`, "Forward `X-Forwarded-Proto`");
  assertStringIncludes(`${found?.client}`, "Until then, a client has to know");
  assertEquals(found?.hints, [
    { option: "authorizationServer", text: "set authorizationServer" },
    {
      option: "resourceIndicator",
      value: PLAIN,
      text: `in the flow, set resourceIndicator: "${PLAIN}"`,
    },
  ]);
});
