/** The proxy for agents as a program, in Node and in Deno: what it does, and attacks on it. */

import { connect } from "node:net";
import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  startTestServers,
  type TestServersOptions,
} from "../../lib/testing/mod.ts";
import { bundle } from "../support/bundle.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { onFreePort } from "../support/free_port.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { mapArgs, path } from "./_programs.ts";

/** A request that the API received. */
interface Call {
  readonly line: string;
  readonly headers: Headers;
  readonly body: string;
}

const event = (name: string, data: object) =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const streamOf = (...texts: string[]) =>
  new Response(texts.join(""), {
    headers: { "Content-Type": "text/event-stream" },
  });

/** Imitates `chat/completions` of OpenAI. */
function complete({ stream }: { stream?: boolean }): Response {
  const choice = { index: 0, finish_reason: null };
  if (!stream) {
    const message = { role: "assistant", content: "whole of OpenAI" };
    return Response.json({ choices: [{ ...choice, message }] });
  }
  const parts = ["Hel", "lo"].map((content) =>
    `data: ${JSON.stringify({ choices: [{ ...choice, delta: { content } }] })}`
  );
  return streamOf([...parts, "data: [DONE]", ""].join("\n\n"));
}

/** Imitates `v1/messages` of Anthropic. */
function message({ stream }: { stream?: boolean }): Response {
  const text = "whole of Anthropic";
  const usage = { input_tokens: 1, output_tokens: 1 };
  const whole = { id: "1", type: "message", role: "assistant", usage };
  if (!stream) {
    return Response.json({ ...whole, content: [{ type: "text", text }] });
  }
  const at = { index: 0 };
  const block = { type: "text", text: "" };
  return streamOf(
    event("message_start", {
      type: "message_start",
      message: { ...whole, content: [] },
    }),
    event("content_block_start", {
      ...at,
      type: "content_block_start",
      content_block: block,
    }),
    ...["Good", " day"].map((text) =>
      event("content_block_delta", {
        ...at,
        type: "content_block_delta",
        delta: { type: "text_delta", text },
      })
    ),
    event("content_block_stop", { ...at, type: "content_block_stop" }),
    event("message_delta", {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage,
    }),
    event("message_stop", { type: "message_stop" }),
  );
}

/** Starts two APIs of one authorization server; `calls` are the requests with a token. */
async function startApis() {
  const calls: Call[] = [];
  let finish = () => {};
  const handle: TestServersOptions["handle"] = async (request) => {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const body = await request.text();
    calls.push({ line: `${method} ${pathname}${search}`, headers, body });
    if (pathname.endsWith("/chat/completions")) {
      return complete(JSON.parse(body));
    }
    if (pathname.endsWith("/v1/messages")) return message(JSON.parse(body));
    if (pathname === "/v1/events") {
      const first = new TextEncoder().encode("data: 1\n\n");
      const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start(controller) {
          controller.enqueue(first);
          finish = () => controller.close();
        },
      });
      return new Response(stream, {
        headers: { "Content-Type": "text/event-stream" },
      });
    }
    return Response.json({ pathname }, {
      headers: {
        "Set-Cookie": "session=of-the-api",
        "WWW-Authenticate": 'Bearer resource_metadata="https://evil.example"',
        "Request-Id": "of-the-api",
      },
    });
  };
  const servers = await startTestServers({
    resource: "https://api.example/v1",
    handle,
  });
  const mail = new URL("/mail", servers.resource).href;
  // The servers have one API. To the authorization server, the other one is the same.
  servers.intercept = async ({ url, method, headers, body, params }) => {
    if (url.pathname === "/.well-known/oauth-protected-resource/mail") {
      const authorization_servers = [servers.issuer];
      return Response.json({ resource: mail, authorization_servers });
    }
    if (params.getAll("resource").includes(mail)) {
      const own = (text: string) =>
        text.replaceAll(
          encodeURIComponent(mail),
          encodeURIComponent(servers.resource),
        );
      return await servers.fetch(own(url.href), {
        method,
        headers,
        ...body && { body: own(body) },
      });
    }
    if (url.href.startsWith(mail)) {
      const token = headers.get("Authorization")?.replace("Bearer ", "") ?? "";
      const status = servers.accessTokens().includes(token) ? 200 : 401;
      if (status === 200) {
        calls.push({ line: `${method} ${url.pathname}`, headers, body });
      }
      return Response.json({ mail: true }, { status });
    }
    return undefined;
  };
  return { servers, mail, calls, finish: () => finish() };
}

