/**
 * The library against servers of the MCP SDK and against networks that play
 * tricks, over loopback. The other real server is in `real_servers_test.ts`.
 */
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  DEFAULT_REDIRECT_URIS,
  fetchAuthorizationServerMetadata,
  fetchDynamicRegistration,
  fetchResourceMetadata,
  type IAuthorizationServerMetadata,
  type IRequestOptions,
  isAuthorizationAuthorizeResponse,
  isAuthorizationDeviceResponse,
  OAuthClientError,
  parseWWWAuthenticateHeader,
} from "../../mod.ts";
import { listen } from "../servers/_node_http.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";
import {
  type IMcpSdkServerOptions,
  startMcpSdkServer,
} from "../servers/mcp_sdk_server.ts";
import { startProtectedResource } from "../servers/protected_resource.ts";
import { deferred } from "../support/stub_fetch.ts";

const RESOURCE_PATH = "/.well-known/oauth-protected-resource";
const SERVER_PATH = "/.well-known/oauth-authorization-server";
const OPENID_PATH = "/.well-known/openid-configuration";

/** A server for one purpose; its origin has no slash at the end. */
function serve(handler: Deno.ServeHandler) {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = Deno.serve(options, handler);
  const origin = `http://127.0.0.1:${server.addr.port}`;
  return Object.assign(server, { origin });
}

function redirect(location: string): Response {
  const headers = { Location: location };
  return new Response("Moved", { status: 307, headers });
}

/** Where nothing listens. */
function closedOrigin(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
}

function metadataOf(origin: string): IAuthorizationServerMetadata {
  return {
    issuer: origin,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ["code"],
  };
}

Deno.test("fetchResourceMetadata() leads from a 401 to a client that the server accepts", async () => {
  await using server = await startAuthorizationServer({ path: "/tenant1" });
  await using target = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
  });
  const { resource } = target;

  const refused = await fetch(resource);
  await refused.body?.cancel();
  assertEquals(refused.status, 401);
  const [challenge] = parseWWWAuthenticateHeader(
    refused.headers.get("WWW-Authenticate") ?? "",
  );
  const { resource_metadata, scope } = challenge?.params ?? {};
  assertEquals(resource_metadata, target.metadataUrl);
  const found = await fetchResourceMetadata(resource, resource_metadata);
  const [issuer] = found.metadata.authorization_servers ?? [];
  const { metadata } = await fetchAuthorizationServerMetadata(issuer!);
  const scopes = scope?.split(" ");
  const client = await fetchDynamicRegistration(metadata, "My client", scopes);
  assertEquals(target.requests, ["GET /mcp", `GET ${RESOURCE_PATH}/mcp`]);
  assertEquals(server.requests, [
    `GET ${SERVER_PATH}/tenant1`,
    `GET ${OPENID_PATH}/tenant1`,
    `GET /tenant1${OPENID_PATH}`,
    "POST /tenant1/reg",
  ]);

  const response = await fetch(metadata.device_authorization_endpoint!, {
    method: "POST",
    body: new URLSearchParams({ client_id: client.client_id, scope: scope! }),
  });
  assert(isAuthorizationDeviceResponse(await response.json()));
});

const atPath = [`${RESOURCE_PATH}/mcp`];
const atRoot = [...atPath, RESOURCE_PATH];
const rootOnly = { metadataAtPath: false, metadataAtRoot: true };
const appWithRoot = { ...rootOnly, unknownPages: "app" } as const;

const found: [what: string, IMcpSdkServerOptions, path: string, string[]][] = [
  ["at the path", {}, "/mcp", atPath],
  ["at path and root", { metadataAtRoot: true }, "/mcp", atPath],
  ["of a resource at the root", { path: "/" }, "/", [RESOURCE_PATH]],
  ["at the root, 404 in HTML", rootOnly, "/", atRoot],
  ["at the root, 200 in HTML", appWithRoot, "/", atRoot],
];

for (const [what, options, path, requests] of found) {
  Deno.test(`fetchResourceMetadata() finds metadata of the MCP SDK ${what}`, async () => {
    await using server = await startMcpSdkServer(options);
    const { origin } = server;
    const result = await fetchResourceMetadata(server.resource, undefined);
    const { metadata, discoveryUrl, errors } = result;
    assertEquals(metadata.resource, origin + path);
    assertEquals(metadata.authorization_servers, [server.issuer]);
    assertEquals(discoveryUrl, origin + requests.at(-1));
    assertEquals(errors.length, requests.length - 1);
    assertEquals(server.requests, requests.map((one) => `GET ${one}`));
  });
}

