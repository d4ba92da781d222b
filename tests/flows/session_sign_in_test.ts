/** How a sign-in begins and ends: signIn(), finish() and the options for servers. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { codeFlow, memoryStore, type PendingAuthorization } from "../../mod.ts";
import { startSessionServers } from "../servers/session_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  CODE_SERVER,
  MCP,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import { resourceFetch, type Respond, SESSION } from "../support/resource.ts";
import { deferred } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  authorizations,
  expiringIn,
  fetchAt,
  NOW,
  signingInWith,
  test,
} from "./_session_world.ts";

Deno.test("createAuthorizedFetch().signIn() requests the resource without a token for its challenge, whatever the status", async () => {
  for (const status of [200, 302, 401, 403, 404, 405, 500]) {
    await using servers = await startSessionServers();
    servers.handler = ({ method, authorization, headers }) => {
      assertEquals([method, authorization, headers.get("x")], [
        "GET",
        null,
        "1",
      ]);
      return new Response(null, {
        status,
        headers: {
          "WWW-Authenticate": 'Bearer scope="challenged"',
          Location: "/elsewhere",
        },
      });
    };
    const asked: string[] = [];
    const api = fetchAt(servers, {
      resourceMetadataHeaders: { x: "1" },
      allowUrl: (url, purpose) => {
        if (purpose === "resource") asked.push(url.href);
        return true;
      },
    });
    await within(LIMIT_MS, api.signIn());
    const [visit] = servers.visits;
    assertEquals(visit?.searchParams.get("scope"), "challenged");
    // No redirect is followed.
    assertEquals(servers.calls.map(({ path }) => path), ["/mcp"]);
    assertEquals(asked, [servers.resource]);
  }
});

test.beforeSignIn(".signIn() does not wait for the end of a stream, nor for a resource that does not respond", async ({ servers, api, scopes }) => {
  const cancelled = deferred<void>();
  servers.handler = () =>
    new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
  await within(LIMIT_MS, api.signIn());
  assertEquals(scopes(), ["read"]);
  await within(LIMIT_MS, cancelled.promise);

  const silent = fetchAt(servers, {
    fetch: (input, init) =>
      String(input) === servers.resource
        ? Promise.reject(new TypeError("Cable cut"))
        : fetch(input, init),
  });
  await within(LIMIT_MS, silent.signIn());
  assertEquals(servers.visits.length, 2);
});

test.beforeSignIn(".signIn() does not request the resource where the caller names the server, or refuses", async ({ servers }) => {
  const named = fetchAt(servers, { authorizationServer: servers.issuer });
  await within(LIMIT_MS, named.signIn());
  assertEquals(servers.calls.length, 0);
  const refusing = fetchAt(servers, {
    allowUrl: (_url, purpose) => purpose !== "resource",
  });
  await assertRejectsCode(
    () => within(LIMIT_MS, refusing.signIn()),
    "url_refused",
  );
});

Deno.test("createAuthorizedFetch() accepts the iss of the issuer that trustedIssuers names for the server", async () => {
  const upstream = "https://upstream.example";
  await using servers = await startSessionServers();
  const signIn = async (trustedIssuers?: Record<string, string>) => {
    const api = fetchAt(servers, {
      trustedIssuers,
      flow: servers.flow({
        visit: async (url) => {
          const response = await fetch(url, { redirect: "manual" });
          await response.body?.cancel();
          const callback = new URL(response.headers.get("Location") ?? "");
          callback.searchParams.set("iss", upstream);
          return callback;
        },
      }),
    });
    return await api.signIn().then(
      ({ issuer }) => issuer,
      (error) => error.code,
    );
  };
  const { issuer } = servers;
  assertEquals(await within(LIMIT_MS, signIn()), "issuer_mismatch");
  const rows: [trusted: Record<string, string>, outcome: string][] = [
    [{ [issuer]: upstream }, issuer],
    [{ [`${issuer}/`]: upstream }, issuer],
    [{ [issuer]: "https://other.example" }, "issuer_mismatch"],
    [{ "https://other.example": upstream }, "issuer_mismatch"],
  ];
  await eachRowInTurn(rows, async ([trusted, outcome]) => {
    assertEquals(await within(LIMIT_MS, signIn(trusted)), outcome);
  });
});

Deno.test("createAuthorizedFetch() with serverMetadata uses no session of another issuer", async () => {
  const { authorize } = signingInWith({
    ...SESSION,
    issuer: "https://b.example",
  });
  const { api, received } = resourceFetch(undefined, {
    flow: authorize,
    serverMetadata: {
      issuer: "https://b.example",
      token_endpoint: TOKEN_ENDPOINT,
    },
    store: memoryStore(SESSION),
  });
  await api(MCP);
  assertEquals(authorizations(received), [null]);
  await assertRejectsCode(() => api.save(SESSION), "issuer_mismatch");
  assertEquals((await api.signIn()).issuer, "https://b.example");
});

Deno.test("createAuthorizedFetch() checks the endpoints of serverMetadata before a user is asked", () => {
  for (
    const [members, code] of [
      [{}, "unsupported"],
      [{ token_endpoint: "as.example/token" }, "url_refused"],
      [{ token_endpoint: "http://as.example/token" }, "url_refused"],
      [
        {
          token_endpoint: TOKEN_ENDPOINT,
          authorization_endpoint: "/authorize",
        },
        "url_refused",
      ],
      [{ token_endpoint: TOKEN_ENDPOINT, issuer: "" }, "invalid_argument"],
    ] as const
  ) {
    const serverMetadata = { issuer: AS, ...members };
    assertThrowsCode(() => resourceFetch(undefined, { serverMetadata }), code);
  }
});

const FILES = "https://files.example/v1";

Deno.test("renew() accepts a response of alsoFor, and no other", async () => {
  const { authorize } = signingInWith();
  const { api } = resourceFetch(undefined, {
    flow: authorize,
    alsoFor: [FILES],
  });
  const refused = (url: string) =>
    Object.defineProperty(new Response(null, { status: 401 }), "url", {
      value: url,
    });
  await assertRejectsCode(
    () => api.renew(refused("https://files.example/")),
    "invalid_argument",
  );
  assert(await api.renew(refused(`${FILES}/a`)));
});

Deno.test("signIn() with fresh has the user sign in with the same client", async () => {
  const seen: (string | undefined)[] = [];
  const fresh = expiringIn(3600, "fresh");
  const { api } = resourceFetch(undefined, {
    now: () => NOW,
    store: memoryStore(expiringIn(3600)),
    flow: ({ session }) => {
      seen.push(session?.client?.client_id);
      return Promise.resolve(fresh);
    },
  });
  assertEquals((await api.signIn()).token.access_token, "t1");
  // Two at once are one sign-in.
  const both = await Promise.all([
    api.signIn({ fresh: true }),
    api.signIn({ fresh: true }),
  ]);
  assertEquals(both, [fresh, fresh]);
  assertEquals(seen, ["c1"]);
  await api.signIn({ fresh: true });
  assertEquals(seen, ["c1", "c1"]);
});

Deno.test("signIn() with fresh goes on with a session that is saved meanwhile", async () => {
  const asked = deferred<void>();
  const { api } = resourceFetch(undefined, {
    now: () => NOW,
    store: memoryStore(expiringIn(3600)),
    flow: ({ signal }) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        signal!.addEventListener("abort", () => reject(signal!.reason))
      );
    },
  });
  const call = api.signIn({ fresh: true });
  await within(LIMIT_MS, asked.promise);
  const saved = expiringIn(3600, "saved");
  await api.save(saved);
  assertEquals(await within(LIMIT_MS, call), saved);
});

Deno.test("finish() finishes a sign-in with the options of the fetch, and saves it", async () => {
  let kept: PendingAuthorization | undefined;
  const authorize = codeFlow({
    client: { issuer: AS, client_id: "c1", client_secret: "s3cret" },
    redirectUri: REDIRECT_URI,
    visit: (_url, { pending }) => {
      kept = pending;
      return Promise.reject(new Error("redirected"));
    },
  });
  const store = memoryStore();
  const userAgent = "app/1.0";
  const options = {
    flow: authorize,
    store,
    serverMetadata: CODE_SERVER,
    userAgent,
  };
  const respond: Respond = ({ url }) =>
    url === TOKEN_ENDPOINT
      ? Response.json({ access_token: "t2" })
      : url === MCP
      ? new Response(null, { status: 401 })
      : undefined;
  const { api } = resourceFetch(respond, options);
  await assertRejects(() => api(MCP), Error, "redirected");
  // Another request to a web server, perhaps in another process.
  const { api: other, received } = resourceFetch(respond, options);
  const callback = `${REDIRECT_URI}?code=c1&state=${kept!.state}`;
  const pending = JSON.parse(JSON.stringify(kept));
  const session = await other.finish(new Request(callback), pending);
  assertEquals(session.token.access_token, "t2");
  assertEquals(await store.load(), session);
  assertEquals(received.map(({ url }) => url), [TOKEN_ENDPOINT]);
  assertEquals(received[0]!.headers.get("User-Agent"), "app/1.0");
});

Deno.test("finish() refuses a sign-in for another resource, and saves nothing", async () => {
  const pending: PendingAuthorization = {
    version: 1,
    state: "s",
    codeVerifier: "v".repeat(43),
    redirectUri: REDIRECT_URI,
    issuer: AS,
    resource: "https://other.example/",
    server: SESSION.server,
    client: SESSION.client,
    scopes: [],
  };
  const store = memoryStore();
  const { api } = resourceFetch(
    ({ url }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ access_token: "t2" })
        : undefined,
    { store },
  );
  await assertRejectsCode(
    () => api.finish("code=c&state=s", pending),
    "identifier_mismatch",
  );
  assertEquals(await store.load(), undefined);
});