type Apis = Awaited<ReturnType<typeof startApis>>;

const PAGE = new URL("../../.github/docs/agents.md", import.meta.url);

/** Returns the settings of the page, with the API of the test and two more paths. */
async function settingsOf({ servers: { resource }, mail }: Apis) {
  const [, given = ""] =
    /```json\n(.*?)```/s.exec(await Deno.readTextFile(PAGE)) ?? [];
  const { apis, paths } = JSON.parse(
    given.replaceAll("https://gateway.example", resource),
  );
  return {
    session: ".session.json",
    apis: { ...apis, [mail]: { scopes: ["read"] } },
    paths: [
      {
        path: "/api",
        url: resource,
        headers: ["anthropic-version", "request-id"],
        allow: ["GET /me", "GET /items/*", "POST /items", "GET /events"],
        env: ["API_URL", "API_SECRET"],
      },
      {
        path: "/mail",
        url: mail,
        allow: ["GET /messages"],
        env: ["MAIL_URL", "MAIL_SECRET"],
      },
      ...paths,
    ],
  };
}

const RUNTIMES = {
  async Node(directory: string) {
    const program = `${directory}/proxy.mjs`;
    await bundle(path("hosts/agent_proxy.ts"), program, []);
    return ["node", program];
  },
  async Deno() {
    const permissions = [
      ...["--allow-net", "--allow-read", "--allow-write", "--allow-env"],
      ...["--allow-run", "--allow-sys"],
    ];
    return [
      ...[Deno.execPath(), "run", "--quiet", "--no-prompt"],
      ...[...await mapArgs(), ...permissions, path("hosts/agent_proxy.ts")],
    ];
  },
};

/** Starts the proxy for a user with the umask 0, who signs in at once. */
async function startProxy(runtime: keyof typeof RUNTIMES, socket?: string) {
  await using started = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir();
  started.defer(() => Deno.remove(directory, { recursive: true }));
  // Other users of the machine get as far as to the files in it.
  await Deno.chmod(directory, 0o755);
  const apis = await startApis();
  started.defer(apis.servers.close);
  const browser = `${directory}/browser`;
  await Deno.writeTextFile(
    browser,
    `#!/bin/sh\nexec "${Deno.execPath()}" eval 'await fetch(Deno.args[0])' "$1"\n`,
  );
  await Deno.chmod(browser, 0o700);
  const command = await RUNTIMES[runtime](directory);
  const start = () =>
    onFreePort(async (port) => {
      const url = socket ? "http://localhost" : `http://127.0.0.1:${port}`;
      const settings = { url, socket, ...await settingsOf(apis) };
      await Deno.writeTextFile(
        `${directory}/agent.json`,
        JSON.stringify(settings),
      );
      const child = new Deno.Command("sh", {
        args: ["-c", 'umask 0; exec "$@"', "sh", ...command, "agent.json"],
        cwd: directory,
        env: { BROWSER: browser, NO_COLOR: "1" },
        stdout: "piped",
        stderr: "piped",
        signal: AbortSignal.timeout(90_000),
      }).spawn();
      let log = "";
      const ended = child.stderr.pipeThrough(new TextDecoderStream())
        .pipeTo(new WritableStream({ write: (text) => void (log += text) }));
      const reader = child.stdout.pipeThrough(new TextDecoderStream())
        .getReader();
      let text = "";
      while (!text.includes("ANTHROPIC_AUTH_TOKEN")) {
        const { value, done } = await within(LIMIT_MS, reader.read());
        if (done) {
          await ended;
          throw new Error(log);
        }
        text += value;
      }
      const env = Object.fromEntries(
        text.trim().split("\n").map((line) => line.split(/=(.*)/).slice(0, 2)),
      ) as Record<string, string>;
      const stop = async () => {
        await reader.cancel();
        child.kill();
        await Promise.all([child.status, ended]);
      };
      return { env, url: new URL(url), pid: child.pid, log: () => log, stop };
    });
  const first = await start();
  const running = started.move();
  return {
    ...apis,
    ...first,
    secret: first.env.API_SECRET!,
    file: socket && `${directory}/${socket}`,
    start,
    [Symbol.asyncDispose]: async () => {
      await first.stop().catch(() => {});
      await running.disposeAsync();
    },
  };
}

