/** Which requests carry the token, and where redirects lead. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createAuthorizedFetch, createDpop, memoryStore } from "../../mod.ts";
import {
  type SessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import {
  AS,
  MCP,
  OAUTH,
  pinRejected,
  PRM,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import {
  type Received,
  redirection,
  resourceFetch,
  SESSION,
} from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  authorizations,
  jsonOf,
  signedIn,
  signingInWith,
  test,
} from "./_session_world.ts";

const BEARER = `Bearer ${SESSION.token.access_token}`;

/** Makes a resource that answers every request, and redirects `/mcp/go/<status>`. */
function redirectTo(servers: SessionServers, location: () => string): void {
  servers.handler = ({ path, body, method, headers }) => {
    const status = Number(/^\/mcp\/go\/(\d+)$/.exec(path)?.[1]);
    if (status) {
      return new Response(null, {
        status,
        headers: { Location: location() },
      });
    }
    return Response.json({ method, body, type: headers.get("Content-Type") });
  };
}

test("sends the token to the resource and below it only", async ({ servers, api, bearer }) => {
  await using other = await startSessionServers();
  const port = new URL(servers.origin).port;
  servers.handler = other.handler = () => new Response();
  for (
    const [url, isSent] of [
      [servers.resource, true],
      [`${servers.resource}/`, true],
      [`${servers.resource}?q#f`, true],
      [`${servers.resource}/a/b`, true],
      [`${servers.resource}/../mcp/a`, true],
      [`${servers.resource}s`, false],
      [`${servers.resource}/../other`, false],
      [`${servers.resource}/%2e%2e/other`, false],
      [`${servers.origin}/MCP`, false],
      [servers.origin, false],
      [`http://localhost:${port}/mcp`, false],
      [other.resource, false],
    ] as const
  ) {
    servers.calls.length = other.calls.length = 0;
    assertEquals(await statusOf(api(url)), 200, url);
    const [call] = [...servers.calls, ...other.calls];
    assertEquals(call!.authorization, isSent ? bearer : null, url);
  }
});

test.beforeSignIn("passes requests for other URLs untouched, and their 401 back", async ({ servers }) => {
  const inputs: unknown[][] = [];
  const api = createAuthorizedFetch(MCP, {
    flow: servers.flow(),
    fetch: (...args) => {
      inputs.push(args);
      return Promise.resolve(new Response(null, { status: 401 }));
    },
  });
  const init = {
    method: "POST",
    body: "b",
    headers: { Authorization: "own" },
  };
  const request = new Request("https://api.example/other");
  assertEquals((await api(MCP, init)).status, 401);
  assertEquals((await api(request)).status, 401);
  assertEquals(servers.visits.length, 0);
  assert(inputs[0]![1] === init && inputs[1]![0] === request);
});

test("leaves an Authorization of the caller alone", async ({ servers, api, sent }) => {
  const { resource } = servers;
  const headers = { authorization: "Basic b3du" };
  for (
    const call of [
      () => api(resource, { headers }),
      () => api(resource, { headers: new Headers(headers) }),
      () => api(resource, { headers: Object.entries(headers) }),
      () => api(new Request(resource, { headers })),
      () => api(new Request(resource), { headers }),
    ]
  ) {
    servers.calls.length = 0;
    assertEquals(await statusOf(call()), 401);
    assertEquals(servers.calls.map((one) => one.authorization), ["Basic b3du"]);
  }
  sent({});
});

test.beforeSignIn("follows redirects with the token within the resource, and without it elsewhere", async ({ servers }) => {
  await using other = await startSessionServers();
  other.handler = () => new Response("other");
  const { api, bearer } = await signedIn(servers);
  let location = "";
  redirectTo(servers, () => location);
  await eachRowInTurn(
    [
      [`${servers.resource}/there`, servers, bearer],
      ["/mcp/there", servers, bearer],
      ["/elsewhere", servers, null],
      [other.resource, other, null],
    ] as const,
    async ([target, at, expected]) => {
      location = target;
      for (const status of [301, 302, 303, 307, 308]) {
        servers.calls.length = other.calls.length = 0;
        const headers = { Cookie: "c=1" };
        const call = api(`${servers.resource}/go/${status}`, { headers });
        assertEquals(await statusOf(call), 200);
        assertEquals(servers.calls[0]!.authorization, bearer);
        const last = at.calls.at(-1)!;
        assertEquals(last.authorization, expected, `${target} ${status}`);
        assertEquals(last.headers.get("Cookie"), at === other ? null : "c=1");
      }
    },
  );
  assertEquals(servers.visits.length, 0);
});

