/**
 * The rows of the table of forward.md, each with a check. `tests/readme/forward_test.ts`
 * compares them with the page.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { memoryStore, sharedSignIn } from "../../../mod.ts";
import {
  createWebSignIn,
  type ForwardOptions,
  forwardRequest,
  type WebRequest,
} from "../../../lib/web/mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { KEY, ORIGIN, World } from "./_world.ts";

const API = "https://api.example/v1";
const RESERVED =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Fields = Record<string, string>;
type Given =
  & Partial<ForwardOptions>
  & { response?: Response; request?: WebRequest };

async function forwarding(path: string, init: RequestInit = {}, {
  response = new Response("ok"),
  path: at = "/api",
  url = API,
  headers,
  request = new Request(path.startsWith("http") ? path : ORIGIN + path, init),
}: Given = {}) {
  let sent: Request | undefined;
  const api = (input: string | URL | Request, init?: RequestInit) => {
    sent = new Request(input, init);
    return Promise.resolve(response);
  };
  const to = { path: at, url, headers };
  return { result: await forwardRequest(request, api, to), sent };
}

/** A site with a user, whose API responds with the body that it has received. */
async function siteOf(isSignedIn = true) {
  const received: Request[] = [];
  const world = new World({}, {
    async handle(request) {
      received.push(request);
      return new Response(await request.text());
    },
  });
  const browser = world.browser();
  if (isSignedIn) await browser.signIn();
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = {
      Cookie: browser.headers().get("Cookie")!,
      "Sec-Fetch-Site": "same-origin",
      "Sec-Fetch-Dest": "empty",
      ...init.headers as Fields,
    };
    const request = new Request(ORIGIN + path, { ...init, headers });
    return (await world.signIn.forward(request, { path: "/api" }))!;
  };
  return { world, browser, received, call };
}

async function urls() {
  const rows: [path: string, expected: string | undefined][] = [
    ["/api", API],
    ["/api/", `${API}/`],
    ["/api/a/b?c=d&e=%2F", `${API}/a/b?c=d&e=%2F`],
    ["/api?c=//evil.example", `${API}?c=//evil.example`],
    ["/api/a%2Fb", `${API}/a%2Fb`],
    // The absolute form of a request counts by its path.
    ["http://other.example/api/a", `${API}/a`],
    ["/apix", undefined],
    ["/API/a", undefined],
    ["/api%2Fa", undefined],
    ["/api;/a", undefined],
    ["/api/../a", undefined],
    ["/api/%2e%2E/a", undefined],
    ["/api\\..\\a", undefined],
  ];
  await eachRowInTurn(rows, async ([path, expected]) => {
    const { sent, result } = await forwarding(path);
    assertEquals([sent?.url, result?.status], [expected, expected && 200]);
  });
}

async function escapes() {
  const rows: [path: string, expected: string | number][] = [
    ["/api//evil.example/x", `${API}//evil.example/x`],
    ["/api/@evil.example", `${API}/@evil.example`],
    ["/api/https://evil.example", `${API}/https://evil.example`],
    ["/api/%2F%2Fevil.example", `${API}/%2F%2Fevil.example`],
    ["/api/a%3Fb%23c", `${API}/a%3Fb%23c`],
    ["/api/..%2fa", 404],
    ["/api/..%2F..%2Fa", 404],
    ["/api/..%5ca", 404],
    ["/api/%252e%252e/a", 404],
    ["/api/%2e%2e%2fa", 404],
    ["/api/..;/a", 404],
    ["/api/..%3b/a", 404],
    ["/api/a/%2e%2e%2f%2e%2e%2fb", 404],
    ["/api/..%252f..%252fa", 404],
  ];
  await eachRowInTurn(rows, async ([path, expected]) => {
    const { sent, result } = await forwarding(path);
    assertEquals(sent?.url ?? result?.status, expected);
  });
  const whole = { path: "/", url: "https://api.example" };
  const { sent } = await forwarding("", {}, {
    ...whole,
    request: {
      method: "GET",
      url: "//evil.example/x",
      headers: new Headers(),
    },
  });
  assertEquals(sent?.url, "https://api.example//evil.example/x");
}