type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** A request, line for line. What a row leaves out is as a program sends it. */
interface Raw {
  readonly line?: string;
  readonly host?: readonly string[];
  readonly authorization?: readonly string[];
  readonly fields?: readonly string[];
  readonly body?: string;
}

/** Sends a request; returns the response as text, empty if there was none. */
async function send(
  { url, file, secret }: Proxy,
  {
    line = "GET /api/items/a",
    host = [url.host],
    authorization = [`Bearer ${secret}`],
    fields = [],
    body = "",
  }: Raw,
): Promise<string> {
  const lines = [
    / HTTP\/1\.\d$/.test(line) ? line : `${line} HTTP/1.1`,
    ...host.map((one) => `Host: ${one}`),
    ...authorization.map((one) => `Authorization: ${one}`),
    ...fields,
    "Connection: close",
  ];
  const ended = Promise.withResolvers<void>();
  const socket = connect(
    file ? { path: file } : { host: "127.0.0.1", port: Number(url.port) },
  );
  let text = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk) => text += chunk);
  socket.on("error", ended.reject);
  socket.on("close", () => ended.resolve());
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`, "latin1");
  await within(LIMIT_MS, ended.promise);
  return text;
}

/** Returns the status; 0 if the connection was closed without a response. */
const statusOf = (text: string) =>
  Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);

type Row = [name: string, request: Raw, status: number];

/** Returns requests that must reach no API. */
function attacksOn({ url: { host, port, origin }, secret }: Proxy): Row[] {
  const bearer = `Bearer ${secret}`;
  const path = (path: string): Row => [
    `path ${path}`,
    { line: `GET ${path}` },
    404,
  ];
  const hosts = (...host: string[]): Row => [`Host: ${host}`, { host }, 421];
  const authorization = (name: string, ...authorization: string[]): Row => [
    name,
    { authorization },
    403,
  ];
  const page = (field: string): Row => [field, { fields: [field] }, 403];
  const line = (line: string, status: number): Row => [line, { line }, status];
  const malformed = (name: string, ...fields: string[]): Row => [
    name,
    { line: "POST /api/items", fields, body: "0\r\n\r\n" },
    400,
  ];
  return [
    authorization("no secret"),
    authorization("empty secret", "Bearer "),
    authorization("wrong secret", `Bearer ${secret.replace(/^./, "-")}`),
    authorization("a part of the secret", bearer.slice(0, -1)),
    authorization("more than the secret", `${bearer}a`),
    authorization("no scheme", secret),
    authorization("Basic", `Basic ${btoa(`user:${secret}`)}`),
    authorization("two lines, the first wrong", "Bearer a", bearer),
    authorization("two lines, the second wrong", bearer, "Bearer a"),
    authorization("two lines, both right", bearer, bearer),
    [
      "secret in other places",
      {
        line: `GET /api/items/a?access_token=${secret}`,
        authorization: [],
        fields: [`X-Api-Key: ${secret}`, `Proxy-Authorization: ${bearer}`],
      },
      403,
    ],

    hosts("evil.example"),
    hosts(`evil.example:${port}`),
    hosts(`127.0.0.1:${Number(port) + 1}`),
    hosts("127.0.0.1"),
    hosts(`127.1:${port}`),
    hosts(`localhost.:${port}`),
    hosts(`localhost:${port}`),
    hosts(`a@${host}`),
    hosts(host, host),
    hosts(host, "evil.example"),
    hosts("evil.example", host),
    ["no Host", { host: [] }, 400],
    [
      "no Host in HTTP/1.0",
      { line: "GET /api/items/a HTTP/1.0", host: [] },
      421,
    ],

    page("Origin: https://evil.example"),
    page("Origin: null"),
    page(`Origin: ${origin}`),
    page("Sec-Fetch-Site: cross-site"),
    page("Sec-Fetch-Site: same-origin"),
    page("Sec-Fetch-Site: none"),

    line(`GET ${origin}/api/items/a`, 404),
    line("GET http://evil.example/api/items/a", 404),
    line(`CONNECT ${host}`, 0),
    line("CONNECT evil.example:443", 0),
    line("TRACE /api/items/a", 404),
    line("OPTIONS *", 404),
    ["Upgrade", { fields: ["Upgrade: websocket", "Connection: Upgrade"] }, 501],
    line("DELETE /api/items/a", 404),
    line("HEAD /api/items/a", 404),
    line("POST /api/items/a", 404),
    line("POST /api/me", 404),
    line("get /api/items/a", 400),
    line("GET @evil.example/api/items/a", 400),

    path("/"),
    path("/api"),
    path("/api/items"),
    path("/api/me/"),
    path("/api/me/a"),
    path("/api/m%65"),
    path("/api/me;a"),
    path("/API/me"),
    path("/mail/items/a"),
    path("/api/items/.."),
    path("/api/items/../admin"),
    path("/api/items/a/../../me"),
    path("/api/items/%2e%2e/admin"),
    path("/api/items/.%2E/admin"),
    path("/api/items/..%2fadmin"),
    path("/api/items/%2e%2e%2Fadmin"),
    path("/api/items/%252e%252e/admin"),
    path("/api/items/..%252fadmin"),
    path("/api/items/..;/admin"),
    path("/api/items/..;a=b/admin"),
    path("/api/items/..\\admin"),
    path("/api/items/..%5cadmin"),
    path("/api/items/../../../evil.example"),
    path("//evil.example/api/items/a"),
    path("/\\evil.example/api/items/a"),
    path("//api/items/a"),

    malformed(
      "a length and chunks",
      "Content-Length: 5",
      "Transfer-Encoding: chunked",
    ),
    malformed("two lengths", "Content-Length: 5", "Content-Length: 0"),
    malformed("another coding", "Transfer-Encoding: xchunked"),
    malformed("a space in a name", "X-A : 1", "Content-Length: 5"),
    malformed(
      "a folded line",
      "X-A: 1",
      " Host: evil.example",
      "Content-Length: 5",
    ),
    malformed("a NUL", "X-A: a\0b", "Content-Length: 5"),
    malformed("a bare LF", "X-A: a\nHost: evil.example", "Content-Length: 5"),
  ];
}

/** What the API receives of header fields: each row is sent alone, next to the secret. */
const FIELDS: [given: string, name: string, received: string | null][] = [
  ["Anthropic-Version: 2023-06-01", "anthropic-version", "2023-06-01"],
  ["Accept: text/plain", "accept", "text/plain"],
  // The secret is not passed on, so the token is not dropped with it.
  ["Connection: authorization", "keep-alive", null],
  ["X-HTTP-Method-Override: DELETE", "x-http-method-override", null],
  ["X-Original-URL: /admin", "x-original-url", null],
  ["X-Forwarded-For: 10.0.0.1", "x-forwarded-for", null],
  ["X-Api-Key: key", "x-api-key", null],
  ["Proxy-Authorization: Basic a", "proxy-authorization", null],
  ["DPoP: proof", "dpop", null],
  ["Cookie: a=b", "cookie", null],
];

const REQUEST = `require("node:http").get(JSON.parse(process.argv[1]))
  .on("response", ({ statusCode }) => console.log(statusCode))
  .on("error", ({ code }) => console.log(code));`;

/** Returns what another user of the machine obtains, who has no secret. */
async function asNobody({ url: { host, port }, file }: Proxy): Promise<string> {
  const request = {
    ...file ? { socketPath: file } : { port },
    path: "/api/items/a",
    headers: { host },
  };
  const nobody = { uid: 65_534, gid: 65_534 };
  const { stdout } = await new Deno.Command("node", {
    args: ["-e", REQUEST, JSON.stringify(request)],
    cwd: "/",
    ...nobody,
  }).output();
  return new TextDecoder().decode(stdout).trim();
}

const canBecomeNobody = Deno.build.os === "linux" && Deno.uid() === 0;
if (!canBecomeNobody) {
  console.log(
    "Only root can run a program as another user: agent_proxy.ts has no such attack",
  );
}

const RUNS = ["Node", "Deno"] as const;

for (const runtime of RUNS) {
  Deno.test(`agent_proxy.ts in ${runtime} lets no attack reach an API`, async () => {
    await using proxy = await startProxy(runtime);
    const check = async ([, request, status]: Row) => {
      const text = await send(proxy, request);
      assertEquals([statusOf(text), proxy.calls], [status, []], text);
    };
    await eachRowInTurn(attacksOn(proxy), check);
    if (canBecomeNobody) assertEquals(await asNobody(proxy), "403");
    // The rows fail by what they change, and the proxy has survived them.
    assertEquals(statusOf(await send(proxy, {})), 200);
    assertEquals(proxy.calls.length, 1);
  });

  Deno.test({
    name:
      `agent_proxy.ts in ${runtime} listens on a socket that is the user's alone`,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using proxy = await startProxy(runtime, "proxy.sock");
      assertEquals((await Deno.stat(proxy.file!)).mode! & 0o777, 0o600);
      if (Deno.build.os === "linux") {
        const status = await Deno.readTextFile(`/proc/${proxy.pid}/status`);
        assertMatch(status, /^Umask:\t0000$/m);
      }
      if (canBecomeNobody) assertEquals(await asNobody(proxy), "EACCES");
      const rows: Row[] = [
        ["own", {}, 200],
        ["no secret", { authorization: [] }, 403],
        ["another host", { host: ["evil.example"] }, 421],
      ];
      await eachRowInTurn(rows, async ([, request, status]) => {
        assertEquals(statusOf(await send(proxy, request)), status);
      });
      assertEquals(proxy.calls.length, 1);
    },
  });

  Deno.test(`agent_proxy.ts in ${runtime} forwards what is allowed, with the user's token`, async () => {
    await using proxy = await startProxy(runtime);
    const { calls, servers, secret, env } = proxy;
    const call = (url: string, init: RequestInit = {}) =>
      fetch(url, {
        ...init,
        headers: { Authorization: `Bearer ${secret}`, ...init.headers },
      });
    const seen = new Set<string>();
    /** Returns the only call of the API since the last time. */
    const received = () => {
      const [one, ...others] = calls.splice(0);
      assert(one && others.length === 0, `${calls.length} calls`);
      const token = one.headers.get("Authorization")!.replace("Bearer ", "");
      assert(servers.accessTokens().includes(token));
      seen.add(token);
      return one;
    };

    const response = await call(`${env.API_URL}/items/a%2Fb?c=d`);
    assertEquals(await response.json(), { pathname: "/v1/items/a%2Fb" });
    assertEquals(received().line, "GET /v1/items/a%2Fb?c=d");
    const names = ["Request-Id", "Set-Cookie", "WWW-Authenticate"];
    const fields = names.map((name) => response.headers.get(name));
    assertEquals(fields, ["of-the-api", null, null]);
    await (await call(`${env.API_URL}/items`, { method: "POST", body: "é" }))
      .text();
    const { line, body } = received();
    assertEquals([line, body], ["POST /v1/items", "é"]);
    assertEquals(await (await call(`${env.MAIL_URL}/messages`)).json(), {
      mail: true,
    });
    assertEquals(received().line, "GET /mail/messages");
    assertEquals(seen.size, 2, "Each API has its token");

    await eachRowInTurn(FIELDS, async ([given, name, expected]) => {
      assertEquals(statusOf(await send(proxy, { fields: [given] })), 200);
      assertEquals(received().headers.get(name), expected);
    });
    const hidden =
      `GET /api/items/hidden HTTP/1.1\r\nHost: ${proxy.url.host}\r\n\r\n`;
    const inBody = {
      fields: [`Content-Length: ${hidden.length}`],
      body: hidden,
    };
    assertEquals(statusOf(await send(proxy, inBody)), 200);
    assertEquals(received().line, "GET /v1/items/a");

    const events = await call(`${env.API_URL}/events`);
    const reader = events.body!.pipeThrough(new TextDecoderStream())
      .getReader();
    assertEquals((await within(LIMIT_MS, reader.read())).value, "data: 1\n\n");
    proxy.finish();
    assertEquals((await within(LIMIT_MS, reader.read())).done, true);
    received();

    servers.expireAccessTokens();
    const refreshes = servers.received("token", "refresh_token").length;
    const statuses = await Promise.all(Array.from({ length: 50 }, async () => {
      const response = await call(`${env.API_URL}/items`, {
        method: "POST",
        body: "a",
      });
      await response.text();
      return response.status;
    }));
    assertEquals(new Set(statuses), new Set([200]));
    assertEquals(
      servers.received("token", "refresh_token").length,
      refreshes + 1,
    );
    for (const { headers, body } of calls.splice(0, 50)) {
      assertEquals(body, "a");
      seen.add(headers.get("Authorization")!.replace("Bearer ", ""));
    }
    assertEquals([seen.size, calls.length], [3, 0]);

    // No call opens a browser. What a second start obtains, the first one uses.
    servers.revoke();
    const prompts = servers.received("authorization").length;
    const ended = await call(`${env.API_URL}/me`);
    assertEquals([ended.status, await ended.json()], [401, {
      error: "sign_in_required",
    }]);
    assertEquals(servers.received("authorization").length, prompts);
    const second = await proxy.start();
    await second.stop();
    assert(second.env.API_SECRET !== secret, "A secret for each start");
    assertEquals((await call(`${env.API_URL}/me?query=1`)).status, 200);
    received();

    const lines = () => proxy.log().match(/^(GET|POST) .*$/gm) ?? [];
    const count = 3 + FIELDS.length + 1 + 1 + 50 + 2;
    await until(LIMIT_MS, () => lines().length === count);
    for (const line of lines()) {
      assertMatch(line, /^[A-Z]+ \/[!->@-~]+ \d{3} \d+ ms$/);
    }
    for (const hidden of [secret, ...seen]) {
      assert(!proxy.log().includes(hidden), "A line has a secret or a token");
    }
  });
}

