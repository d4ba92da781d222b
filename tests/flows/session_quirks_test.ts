/** What servers that people run do, and sessions get along with. */
import { assertEquals } from "@std/assert";
import { memoryStore } from "../../mod.ts";
import {
  type ISessionServers,
  startSessionServers,
} from "../servers/session_servers.ts";
import { assertRejectsCode } from "../support/fixtures.ts";
import { deferred, statusOf, untyped } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import {
  fetchAt,
  refusal,
  signedIn,
  test,
  withoutRefresh,
} from "./_session_world.ts";

const scopeOf = ({ searchParams }: URL) => searchParams.get("scope");

/** Challenges each call without a valid token to request a scope. */
function challengeScope(servers: ISessionServers, scope: string): void {
  servers.handler = ({ authorization }) =>
    servers.tokens().includes(`${authorization?.slice(7)}`)
      ? undefined
      : refusal(401, `scope="${scope}"`);
}

Deno.test("createAuthorizedFetch().authorize() requests the resource without a token for its challenge, whatever the status", async () => {
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
      sameOriginHeaders: { x: "1" },
      allowUrl: (url, purpose) => {
        if (purpose === "resource") asked.push(url.href);
        return true;
      },
    });
    await within(LIMIT_MS, api.authorize());
    assertEquals(servers.visits.map(scopeOf), ["challenged"]);
    // No redirect is followed.
    assertEquals(servers.calls.map(({ path }) => path), ["/mcp"]);
    assertEquals(asked, [servers.resource]);
  }
});

Deno.test("createAuthorizedFetch().authorize() does not wait for the end of a stream, nor for a resource that does not respond", async () => {
  await using servers = await startSessionServers();
  const cancelled = deferred<void>();
  servers.handler = () =>
    new Response(new ReadableStream({ cancel: () => cancelled.resolve() }));
  await within(LIMIT_MS, fetchAt(servers).authorize());
  assertEquals(servers.visits.map(scopeOf), ["read"]);
  await within(LIMIT_MS, cancelled.promise);

  const api = fetchAt(servers, {
    fetch: (input, init) =>
      String(input) === servers.resource
        ? Promise.reject(new TypeError("Cable cut"))
        : fetch(input, init),
  });
  await within(LIMIT_MS, api.authorize());
  assertEquals(servers.visits.length, 2);
});

Deno.test("createAuthorizedFetch().authorize() does not request the resource where the caller names the server, or refuses", async () => {
  await using servers = await startSessionServers();
  const named = fetchAt(servers, { authorizationServer: servers.issuer });
  await within(LIMIT_MS, named.authorize());
  assertEquals(servers.calls.length, 0);
  const refusing = fetchAt(servers, {
    allowUrl: (_url, purpose) => purpose !== "resource",
  });
  await assertRejectsCode(
    () => within(LIMIT_MS, refusing.authorize()),
    "url_refused",
  );
});

test("requests the scopes of a lost session and of the challenge, and no more", async ({ servers, call, sent, scopes }) => {
  // The user steps up.
  await call("/write");
  servers.revoke(true);
  challengeScope(servers, "read list");
  assertEquals(await call(), 200);
  sent({ refreshes: 1, visits: 2 });
  assertEquals(scopes(), ["read write", "read write list"]);
});

Deno.test("createAuthorizedFetch() counts the scopes of a 401 as required, beside those of the flow", async () => {
  await using servers = await startSessionServers();
  challengeScope(servers, "list");
  const api = fetchAt(servers, {
    authorize: servers.flow({ scopes: ["read"] }),
  });
  assertEquals(await statusOf(within(LIMIT_MS, api(servers.resource))), 200);
  assertEquals(servers.visits.map(scopeOf), ["read list"]);
});

test("does not send a token that has expired", async ({ servers, store, session, clock, bearer, call, sent }) => {
  await store.save(withoutRefresh(session));
  // Without a refresh token, it is used to the end of its lifetime.
  clock.now += 3_590_000;
  assertEquals(await call(), 200);
  sent({});
  clock.now += 10_000;
  servers.calls.length = 0;
  assertEquals(await call(), 200);
  sent({ visits: 1 });
  const tokens = servers.calls.map(({ authorization }) => authorization);
  assertEquals(tokens.includes(bearer), false);
});

Deno.test("createAuthorizedFetch() accepts the iss of the issuer that trustedIssuers names for the server", async () => {
  const upstream = "https://upstream.example";
  await using servers = await startSessionServers();
  const signIn = async (trustedIssuers?: Record<string, string>) => {
    const api = fetchAt(servers, {
      trustedIssuers,
      authorize: servers.flow({
        visit: async (url) => {
          const response = await fetch(url, { redirect: "manual" });
          await response.body?.cancel();
          const callback = new URL(response.headers.get("Location") ?? "");
          callback.searchParams.set("iss", upstream);
          return callback;
        },
      }),
    });
    return await api.authorize().then(
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
  for (const [trusted, outcome] of rows) {
    assertEquals(await within(LIMIT_MS, signIn(trusted)), outcome);
  }
});

Deno.test("createAuthorizedFetch().revoke() resolves to whether the server was told", async () => {
  const rows: [answer: Response | undefined, isTold: boolean][] = [
    [undefined, true],
    [new Response(null, { status: 500 }), false],
    [Response.json({ error: "invalid_client" }, { status: 401 }), false],
  ];
  for (const [answer, isTold] of rows) {
    await using servers = await startSessionServers();
    const { api, store } = await signedIn(servers);
    servers.server = ({ path }) =>
      path === "/revoke" ? answer?.clone() : undefined;
    assertEquals(await within(LIMIT_MS, api.revoke()), isTold);
    assertEquals(await store.load(), undefined);
    await answer?.body?.cancel();
  }
  const failure = new RangeError("mine");
  await using servers = await startSessionServers();
  const { session } = await signedIn(servers);
  const api = fetchAt(servers, {
    store: memoryStore(session),
    client: untyped({
      ...{ clientId: "c1", method: "none", issuer: servers.issuer },
      authenticate: () => Promise.reject(failure),
    }),
  });
  assertEquals(await within(LIMIT_MS, api.revoke()).catch((it) => it), failure);
});
