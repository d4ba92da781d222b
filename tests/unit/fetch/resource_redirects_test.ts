/** A resource selects where its redirects lead, and another server what follows. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  createAuthorizedFetch,
  memoryStore,
  OAuthClientError,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  API,
  assertRejectsCode,
  MCP,
  pinRejected,
  pinThrown,
} from "../../support/fixtures.ts";
import {
  type Received,
  redirection,
  resourceFetch,
  SESSION,
} from "../../support/resource.ts";
import { never } from "../../support/stub_fetch.ts";

const OTHER = "https://other.example/file";

function redirecting(
  location: string,
  status = 307,
  options: Partial<AuthorizedFetchOptions> = {},
) {
  return resourceFetch(
    ({ url }) => url === MCP ? redirection(location, status) : undefined,
    options,
  );
}

const FIELDS = {
  "Accept": "text/plain",
  "Accept-Language": "en",
  "Range": "bytes=0-9",
  "User-Agent": "test/1",
  "Content-Type": "text/x",
  "Cookie": "c=1",
  "Mcp-Session-Id": "session",
  "Proxy-Authorization": "Basic cDpw",
  "X-Api-Key": "key",
};

function namesOf({ headers }: Received): string[] {
  return [...headers.keys()];
}

Deno.test("createAuthorizedFetch() leaves the caller's header fields behind in a redirect to another origin", async () => {
  const expected = ["accept", "accept-language", "range", "user-agent"];
  const rows: [method: string, body?: string, status?: number][] = [
    ["GET"],
    ["HEAD"],
    ["POST", "b", 303],
    ["POST", "b", 302],
  ];
  await eachRowInTurn(rows, async ([method, body = null, status = 307]) => {
    for (const isRequest of [false, true]) {
      const { api, received } = redirecting(OTHER, status);
      const init = { method, body, headers: FIELDS };
      await (isRequest ? api(new Request(MCP, init)) : api(MCP, init));
      const [first, second] = received;
      assertEquals(namesOf(first!).includes("x-api-key"), true);
      assertEquals([second!.url, second!.body], [OTHER, ""]);
      assertEquals(second!.method, method === "POST" ? "GET" : method);
      assertEquals(namesOf(second!), expected);
    }
  });
});

Deno.test("createAuthorizedFetch() follows no other response: 201 with a Location, and 302 without", async () => {
  const rows: [status: number, headers: HeadersInit][] = [
    [201, { Location: `${API}/notes/1` }],
    [304, { Location: `${API}/notes/1` }],
    [302, {}],
  ];
  await eachRowInTurn(rows, async ([status, headers]) => {
    const { api, received } = resourceFetch(() =>
      new Response(null, { status, headers })
    );
    const response = await api(MCP, { method: "POST", body: "b" });
    assertEquals([response.status, received.length], [status, 1]);
  });
});

Deno.test("createAuthorizedFetch() keeps header fields and body in a redirect within the origin", async () => {
  const { api, received } = redirecting(`${API}/other`);
  await api(MCP, { method: "POST", body: "b", headers: FIELDS });
  const [, second] = received;
  assertEquals([second!.method, second!.body], ["POST", "b"]);
  assertEquals(second!.headers.get("X-Api-Key"), "key");
  assertEquals(second!.headers.has("Authorization"), false);
});

const REDIRECTS: [
  method: string,
  location: string,
  options: Partial<AuthorizedFetchOptions>,
  isFollowed?: true,
][] = [
  ["POST", OTHER, {}],
  ["put", OTHER, {}],
  ["OPTIONS", OTHER, {}],
  ["GET", "http://other.example/file", {}],
  ["GET", "http://api.example/mcp", {}],
  ["GET", "http://127.0.0.1:6379/", {}],
  ["GET", "https://localhost/", {}],
  ["HEAD", "https://[::1]/", {}],
  ["GET", "http://other.example/file", { allowHttp: true }, true],
  ["GET", "http://127.0.0.1:6379/", { allowHttp: true }, true],
  ["POST", OTHER, { allowHttp: true }],
  ["GET", OTHER, { allowUrl: () => false }],
  ["GET", "https://u:p@other.example/", {}],
];

for (const [method, location, options, isFollowed] of REDIRECTS) {
  const what = isFollowed ? "follows" : "refuses";
  Deno.test(`createAuthorizedFetch() ${what} a redirect of a ${method} to ${location} with ${Object.keys(options)}`, async () => {
    const { api, received, urls } = redirecting(location, 307, options);
    const call = () => api(MCP, { method });
    if (isFollowed) {
      assertEquals((await call()).status, 200);
      assertEquals(received.at(-1)!.url, location);
      return;
    }
    await pinRejected(call, "redirect_refused", { url: MCP });
    assertEquals(urls, [MCP]);
  });
}

Deno.test("createAuthorizedFetch() calls allowUrl for each redirect after it has left the origin", async () => {
  const asked: string[] = [];
  const routes: Record<string, string> = {
    [MCP]: `${API}/mcp/a`,
    [`${API}/mcp/a`]: OTHER,
    [OTHER]: "https://other.example/next",
    "https://other.example/next": `${MCP}?back`,
  };
  const { api, received } = resourceFetch(
    ({ url }) => routes[url] ? redirection(routes[url]) : undefined,
    { allowUrl: (url, purpose) => asked.push(`${purpose} ${url}`) > 0 },
  );
  await api(MCP, { headers: FIELDS });
  assertEquals(asked, [
    `resource ${OTHER}`,
    "resource https://other.example/next",
    `resource ${MCP}?back`,
  ]);
  const last = received.at(-1)!;
  assertEquals(last.url, `${MCP}?back`);
  assertEquals(namesOf(last).includes("x-api-key"), false);
});

Deno.test("createAuthorizedFetch() keeps what allowUrl throws as the cause", async () => {
  const thrown = new Error("no such host");
  const allowUrl = () => Promise.reject(thrown);
  const { api } = redirecting(OTHER, 307, { allowUrl });
  const error = await assertRejectsCode(() => api(MCP), "redirect_refused");
  assertEquals(error.cause, thrown);
});

Deno.test("createAuthorizedFetch() does not wait for allowUrl after an abort", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const { api, urls } = redirecting(OTHER, 307, {
    allowUrl() {
      controller.abort(reason);
      return never();
    },
  });
  const { signal } = controller;
  assertEquals(await assertRejects(() => api(MCP, { signal })), reason);
  assertEquals(urls, [MCP]);
});

Deno.test("createAuthorizedFetch() requires https or loopback of the resource, also with a session", () => {
  const authorize = () => Promise.resolve(SESSION);
  const create = (resource: string, allowHttp?: boolean) => {
    const store = memoryStore({ ...SESSION, resource });
    return createAuthorizedFetch(resource, {
      flow: authorize,
      store,
      allowHttp,
    });
  };
  for (const resource of ["http://api.example/mcp", "http://10.0.0.1/"]) {
    pinThrown(() => create(resource), "url_refused");
    create(resource, true);
  }
  create("http://localhost/mcp");
  create("http://127.0.0.1:1/");
  assertThrows(() => create("ftp://api.example"), OAuthClientError);
});
