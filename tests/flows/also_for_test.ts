/** The URLs of `alsoFor`, over sockets: which requests have the token. */
import { assertEquals } from "@std/assert";
import { createAuthorizedFetch } from "../../mod.ts";
import { serve } from "../servers/_serve.ts";
import {
  type IReceived,
  startSessionServers,
} from "../servers/session_servers.ts";
import { assertRejectsCode } from "../support/fixtures.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";

/** An API with URLs at two servers, and a server that is not of it. */
async function startApi() {
  await using started = new AsyncDisposableStack();
  const servers = started.use(await startSessionServers());
  const log: string[] = [];
  /** What some URLs of the three servers respond with, in place of 200 or 401. */
  const responses = new Map<string, () => Response>();
  const respond = (
    url: string,
    { method, headers, body }: Pick<IReceived, "method" | "headers" | "body">,
  ) => {
    const token = headers.get("Authorization")?.slice(7);
    const own = headers.get("X-Own");
    const kept = [token && "token", own && "own", body].filter(Boolean);
    log.push([method, url, ...kept].join(" "));
    const status = servers.tokens().includes(token ?? "") ? 200 : 401;
    return responses.get(url)?.() ?? new Response(null, { status });
  };
  const startServer = () => {
    const server = serve(async (request) => {
      const { url, method, headers } = request;
      const body = await request.text();
      return respond(url, { method, headers, body });
    });
    started.defer(server.close);
    return server.origin;
  };
  const files = startServer();
  const out = startServer();
  servers.handler = (received) =>
    respond(servers.origin + received.path + received.search, received);
  const { resource, origin } = servers;
  const running = started.move();
  const api = createAuthorizedFetch(resource, {
    authorize: servers.flow(),
    alsoFor: [`${files}/v1`],
  });
  await within(LIMIT_MS, api.authorize());
  log.length = 0;
  return {
    ...{ servers, api, files, out, origin, resource },
    /** Makes a URL redirect to another one. */
    redirect(from: string, to: string, status = 302) {
      const headers = { Location: to };
      responses.set(from, () => new Response(null, { status, headers }));
    },
    responses,
    /** Makes a call; returns its status, and what the three servers received. */
    async call(url: string, init: RequestInit = {}) {
      const headers = { "X-Own": "1" };
      const response = api(url, { ...init, headers });
      const status = await statusOf(within(LIMIT_MS, response));
      return [status, ...log.splice(0)];
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

Deno.test("createAuthorizedFetch() sends the token over sockets to the URLs of alsoFor, and to no other of their origins", async () => {
  await using world = await startApi();
  const { files, origin } = world;
  const rows: [url: string, isCovered: boolean][] = [
    [`${origin}/mcp`, true],
    [`${origin}/mcp/read`, true],
    [`${origin}/mcp2`, false],
    [`${origin}/other`, false],
    [`${files}/v1`, true],
    [`${files}/v1?path=..%2f`, true],
    [`${files}/v1/a/b`, true],
    [`${files}/v10`, false],
    [`${files}/v1.old/a`, false],
    [`${files}/`, false],
    [`${files}/mcp`, false],
    [`${files}/v1/..%2fv2`, false],
    [`${files}/v1/%252e%252e/v2`, false],
    [`${files}/v1/..;x/v2`, false],
  ];
  for (const [url, isCovered] of rows) {
    assertEquals(
      await world.call(url),
      isCovered ? [200, `GET ${url} token own`] : [401, `GET ${url} own`],
    );
  }
  // The URL parser removes the dot segment before anything is sent.
  const url = `${files}/v1/../v2`;
  assertEquals(await world.call(url), [401, `GET ${files}/v2 own`]);
  assertEquals(world.servers.visits.length, 1);
});

Deno.test("createAuthorizedFetch() keeps the token over sockets in redirects among its URLs, with method and body", async () => {
  await using world = await startApi();
  const { files, resource } = world;
  world.redirect(`${resource}/a`, `${files}/v1/b`, 307);
  world.redirect(`${files}/v1/b`, `${resource}/c`, 308);
  for (const method of ["GET", "POST"]) {
    const body = method === "POST" ? "hello" : "";
    const init = { method, ...(body && { body }) };
    const end = `token own ${body}`.trim();
    assertEquals(await world.call(`${resource}/a`, init), [
      200,
      `${method} ${resource}/a ${end}`,
      `${method} ${files}/v1/b ${end}`,
      `${method} ${resource}/c ${end}`,
    ]);
  }
});

Deno.test("createAuthorizedFetch() does not send the token over sockets again once a redirect has led out", async () => {
  await using world = await startApi();
  const { files, out, origin, resource } = world;
  // Another origin; and paths that are not covered, at either origin.
  const exits: [exit: string, isOtherOrigin: boolean][] = [
    [`${out}/x`, true],
    [`${origin}/x`, true],
    [`${files}/x`, false],
    [`${files}/v1/..%2fx`, false],
  ];
  for (const [exit, isOtherOrigin] of exits) {
    world.redirect(`${files}/v1/a`, exit);
    world.redirect(exit, `${resource}/b`);
    assertEquals(await world.call(`${files}/v1/a`), [
      401,
      `GET ${files}/v1/a token own`,
      `GET ${exit}${isOtherOrigin ? "" : " own"}`,
      `GET ${resource}/b`,
    ]);
  }
  // The caller's own session is of no use to a URL that another server has selected.
  assertEquals(world.servers.visits.length, 1);
  const post = { method: "POST", body: "hello" };
  world.redirect(`${files}/v1/a`, `${out}/x`, 307);
  await assertRejectsCode(
    () => world.call(`${files}/v1/a`, post),
    "redirect_refused",
  );
});

Deno.test("createAuthorizedFetch() lets a challenge of alsoFor over sockets select scopes, and no server", async () => {
  await using world = await startApi();
  const { servers, files, out, resource } = world;
  const url = `${files}/v1/a`;
  const challenge = (status: number, error: string, scope: string) => () =>
    new Response(null, {
      status,
      headers: {
        "WWW-Authenticate": `Bearer error="${error}", scope="${scope}", ` +
          `resource_metadata="${out}/.well-known/oauth-protected-resource"`,
      },
    });
  const once = (response: () => Response) =>
    world.responses.set(url, () => {
      world.responses.delete(url);
      return response();
    });
  const scopes = () =>
    servers.visits.map(({ searchParams }) => searchParams.get("scope"));
  once(challenge(403, "insufficient_scope", "files"));
  const get = `GET ${url} token own`;
  // The resource itself is asked for the server.
  const ask = `GET ${resource}`;
  assertEquals(await world.call(url), [200, get, ask, get]);
  assertEquals(scopes(), ["read", "read files"]);

  servers.revoke(true);
  world.responses.set(url, challenge(401, "invalid_token", "write"));
  const refused = await world.call(url);
  assertEquals(refused, [401, get, ask, get]);
  assertEquals(scopes(), ["read", "read files", "read files write"]);
});