const discoveries = {
  fetchResourceMetadata: {
    run: (origin: string) => fetchResourceMetadata(`${origin}/mcp`, undefined),
    kind: "resource metadata",
    paths: atRoot,
  },
  fetchAuthorizationServerMetadata: {
    run: (origin: string) => fetchAuthorizationServerMetadata(`${origin}/as`),
    kind: "authorization server metadata",
    paths: [`${SERVER_PATH}/as`, `${OPENID_PATH}/as`, `/as${OPENID_PATH}`],
  },
};

for (const [name, { run, kind, paths }] of Object.entries(discoveries)) {
  for (const unknownPages of ["html", "json", "app"] as const) {
    Deno.test(`${name}() collects all failures where there is no metadata (pages: ${unknownPages})`, async () => {
      await using server = await startMcpSdkServer({
        unknownPages,
        metadataAtPath: false,
        serverMetadata: false,
      });
      const { origin, requests } = server;
      const failure = await assertRejects(() => run(origin), AggregateError);
      const failed = `Failed to fetch ${kind} from `;
      assertEquals(failure.message, `${failed}all attempted URLs`);
      assertEquals(requests, paths.map((path) => `GET ${path}`));
      assertEquals(failure.errors.length, paths.length);
      const app = unknownPages === "app";
      const status = app ? 200 : 404;
      const code = app ? "invalid_metadata" : "unexpected_status";
      for (const [index, path] of paths.entries()) {
        const url = origin + path;
        const page = await (await fetch(url)).text();
        const error = failure.errors[index];
        assertInstanceOf(error, OAuthClientError);
        assertEquals({ ...error }, { name: error.name, code, url, status });
        assertStringIncludes(
          error.message,
          app && kind === "resource metadata"
            ? `Invalid resource metadata from ${url}. `
            : `${failed}${url}: ${status} ${page}`,
        );
      }
    });
  }
}

Deno.test("fetchDynamicRegistration() registers at the MCP SDK, whose issuer ends with a slash", async () => {
  await using server = await startMcpSdkServer();
  const { metadata } = await fetchAuthorizationServerMetadata(server.issuer);
  assertEquals(metadata.issuer, `${server.origin}/`);
  const client = await fetchDynamicRegistration(metadata, "My client", ["a"]);
  assertEquals(server.requests, [`GET ${SERVER_PATH}`, "POST /register"]);
  assertEquals(client.redirect_uris, [...DEFAULT_REDIRECT_URIS]);
  // The SDK lists no device grant.
  assertEquals(client.grant_types, ["authorization_code", "refresh_token"]);
  assertEquals(client.token_endpoint_auth_method, "none");
  assertEquals(client.client_secret, undefined);
  const authorize = new URL(metadata.authorization_endpoint!);
  authorize.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: DEFAULT_REDIRECT_URIS[0]!,
  }) +
    "&response_type=code&code_challenge=c&code_challenge_method=S256&state=s";
  const response = await fetch(authorize, { redirect: "manual" });
  await response.body?.cancel();
  const back = new URL(response.headers.get("Location") ?? authorize);
  assertEquals(back.origin + back.pathname, DEFAULT_REDIRECT_URIS[0]);
  const parameters = Object.fromEntries(back.searchParams);
  assert(isAuthorizationAuthorizeResponse(parameters));
});

Deno.test("fetchDynamicRegistration() tells what the MCP SDK refuses", async () => {
  await using server = await startMcpSdkServer();
  const { metadata } = await fetchAuthorizationServerMetadata(server.issuer);
  const options = { redirectUris: ["no URL"] };
  const { code, status, error, error_description, message } =
    await assertRejects(
      () => fetchDynamicRegistration(metadata, "My client", [], options),
      OAuthClientError,
    );
  assertEquals([code, status], ["oauth_error", 400]);
  assertStringIncludes(error_description ?? "", '"redirect_uris"');
  assertEquals(error, "invalid_client_metadata");
  const failed = `Registration to ${server.origin}/register failed: `;
  assertEquals(message, `${failed}${error}: ${error_description}`);
});

Deno.test("fetchResourceMetadata() sends sameOriginHeaders to the resource's origin only", async () => {
  const seen: [url: string, key: string | null][] = [];
  await using other = serve(({ url, headers }) => {
    seen.push([url, headers.get("X-Key")]);
    return new Response("Not here", { status: 404 });
  });
  await using own = serve(({ url, headers }) => {
    seen.push([url, headers.get("X-Key")]);
    return url.endsWith("/mcp")
      ? redirect(`${other.origin}/elsewhere`)
      : Response.json({ resource: own.origin });
  });
  const { errors } = await fetchResourceMetadata(
    `${own.origin}/mcp`,
    `${other.origin}/named`,
    { sameOriginHeaders: { "X-Key": "secret" } },
  );
  assertEquals(seen, [
    [`${other.origin}/named`, null],
    [`${own.origin}${RESOURCE_PATH}/mcp`, "secret"],
    [own.origin + RESOURCE_PATH, "secret"],
  ]);
  const statuses = errors.map((error) => (error as OAuthClientError).status);
  assertEquals(statuses, [404, 307]);
});