Deno.test("agent_proxy.ts serves the SDKs of OpenAI and Anthropic, which have only their environment", async () => {
  await using proxy = await startProxy("Node");
  const { env, calls, secret } = proxy;
  const own = ["DENO_DIR", "HOME", "PATH"].map((
    name,
  ) => [name, Deno.env.get(name)]);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", ...await mapArgs(), path("_agent.ts")],
    clearEnv: true,
    env: { ...Object.fromEntries(own.filter(([, value]) => value)), ...env },
  }).output();
  const decoder = new TextDecoder();
  assertEquals(code, 0, decoder.decode(stderr));
  assertEquals(decoder.decode(stdout).split("\n"), [
    ...["whole of OpenAI", "Hel", "lo"],
    ...["whole of Anthropic", "Good", " day", ""],
  ]);
  assertEquals(calls.map(({ line }) => line), [
    "POST /v1/openai/v1/chat/completions",
    "POST /v1/openai/v1/chat/completions",
    "POST /v1/anthropic/v1/messages",
    "POST /v1/anthropic/v1/messages",
  ]);
  const versions = calls.map(({ headers }) => headers.has("anthropic-version"));
  assertEquals(versions, [false, false, true, true]);
  for (const { headers } of calls) {
    assert(![...headers].some(([, value]) => value.includes(secret)));
  }
});