async function otherApis() {
  const signIn = createWebSignIn(API, {
    origin: ORIGIN,
    client: { issuer: "https://auth.example", client_id: "a" },
    storeOf: () => memoryStore(),
    cookieKeys: [KEY],
    apis: sharedSignIn({ [API]: {}, [`${API}/admin`]: {} }),
    fetch: () => Promise.reject(new Error("Nothing is sent")),
  });
  const rows: [path: string, url: string | undefined, status: number][] = [
    ["/api/admin/a", undefined, 404],
    ["/api/admin", undefined, 404],
    ["/api/a", undefined, 401],
    ["/api/a", `${API}/admin`, 401],
  ];
  await eachRowInTurn(rows, async ([path, url, status]) => {
    const headers = { "Sec-Fetch-Site": "same-origin" };
    const request = new Request(ORIGIN + path, {
      headers: { ...headers, "Sec-Fetch-Dest": "empty" },
    });
    const response = await signIn.forward(request, { path: "/api", url });
    assertEquals(response?.status, status);
  });
  const request = new Request(`${ORIGIN}/api`);
  const other = { path: "/api", url: "https://other.example/" };
  await assertRejects(
    () => signIn.forward(request, other),
    Error,
    "url must be at or below https://api.example/v1 or https://api.example/v1/admin",
  );
}

async function methods() {
  for (const method of ["CONNECT", "TRACE", "track"]) {
    const headers = new Headers();
    const request = { method, url: "/api", headers };
    const { sent, result } = await forwarding("", {}, { request });
    assertEquals([sent, result?.status], [undefined, 405]);
  }
  for (const Upgrade of ["websocket", "h2c"]) {
    const headers = { Upgrade, Connection: "Upgrade" };
    const { sent, result } = await forwarding("/api", { headers });
    assertEquals([sent, result?.status], [undefined, 501]);
  }
  const { call } = await siteOf(false);
  const upgrade = await call("/api", { headers: { Upgrade: "websocket" } });
  assertEquals(upgrade.status, 501);
  for (const method of ["HEAD", "OPTIONS", "PUT", "DELETE", "PROPFIND"]) {
    assertEquals((await forwarding("/api", { method })).sent?.method, method);
  }
}

const GOING = {
  accept: "text/event-stream",
  "content-type": "application/json",
  "idempotency-key": "1",
  "if-none-match": '"1"',
  "last-event-id": "2",
  traceparent: "00-1-2-01",
};

async function requestHeaders() {
  const others = { "x-any": "1", "x-user": "admin", "baggage": "a" };
  const init = { method: "POST", headers: { ...GOING, ...others } };
  const { sent } = await forwarding("/api", init);
  assertEquals(Object.fromEntries(sent!.headers), GOING);
  const named = await forwarding("/api", init, { headers: ["X-Any"] });
  assertEquals(named.sent!.headers.get("x-any"), "1");
}

async function neverGoOn() {
  const dropped: Fields = {
    "accept-encoding": "br",
    authorization: "Bearer other",
    cookie: "sign-in=1",
    dpop: "proof",
    expect: "100-continue",
    forwarded: "for=10.0.0.1",
    host: "internal.example",
    "keep-alive": "timeout=9",
    origin: "https://evil.example",
    "proxy-authorization": "Basic x",
    referer: "https://app.example/secret",
    "sec-fetch-site": "same-origin",
    te: "trailers",
    "transfer-encoding": "chunked",
    "x-forwarded-for": "10.0.0.1",
    "x-forwarded-host": "internal.example",
    "x-http-method-override": "DELETE",
    "x-original-url": "/admin",
  };
  const fields: Fields = { ...GOING, ...dropped };
  const get = (name: string) => fields[name.toLowerCase()] ?? null;
  const request = { method: "GET", url: "/api", headers: { get } };
  const { sent } = await forwarding("", {}, { request });
  assertEquals(Object.fromEntries(sent!.headers), GOING);
  const connection = "close, Traceparent ,x-any";
  const { sent: less } = await forwarding("/api", {
    headers: { ...GOING, connection, "x-any": "1" },
  }, { headers: ["x-any"] });
  assertEquals(less!.headers.get("traceparent"), null);
  assertEquals(less!.headers.get("x-any"), null);
  // Lengths that a proxy has joined are no length.
  const joined = await forwarding("/api", {
    method: "POST",
    body: "body",
    headers: { "content-length": "4, 9" },
  });
  assertEquals(joined.sent!.headers.get("content-length"), null);
  const names = Object.keys(dropped).filter((name) =>
    !/^(accept-encoding|x-http|x-orig)/.test(name)
  );
  await eachRowInTurn(
    [...names, "connection", "upgrade", "a b"],
    (name) =>
      assertRejects(
        () => forwarding("/api", {}, { headers: [name] }),
        Error,
        "headers must be",
      ).then(() => {}),
  );
}