Deno.test("fetchAuthorizationServerMetadata() follows a redirect within the origin", async () => {
  const seen: [path: string, key: string | null][] = [];
  await using server = serve(({ url, headers }) => {
    const { origin, pathname } = new URL(url);
    seen.push([pathname, headers.get("X-Key")]);
    return pathname === "/metadata"
      ? Response.json({ issuer: origin })
      : redirect("/metadata");
  });
  const { origin } = server;
  const { metadata, discoveryUrl } = await fetchAuthorizationServerMetadata(
    origin,
    { additionalHeaders: { "X-Key": "secret" } },
  );
  assertEquals(metadata.issuer, origin);
  assertEquals(discoveryUrl, origin + SERVER_PATH);
  assertEquals(seen, [[SERVER_PATH, "secret"], ["/metadata", "secret"]]);
});

Deno.test("fetchDynamicRegistration() follows no redirect", async () => {
  const seen: string[] = [];
  await using server = serve(({ method, url }) => {
    seen.push(`${method} ${new URL(url).pathname}`);
    return redirect("/new");
  });
  const { code, status, message } = await assertRejects(
    () => fetchDynamicRegistration(metadataOf(server.origin), "My client"),
    OAuthClientError,
  );
  assertEquals([code, status], ["redirect_refused", 307]);
  const endpoint = `${server.origin}/register`;
  assertEquals(message, `Registration to ${endpoint} failed: Moved`);
  assertEquals(seen, ["POST /register"]);
});

Deno.test("fetchAuthorizationServerMetadata() collects what fetch threw where nothing listens", async () => {
  const run = () => fetchAuthorizationServerMetadata(closedOrigin());
  const { errors } = await assertRejects(run, AggregateError);
  const names = errors.map(({ name }) => name);
  assertEquals(names, ["TypeError", "TypeError", "TypeError"]);
});

Deno.test("fetchResourceMetadata() throws what fetch threw where nothing listens", async () => {
  const run = () => fetchResourceMetadata(closedOrigin(), undefined);
  await assertRejects(run, TypeError);
});

Deno.test("fetchDynamicRegistration() throws a network_error where nothing listens", async () => {
  const metadata = metadataOf(closedOrigin());
  const { code, url, status, cause, message } = await assertRejects(
    () => fetchDynamicRegistration(metadata, "My client"),
    OAuthClientError,
  );
  assertEquals([code, status], ["network_error", undefined]);
  assertEquals(url, metadata.registration_endpoint);
  assertInstanceOf(cause, TypeError);
  // Deno tells of the refused connection in the cause of the cause.
  assertEquals(
    message,
    `Request to ${url} failed: ${cause} (${(cause.cause as Error).message})`,
  );
});

type Operation = (origin: string, options: IRequestOptions) => Promise<unknown>;

const operations: Record<string, Operation> = {
  fetchResourceMetadata: (origin, options) =>
    fetchResourceMetadata(origin, undefined, options),
  fetchAuthorizationServerMetadata,
  fetchDynamicRegistration: (origin, options) =>
    fetchDynamicRegistration(metadataOf(origin), "My client", [], options),
};

for (const [name, run] of Object.entries(operations)) {
  for (const stop of ["before its answer", "amid its body"]) {
    Deno.test(`${name}() hangs up with the caller's reason on a server that stops ${stop}`, async () => {
      const asked = deferred<void>();
      const left = deferred<string>();
      const server = await listen();
      const late = setTimeout(() => {
        left.resolve("still there");
        server.close();
      }, 5_000);
      server.handle((request, response) => {
        request.resume();
        response.on("close", () => left.resolve("hung up"));
        if (stop === "amid its body") response.write('{"iss');
        else asked.resolve();
      });
      try {
        const controller = new AbortController();
        const reason = { why: "the user left" };
        const failure = run(server.origin, {
          signal: controller.signal,
          fetch: async (url, init) => {
            const response = await fetch(url, init);
            asked.resolve();
            return response;
          },
        }).catch((error) => error);
        await Promise.race([asked.promise, failure]);
        controller.abort(reason);
        assertStrictEquals(await failure, reason);
        assertEquals(await left.promise, "hung up");
        assertEquals(server.requests.length, 1);
      } finally {
        clearTimeout(late);
        await server.close();
      }
    });
  }
}