test.beforeSignIn("sends no token again after a redirect to another origin, and renews nothing", async ({ servers }) => {
  await using other = await startSessionServers();
  other.handler = () => Response.redirect(`${servers.resource}/back`, 307);
  const { api, bearer } = await signedIn(servers);
  let location = other.resource;
  redirectTo(servers, () => location);
  const { handler } = servers;
  servers.handler = (received) =>
    received.path.endsWith("/back")
      ? new Response(null, { status: 401 })
      : handler(received);
  assertEquals(await statusOf(api(`${servers.resource}/go/307`)), 401);
  assertEquals(other.calls.map((one) => one.authorization), [null]);
  assertEquals(servers.calls.map((one) => one.authorization), [bearer, null]);
  assertEquals([servers.visits, servers.grants("refresh_token")], [[], []]);

  // The next call has the token, also after a redirect within the origin.
  servers.calls.length = 0;
  location = `${servers.resource}/there`;
  assertEquals(await statusOf(api(`${servers.resource}/go/307`)), 200);
  const sent = servers.calls.map((one) => one.authorization);
  assertEquals(sent, [bearer, bearer]);
});

Deno.test("createAuthorizedFetch() sends no DPoP proof after a redirect to another origin", async () => {
  const dpop = await createDpop();
  const { thumbprint: dpopThumbprint } = dpop;
  const token = { access_token: "a1", token_type: "DPoP" };
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? redirection(`${AS}/`)
        : url === `${AS}/`
        ? redirection(`${MCP}/back`)
        : new Response(null, { status: 401 }),
    {
      dpop,
      store: memoryStore({ ...SESSION, token, dpopThumbprint }),
    },
  );
  assertEquals((await api(MCP)).status, 401);
  const sent = received.map(({ headers }) => headers.has("DPoP"));
  assertEquals(sent, [true, false, false]);
});

test("keeps or drops method and body in a redirect as fetch does", async ({ servers, api }) => {
  redirectTo(servers, () => `${servers.resource}/there`);
  const init = {
    method: "POST",
    body: "b",
    headers: { "Content-Type": "text/x" },
  };
  const dropped = { method: "GET", body: "", type: null };
  const kept = { method: "POST", body: "b", type: "text/x" };
  for (const status of [301, 302, 303, 307, 308]) {
    const url = `${servers.resource}/go/${status}`;
    const expected = status < 304 ? dropped : kept;
    assertEquals(await jsonOf(fetch(url, init)), expected);
    assertEquals(await jsonOf(api(url, init)), expected);
    const request = new Request(url, init);
    assertEquals(await jsonOf(api(request)), expected);
  }
});

test("renews after a 401 behind a redirect", async ({ servers, api, bearer }) => {
  servers.handler = ({ path }) =>
    path === "/mcp"
      ? Response.redirect(`${servers.resource}/`, 307)
      : undefined;
  servers.revoke();
  const init = { method: "POST", body: "b" };
  const { method, body, authorization } = await jsonOf(
    api(servers.resource, init),
  );
  assertEquals([method, body], ["POST", "b"]);
  assert(authorization !== bearer);
});

test("fails for redirects that cannot be followed", async ({ servers, api }) => {
  let location = `${servers.resource}/go/307`;
  redirectTo(servers, () => location);
  const url = `${servers.resource}/go/307`;
  const rejects = (init: RequestInit) =>
    pinRejected(
      () => within(LIMIT_MS, api(url, init)),
      "redirect_refused",
      { url },
    );
  await rejects({});
  const body = new Blob(["b"]).stream();
  const stream = { method: "POST", body, duplex: "half" } as RequestInit;
  await rejects(stream);
  location = "data:text/plain,x";
  await rejects({});
});