const COMING = {
  "accept-ranges": "bytes",
  "content-disposition": "attachment",
  "content-type": "text/html",
  etag: '"1"',
  link: '<https://api.example/v1?page=2>; rel="next"',
  "retry-after": "3",
};

async function responseHeaders() {
  const response = () =>
    new Response("body", {
      headers: { ...COMING, "X-Internal": "1", Vary: "*", Server: "a" },
    });
  const { result } = await forwarding("/api", {}, { response: response() });
  assertEquals(Object.fromEntries(result!.headers), {
    ...COMING,
    "cache-control": "no-store",
    "content-security-policy": `${RESERVED}, sandbox`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  const named = await forwarding("/api", {}, {
    response: response(),
    headers: ["X-Internal"],
  });
  assertEquals(named.result!.headers.get("x-internal"), "1");
}

const NEVER_BACK: Fields = {
  "access-control-allow-origin": "*",
  "alt-svc": 'h3=":443"',
  "cache-control": "public, max-age=3600",
  "clear-site-data": '"cookies"',
  "content-security-policy": "default-src *",
  "referrer-policy": "unsafe-url",
  refresh: "0; url=https://evil.example",
  "service-worker-allowed": "/",
  "set-cookie": "__Host-sign-in=x",
  "strict-transport-security": "max-age=1",
  "transfer-encoding": "chunked",
  "www-authenticate": "Bearer",
};

async function neverComeBack() {
  const headers = {
    ...NEVER_BACK,
    ...{ "cdn-cache-control": "max-age=9", "x-accel-redirect": "/secret" },
    ...{ "report-to": "{}", "nel": "{}", "permissions-policy": "camera=*" },
  };
  const { result } = await forwarding("/api", {}, {
    response: new Response("", { headers }),
  });
  for (const [name, value] of Object.entries(headers)) {
    assert(result!.headers.get(name) !== value, name);
  }
  await eachRowInTurn(
    [
      ...Object.keys(NEVER_BACK),
      "location",
      "content-location",
      "content-encoding",
    ],
    async (name) => {
      const named = { headers: [name.toUpperCase()] };
      await assertRejects(
        () => forwarding("/api", {}, named),
        Error,
        "headers must",
      );
    },
  );
}

async function caches() {
  const response = new Response("", {
    headers: { "Cache-Control": "public", Expires: "x", Age: "1" },
  });
  const { result } = await forwarding("/api", {}, { response });
  assertEquals(
    ["Cache-Control", "Expires", "Age"].map((name) =>
      result!.headers.get(name)
    ),
    ["no-store", null, null],
  );
}

async function shown() {
  const rows: [type: string, destination: string, type: string | null][] = [
    ["text/html", "document", "text/html"],
    ["image/svg+xml", "image", "image/svg+xml"],
    ["multipart/mixed; boundary=b", "empty", "multipart/mixed; boundary=b"],
    [" Multipart/x-mixed-replace", "document", null],
    ["multipart/x-mixed-replace", "image", null],
  ];
  await eachRowInTurn(rows, async ([type, destination, expected]) => {
    const response = new Response("", { headers: { "Content-Type": type } });
    const headers = { "Sec-Fetch-Dest": destination };
    const { result } = await forwarding("/api", { headers }, { response });
    const policy = result!.headers.get("Content-Security-Policy");
    assertEquals(policy, `${RESERVED}, sandbox`);
    assertEquals(result!.headers.get("Content-Type"), expected);
  });
  const headers = { "Content-Type": "application/pdf" };
  const response = new Response("", { headers });
  const { result } = await forwarding("/api", {}, { response });
  assertEquals(result!.headers.get("Content-Security-Policy"), RESERVED);
}

async function redirects() {
  const rows: [location: string, expected: string | null][] = [
    ["/v1/a?b#c", "/api/a?b#c"],
    ["b", "/api/b"],
    ["https://api.example/v1", "/api"],
    ["https://api.example/v1/\\evil.example", "/api//evil.example"],
    ["/v1/a%0d%0aSet-Cookie:%20b=c", "/api/a%0d%0aSet-Cookie:%20b=c"],
    ["/v1/..%2fa", "https://api.example/v1/..%2fa"],
    ["https://api.example/v2/a", "https://api.example/v2/a"],
    ["https://files.example/a?signature", "https://files.example/a?signature"],
    ["//files.example/a", "https://files.example/a"],
    ["javascript:alert(1)", null],
    ["data:text/html,a", null],
    ["https://user:password@files.example", null],
    ["https://", null],
  ];
  await eachRowInTurn(rows, async ([location, expected]) => {
    const headers = { location, "content-location": location };
    const response = new Response(null, { status: 307, headers });
    const { result } = await forwarding("/api/a", {}, { response });
    assertEquals([result!.status, result!.headers.get("location")], [
      307,
      expected,
    ]);
    assertEquals(result!.headers.get("content-location"), expected);
  });
  const response = new Response(null, {
    status: 303,
    headers: { location: "https://api.example//evil.example/x" },
  });
  const whole = { path: "/", url: "https://api.example", response };
  const { result } = await forwarding("/", {}, whole);
  assertEquals(result!.headers.get("location"), null);
  // A browser would repeat a POST there, as a page of the site.
  const { world, call } = await siteOf();
  world.change = (_, init) =>
    init?.headers && "Authorization" in init.headers
      ? new Response(null, {
        status: 307,
        headers: { Location: `${ORIGIN}/logout` },
      })
      : new Response();
  const own = await call("/api/a", { method: "POST", body: "a" });
  assertEquals([own.status, own.headers.get("Location")], [307, null]);
}

async function compression() {
  const rows: [fields: Fields, kept: (string | null)[]][] = [
    [{ "content-length": "2" }, ["2", null]],
    [{ "content-length": "9", "content-encoding": "gzip" }, [null, null]],
    [{ "content-length": "9", "content-encoding": "br, GZIP" }, [null, null]],
    [{ "content-length": "9", "content-encoding": "dcb" }, [null, "dcb"]],
  ];
  await eachRowInTurn(rows, async ([headers, kept]) => {
    const response = new Response("ok", { headers });
    const { result } = await forwarding("/api", {}, { response });
    assertEquals(
      ["content-length", "content-encoding"].map((name) =>
        result!.headers.get(name)
      ),
      kept,
    );
  });
  const { sent } = await forwarding("/api", { headers: { range: "bytes=1-" } });
  assertEquals(sent!.headers.get("accept-encoding"), "identity");
}

async function statuses() {
  for (const status of [200, 204, 205, 304, 400, 401, 403, 416, 500, 599]) {
    const body = [204, 205, 304].includes(status) ? null : "text";
    const response = new Response(body, { status });
    const { result } = await forwarding("/api", {}, { response });
    assertEquals([result?.status, await result?.text()], [status, body ?? ""]);
  }
}

async function smallBodies() {
  const { call, world, received } = await siteOf();
  world.servers.advance(60);
  world.servers.expireAccessTokens();
  const body = "a".repeat(262_144);
  const headers = { "Content-Length": `${body.length}` };
  const response = await call("/api/a", { method: "POST", body, headers });
  assertEquals([response.status, await response.text()], [200, body]);
  // Without a body, as Node has it.
  world.servers.expireAccessTokens();
  const none = await call("/api/a", {
    method: "DELETE",
    body: new Blob([]).stream(),
    duplex: "half",
  } as RequestInit);
  assertEquals(none.status, 200);
  assertEquals(received.map(({ method }) => method), ["POST", "DELETE"]);
  assertEquals(world.servers.received("token", "refresh_token").length, 2);
}

async function otherBodies() {
  const rows: [length: string | undefined, isStream: boolean][] = [
    ["262144", false],
    ["262145", true],
    [undefined, true],
    ["1e1", true],
  ];
  await eachRowInTurn(rows, async ([length, isStream]) => {
    let sent: RequestInit = {};
    const request = new Request(`${ORIGIN}/api`, {
      method: "PATCH",
      body: "12345",
      headers: length === undefined ? {} : { "content-length": length },
    });
    await forwardRequest(request, (_, init) => {
      sent = init;
      return Promise.resolve(new Response());
    }, { path: "/api", url: API });
    assertEquals(sent.body instanceof ReadableStream, isStream);
    const kept = new Headers(sent.headers).get("content-length");
    assertEquals(kept, length === "262145" ? length : null);
    assertEquals(await new Response(sent.body).text(), "12345");
  });
  const { call, world } = await siteOf();
  world.servers.advance(60);
  const init = { method: "POST", body: "x" };
  world.servers.expireAccessTokens();
  let isEnded = false;
  world.change = ({ status, headers, body: given }) => {
    const cancel = () => void (isEnded = true);
    const body = status === 401 ? new ReadableStream({ cancel }) : given;
    return new Response(body, { status, headers });
  };
  const again = await call("/api/a", init);
  assert(isEnded);
  assertEquals(
    [again.status, again.headers.get("Retry-After"), await again.json()],
    [503, "0", { code: "send_again", login: `${ORIGIN}/login` }],
  );
  assertEquals((await call("/api/a", init)).status, 200);
  // No refresh helps: the page is told that the user has to sign in.
  world.servers.revoke();
  const ended = await call("/api/a", init);
  assertEquals([ended.status, (await ended.json()).code], [
    401,
    "sign_in_required",
  ]);
}

async function parsedBodies() {
  const common = { method: "POST", url: "/api", headers: new Headers() };
  async function* none() {}
  const locked = new ReadableStream();
  locked.getReader();
  const requests: WebRequest[] = [
    { ...common, body: new URLSearchParams("a=b") },
    { ...common, body: Object.assign(none(), { readableDidRead: true }) },
    { ...common, body: locked },
    { ...common, body: none(), bodyUsed: true },
    { ...common, headers: new Headers({ "Content-Length": "2" }) },
  ];
  const { signIn } = new World();
  await eachRowInTurn(requests, async (request) => {
    const message = "forward before express.json()";
    for (
      const call of [
        () => forwarding("", {}, { request }),
        () => signIn.forward(request, { path: "/api" }),
      ]
    ) await assertRejects(call, Error, message);
  });
  // What is not forwarded, or has no body, is nobody's concern.
  const [first] = requests as [WebRequest];
  assertEquals(await signIn.forward(first, { path: "/other" }), undefined);
  const get = { ...first, method: "GET" };
  assertEquals((await forwarding("", {}, { request: get })).sent?.body, null);
}

async function lostBodies() {
  async function* leaving() {
    yield await Promise.resolve(new Uint8Array(1));
    throw new Error("aborted");
  }
  const headers = new Headers({ "Content-Length": "2" });
  const body = leaving();
  const request = { method: "PUT", url: "/api", headers, body };
  const { sent, result } = await forwarding("", {}, { request });
  assertEquals([sent, result?.status], [undefined, 400]);
}

async function otherSites() {
  const { call, received } = await siteOf();
  const rows: [init: RequestInit, status: number][] = [
    [{ headers: { "Sec-Fetch-Site": "cross-site" } }, 403],
    [{ headers: { "Sec-Fetch-Site": "same-site" } }, 403],
    [{
      headers: { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document" },
    }, 403],
    [
      { headers: { "Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document" } },
      200,
    ],
    [{ headers: { "Sec-Fetch-Site": "" } }, 403],
    ...["cross-site", "same-site"].flatMap((site) =>
      ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
        .map((type): [RequestInit, number] => [{
          method: "POST",
          body: "a=b",
          headers: {
            "Sec-Fetch-Site": site,
            "Sec-Fetch-Dest": "document",
            "Content-Type": type,
          },
        }, 403])
    ),
  ];
  await eachRowInTurn(rows, async ([init, status]) => {
    received.length = 0;
    assertEquals((await call("/api/a", init)).status, status);
    assertEquals(received.length, status === 200 ? 1 : 0);
  });
  // Browsers without Sec-Fetch-Site.
  const { world, browser } = await siteOf();
  const origins: [origin: string | undefined, status: number][] = [
    [ORIGIN, 200],
    ["null", 403],
    ["https://evil.example", 403],
    [`${ORIGIN}.evil.example`, 403],
    [`${ORIGIN}:8443`, 403],
    [undefined, 403],
  ];
  await eachRowInTurn(origins, async ([origin, status]) => {
    for (const method of ["GET", "POST"]) {
      const headers = {
        Cookie: browser.headers().get("Cookie")!,
        ...origin !== undefined && { Origin: origin },
      };
      const request = new Request(`${ORIGIN}/api/a`, { method, headers });
      const response = await world.signIn.forward(request, { path: "/api" });
      assertEquals(response?.status, status, method);
    }
  });
}

async function scripts() {
  const { call, received } = await siteOf();
  const refused = ["script", "style", "serviceworker", "worker", "xslt"];
  const others = ["sharedworker", "audioworklet", "embed", "object", "iframe"];
  for (const name of [...refused, ...others, "dictionary"]) {
    const headers = { "Sec-Fetch-Dest": name };
    assertEquals((await call("/api/a", { headers })).status, 403, name);
  }
  assertEquals(received.length, 0);
  for (const name of ["empty", "image", "document", "video"]) {
    const headers = { "Sec-Fetch-Dest": name };
    assertEquals((await call("/api/a", { headers })).status, 200, name);
  }
}

async function signedOut() {
  const { call, browser, world } = await siteOf(false);
  const script = await call("/api/a", { method: "POST", body: "x" });
  assertEquals([script.status, await script.json()], [401, {
    code: "sign_in_required",
    login: `${ORIGIN}/login`,
  }]);
  const headers = { "Sec-Fetch-Dest": "document" };
  const page = await call("/api/a", { headers });
  assertEquals(page.status, 303);
  browser.keep(page);
  const url = page.headers.get("Location")!;
  const back = new URL(await world.servers.receiver.visit(url));
  const done = await browser.open(back.pathname + back.search);
  // Not to `/api/a`: the server redirects there, as another site does.
  assertEquals(done.headers.get("Location"), `${ORIGIN}/`);
  world.change = () => Promise.reject(new TypeError("fetch failed"));
  assertEquals((await call("/api/a")).status, 503);
}

async function leaving() {
  const { call, world } = await siteOf();
  const controller = new AbortController();
  const { signal } = controller;
  let seen: AbortSignal | null | undefined;
  world.change = (_, init) => {
    seen = init?.signal;
    controller.abort();
    return Promise.reject(new DOMException("Aborted", "AbortError"));
  };
  assertEquals((await call("/api/a", { signal })).status, 499);
  assertEquals([seen?.aborted, world.errors.length], [true, 0]);
}

export const FORWARD_ROWS: Record<string, () => Promise<void>> = {
  "URL | `path` stands for `url`, and the query stays. Returns undefined for other paths":
    urls,
  "Escapes from `path` | `..` in any encoding: `404`, or another path. `//`, `@` and `\\` never reach another host":
    escapes,
  "Another API below `url` | `404`. Forward it with its own `url`": otherApis,
  "Methods | All but `CONNECT`, `TRACE` and `TRACK`: `405`. An upgrade, such as to WebSocket: `501`":
    methods,
  "Headers of the request | A list: content, conditions, ranges, `Accept`, `Idempotency-Key`, `Prefer`, tracing, MCP. Add names with `headers`":
    requestHeaders,
  "Never sent | `Cookie`, `Authorization`, `Origin`, `Referer`, `Host`, `Forwarded`, `X-Forwarded-*`, `Sec-*`, and headers that `Connection` names":
    neverGoOn,
  "Headers of the response | A list: content, `ETag`, ranges, `Link`, `Retry-After`, rate limits. Add names with `headers`":
    responseHeaders,
  "Never returned | `Set-Cookie`, `WWW-Authenticate`, CORS, `Clear-Site-Data`, CSP, HSTS, `Alt-Svc`, `Refresh`":
    neverComeBack,
  "Caches | `Cache-Control: no-store`, because the data is a user's": caches,
  "What a browser shows | Runs no script, and has no origin (`sandbox`, except PDF). A `multipart/*` type is removed, except for `fetch`":
    shown,
  "Redirects | Below `url`: to the place below `path`. To the rest of your site: no `Location`. To other sites: unchanged, without the token":
    redirects,
  "Compression | `fetch` decodes the API's body. `Range` requests bytes as they are":
    compression,
  "Status | The API's own": statuses,
  "Body up to 256 KiB | Kept, and sent again with a new token after a `401`":
    smallBodies,
  "Longer, or of unknown length | Streamed. After a `401`, the token is renewed, and your page gets `503`, `Retry-After: 0` and the code `send_again`":
    otherBodies,
  "Body that a parser has read | Rejects with `invalid_argument`: forward before `express.json()`":
    parsedBodies,
  "Body that doesn't arrive | `400`": lostBodies,
  "Other sites, your other hosts | `403`, even for a link": otherSites,
  "Scripts, styles, workers, frames | `403`": scripts,
  "User signed out | `401` in JSON. A user who opens the URL signs in, and gets to `homePath`":
    signedOut,
  "Browser leaves | The API's call is aborted": leaving,
};