test("leaves redirects to a caller who handles them", async ({ servers, api }) => {
  redirectTo(servers, () => "/elsewhere");
  const url = `${servers.resource}/go/302`;
  assertEquals(await statusOf(api(url, { redirect: "manual" })), 302);
  const request = new Request(url, { redirect: "manual" });
  assertEquals(await statusOf(api(request)), 302);
  await assertRejects(
    () => within(LIMIT_MS, api(url, { redirect: "error" })),
    TypeError,
  );
});

Deno.test("createAuthorizedFetch() keeps the method and the signal of a Request in a redirect", async () => {
  const inits: (RequestInit | undefined)[] = [];
  const api = createAuthorizedFetch("https://api.example/mcp", {
    flow: () => Promise.reject(new Error("not called")),
    fetch: (_input, init) => {
      inits.push(init);
      return Promise.resolve(
        inits.length === 1
          ? Response.redirect("https://api.example/mcp/a", 307)
          : new Response(),
      );
    },
  });
  const { signal } = new AbortController();
  const request = new Request("https://api.example/mcp", {
    method: "DELETE",
    signal,
  });
  const members = {
    cache: "no-store",
    credentials: "include",
    integrity: "sha256-x",
    keepalive: true,
    referrerPolicy: "no-referrer",
  } as const;
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(request, name, { value });
  }
  const { redirected } = await api(request);
  assertEquals(redirected, true);
  const second = inits[1]!;
  assertEquals(second.method, "DELETE");
  assertEquals(second.signal, request.signal);
  assertEquals({ ...second, ...members }, second);
  assertEquals((await api("https://api.example/mcp")).redirected, false);
});

const FILES = "https://files.example/v1";

Deno.test("createAuthorizedFetch() sends the token to the URLs of alsoFor, and below them", async () => {
  const { api, received } = resourceFetch(undefined, {
    alsoFor: [FILES, new URL("https://api.example/v2")],
  });
  const expected: [url: string, isCovered: boolean][] = [
    [MCP, true],
    [FILES, true],
    [`${FILES}/a`, true],
    ["https://files.example/v10", false],
    [`${FILES}/..%2fv2`, false],
    ["https://files.example/", false],
    ["http://files.example/v1", false],
    ["https://api.example/v2/x", true],
    ["https://api.example/v3", false],
  ];
  for (const [url] of expected) await api(url);
  assertEquals(
    authorizations(received),
    expected.map(([, isCovered]) => isCovered ? BEARER : null),
  );
});

Deno.test("createAuthorizedFetch() keeps the token in redirects among its URLs, until one leads out", async () => {
  // Another origin has no header fields of the caller either.
  const exits: [exit: string, isOtherOrigin: boolean][] = [
    ["https://out.example/", true],
    ["https://api.example/other", true],
    ["https://files.example/v2", false],
    [`${FILES}/..%2fx`, false],
  ];
  await eachRowInTurn(exits, async ([exit, isOtherOrigin]) => {
    const hops = [`${MCP}/1`, `${FILES}/2`, exit, `${MCP}/3`];
    const left = [...hops];
    const { api, received } = resourceFetch(() => {
      const next = left.shift();
      return next ? redirection(next) : undefined;
    }, { alsoFor: [FILES] });
    await api(FILES, { headers: { "X-Own": "1" } });
    assertEquals(received.map(({ url }) => url), [FILES, ...hops]);
    const sent = [BEARER, BEARER, BEARER, null, null];
    assertEquals(authorizations(received), sent, exit);
    const own = received.slice(2).map(({ headers }) => headers.get("X-Own"));
    assertEquals(own, ["1", isOtherOrigin ? null : "1", null], exit);
  });
});

Deno.test("createAuthorizedFetch() sends a POST again where a redirect leads to a URL of alsoFor", async () => {
  const { api, received } = resourceFetch(
    ({ url }) => url === MCP ? redirection(`${FILES}/1`) : undefined,
    { alsoFor: [FILES] },
  );
  await api(MCP, { method: "POST", body: "hello" });
  assertEquals(received.map(({ body }) => body), ["hello", "hello"]);
  assertEquals(authorizations(received), [BEARER, BEARER]);
});

Deno.test("createAuthorizedFetch() sends its userAgent for metadata and to the authorization server", async () => {
  const { authorize } = signingInWith();
  const { api, received } = resourceFetch(
    ({ url }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ error: "invalid_grant" }, { status: 400 })
        : url === MCP
        ? new Response(null, { status: 401 })
        : undefined,
    { flow: authorize, userAgent: "my-program/1.0" },
  );
  await api(MCP, { headers: { "User-Agent": "own" } });
  const agents = received.map((
    { url, headers },
  ) => [url, headers.get("User-Agent")]);
  assertEquals(agents, [
    [MCP, "own"],
    [TOKEN_ENDPOINT, "my-program/1.0"],
    [`${PRM}/mcp`, "my-program/1.0"],
    [OAUTH, "my-program/1.0"],
    [TOKEN_ENDPOINT, "my-program/1.0"],
    [MCP, "own"],
  ]);
});

const OWN = { "X-Own": "1", Accept: "text/plain" };
const LOWER = { "x-own": "1", accept: "text/plain" };

const HEADERS: [
  what: string,
  args: () => Parameters<typeof fetch>,
  expected: Record<string, string>,
][] = [
  ["none", () => [MCP], {}],
  ["null", () => [MCP, { headers: null as never }], {}],
  ["an object", () => [MCP, { headers: OWN }], OWN],
  ["Headers", () => [MCP, { headers: new Headers(OWN) }], LOWER],
  ["a list", () => [MCP, { headers: Object.entries(OWN) }], LOWER],
  [
    "a list with a name twice",
    () => [MCP, { headers: [["X-Own", "1"], ["x-own", "2"]] }],
    { "x-own": "1, 2" },
  ],
  ["a Map", () => [MCP, { headers: new Map([["X-Own", "1"]]) as never }], {
    "x-own": "1",
  }],
  [
    "numbers",
    () => [MCP, { headers: { "X-Count": 5 as never } }],
    { "X-Count": "5" },
  ],
];

for (const [what, args, expected] of HEADERS) {
  Deno.test(`createAuthorizedFetch() passes header fields to fetch as an object: ${what}`, async () => {
    const passed: unknown[] = [];
    const api = createAuthorizedFetch(MCP, {
      store: memoryStore(SESSION),
      fetch: (_input, init) => {
        passed.push(init?.headers);
        return Promise.resolve(new Response());
      },
    });
    const [input, init] = args();
    await api(input, init);
    assertEquals(passed, [{ ...expected, Authorization: BEARER }]);
    assertEquals(Object.getPrototypeOf(passed[0]), Object.prototype);
  });
}

Deno.test("createAuthorizedFetch() sends the header fields that a call began with", async () => {
  const headers: Record<string, string> = { "X-Own": "1" };
  const { api, received } = resourceFetch(() => undefined);
  const call = api(MCP, { headers });
  headers["X-Own"] = "2";
  await call;
  assertEquals(received.map((one) => one.headers.get("X-Own")), ["1"]);
});

Deno.test("createAuthorizedFetch() requests nothing with a header field that HTTP does not allow", async () => {
  const rows = [{ "X Own": "1" }, { "X-Own": "1\r\nX-Other: 2" }, { "": "1" }];
  for (const headers of rows) {
    const { api, received } = resourceFetch(() => undefined, {
      store: memoryStore(),
      tokenRequired: true,
      flow: () => Promise.reject(new Error("not called")),
    });
    const call = () => api(MCP, { headers });
    const { message } = await pinRejected(call, "invalid_argument");
    assert(!message.includes("Other"));
    assertEquals(received, []);
  }
});

Deno.test("createAuthorizedFetch() replaces a DPoP proof of the caller, in any letter case", async () => {
  const dpop = await createDpop();
  const { thumbprint: dpopThumbprint } = dpop;
  for (const name of ["DPoP", "dpop"]) {
    const { api, received } = resourceFetch(() => undefined, {
      dpop,
      store: memoryStore({ ...SESSION, dpopThumbprint }),
    });
    await api(MCP, { headers: { [name]: "own" } });
    const [{ headers }] = received as [Received];
    assertMatch(headers.get("DPoP") ?? "", /^[\w-]+\.[\w-]+\.[\w-]+$/);
  }
});
