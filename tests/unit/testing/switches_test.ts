/** What the switches do to a program, which is this library where it is not said. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  codeFlow,
  createAuthorizedFetch,
  deviceFlow,
  memoryStore,
  OAuthClientError,
} from "../../../mod.ts";
import {
  createTestServers,
  startTestServers,
  type TestServersOptions,
  type TestSwitches,
} from "../../../lib/testing/mod.ts";
import { deferred } from "../../support/stub_fetch.ts";
import { LIMIT_MS, until, within } from "../../support/within.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinRejected, pinThrown } from "../../support/fixtures.ts";
import { pinMessage } from "../../support/pin_message.ts";

/** A program of a user who has signed in, unless the sign-in is what is tested. */
function start(
  options: TestServersOptions = {},
  more: Partial<AuthorizedFetchOptions> = {},
) {
  const servers = createTestServers(options);
  const { resource, fetch, now, receiver } = servers;
  const authorize = codeFlow(receiver);
  const store = memoryStore();
  const open = () =>
    createAuthorizedFetch(resource, {
      fetch,
      now,
      flow: authorize,
      store,
      ...more,
    });
  const api = open();
  return {
    servers,
    store,
    open,
    call: async () => (await api(resource)).status,
    failure: () => assertRejects(() => api(resource), OAuthClientError),
    /** How often the user signed in, clients registered and tokens were refreshed. */
    counts: () => [
      servers.received("authorization").length,
      servers.received("registration").length,
      servers.received("token", "refresh_token").length,
    ],
  };
}

Deno.test("lifetimeSeconds and advance() make tokens expire", async () => {
  const { servers, call, counts } = start({ lifetimeSeconds: 60 });
  assertEquals([await call(), await call(), ...counts()], [200, 200, 1, 1, 0]);
  servers.advance(60);
  assertEquals([await call(), ...counts()], [200, 1, 1, 1]);
  servers.lifetimeSeconds = Infinity;
  servers.advance(60);
  await call();
  servers.advance(1e9);
  assertEquals([await call(), ...counts()], [200, 1, 1, 2]);
});

Deno.test("expireAccessTokens() makes tokens invalid before they expire", async () => {
  const { servers, call, counts } = start();
  await call();
  servers.expireAccessTokens();
  assertEquals([await call(), ...counts()], [200, 1, 1, 1]);
});

Deno.test("refreshTokens: false has the user sign in again", async () => {
  const { servers, call, counts } = start({ refreshTokens: false });
  await call();
  servers.advance(3600);
  assertEquals([await call(), ...counts()], [200, 2, 1, 0]);
});

Deno.test("rotate revokes the grant when two stores refresh with one token, and not when it is false", async () => {
  for (const rotate of [true, false]) {
    const { servers, store, call, open, counts } = start({ rotate });
    await call();
    const copy = memoryStore((await store.load())!);
    servers.advance(3600);
    await call();
    const { resource, fetch, now } = servers;
    const other = createAuthorizedFetch(resource, { fetch, now, store: copy });
    assertEquals((await other(resource)).status, rotate ? 401 : 200);
    assertEquals(
      [await call(), ...counts()],
      rotate ? [200, 2, 1, 3] : [200, 1, 1, 2],
    );
    assertEquals((await open()(resource)).status, 200);
  }
});

Deno.test("lose_response with a rotation signs the user out, but within replaySeconds", async () => {
  for (const replaySeconds of [0, 30]) {
    const now = () => 1_700_000_000_000;
    const { servers, call, counts } = start({ replaySeconds, now });
    await call();
    servers.advance(3600);
    servers.failNext("token", "lose_response");
    const signIns = replaySeconds ? 1 : 2;
    assertEquals([await call(), ...counts()], [200, signIns, 1, 2]);
  }
});

Deno.test("failNext() loses a request, and sends other statuses and responses", async () => {
  const { servers, call, failure, counts } = start();
  await call();
  servers.advance(3600);
  servers.failNext("token", "lose_request");
  assertEquals([await call(), ...counts()], [200, 1, 1, 2]);
  servers.advance(3600);
  servers.failNext("token", 503);
  const { status, retryAfterSeconds } = await failure();
  assertEquals([status, retryAfterSeconds], [503, 1]);
  servers.advance(1);
  const body = JSON.stringify({ error: "invalid_grant" });
  servers.failNext("token", new Response(body, { status: 503 }));
  servers.failNext("token", new Response("<html>", { status: 502 }));
  assertEquals((await failure()).status, 503);
  assertEquals((await failure()).status, 502);
  assertEquals([await call(), ...counts()], [200, 1, 1, 6]);
  const statuses = servers.received("token").map(({ status }) => status);
  assertEquals(statuses, [200, undefined, 200, 503, 503, 502, 200]);
});

Deno.test("failNext() sends one response each time that it is given", async () => {
  const { servers } = start();
  const page = new Response("<html>", { status: 502 });
  servers.failNext("resource", page);
  servers.failNext("resource", page);
  for (const text of ["<html>", "<html>"]) {
    const response = await servers.fetch(servers.resource);
    assertEquals([response.status, await response.text()], [502, text]);
  }
});

Deno.test("retryAfterSeconds puts the requests to an endpoint off", async () => {
  const { servers, call, failure, counts } = start({
    retryAfterSeconds: { registration: 60 },
  });
  const refused = [429, "temporarily_unavailable", 60];
  const found = async () => {
    const { status, error, retryAfterSeconds } = await failure();
    return [status, error, retryAfterSeconds];
  };
  assertEquals([await found(), await found()], [refused, refused]);
  servers.retryAfterSeconds = { token: 300 };
  servers.advance(60);
  assertEquals((await failure()).retryAfterSeconds, 300);
  servers.retryAfterSeconds = {};
  servers.advance(300);
  assertEquals([await call(), ...counts()], [200, 2, 3, 0]);
  servers.advance(3_590);
  servers.retryAfterSeconds = { token: 300 };
  assertEquals([await call(), await call(), ...counts()], [200, 200, 2, 3, 1]);
  servers.advance(10);
  assertEquals([(await failure()).retryAfterSeconds, ...counts()], [
    290,
    2,
    3,
    1,
  ]);
  servers.retryAfterSeconds = { token: 0 };
  servers.advance(290);
  await failure();
  servers.retryAfterSeconds = {};
  assertEquals([await call(), ...counts()], [200, 2, 3, 3]);
});

Deno.test("hang ends with the timeout or the signal of the client", async () => {
  const { servers, failure } = start({}, { timeoutMs: 1 });
  servers.failNext("server_metadata", "hang");
  assertEquals((await failure()).code, "timeout");
  const { fetch, resource } = servers;
  servers.failNext("resource", "hang");
  const controller = new AbortController();
  const { signal } = controller;
  const call = fetch(resource, { signal });
  controller.abort(new Error("enough"));
  await assertRejects(() => call, Error, "enough");
  await assertRejects(() => fetch(resource, { signal }), Error, "enough");
});

Deno.test("an abort ends the body of a response, and the stream of the server", async () => {
  const cancelled = deferred<unknown>();
  const { servers } = start({
    handle: () =>
      new Response(new ReadableStream({ cancel: cancelled.resolve })),
  });
  const { resource, fetch, receiver } = servers;
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { fetch, flow: authorize });
  const controller = new AbortController();
  const { signal } = controller;
  const response = await api(resource, { signal });
  const reason = new Error("enough");
  controller.abort(reason);
  await assertRejects(() => response.text(), Error, "enough");
  assertEquals(await within(LIMIT_MS, cancelled.promise), reason);
});

Deno.test("revoke() and forgetClients() cost a sign-in, and a registration", async () => {
  const { servers, call, counts } = start();
  await call();
  servers.revoke();
  assertEquals([await call(), ...counts()], [200, 2, 1, 1]);
  servers.forgetClients();
  servers.expireAccessTokens();
  assertEquals([await call(), ...counts()], [200, 3, 2, 2]);
});

Deno.test("requiredScopes leads to a step-up, and withheldScopes makes it fail", async () => {
  const { servers, call, counts } = start();
  await call();
  servers.requiredScopes = ["write"];
  assertEquals([await call(), ...counts()], [200, 2, 1, 0]);
  servers.requiredScopes = ({ method }) => method === "GET" ? ["admin"] : [];
  servers.withheldScopes = ["admin"];
  assertEquals([await call(), ...counts()], [403, 3, 1, 0]);
  const scopes = servers.received("authorization")
    .map(({ params }) => params.get("scope"));
  assertEquals(scopes, ["read", "read write", "read write admin"]);
});

Deno.test("refusedScopes refuses an authorization request", async () => {
  const { servers, failure } = start({ refusedScopes: ["offline_access"] });
  servers.serverMetadata = { scopes_supported: ["read", "offline_access"] };
  assertEquals((await failure()).error, "invalid_scope");
});

Deno.test("requiredAcr leads to a sign-in with this class, and to no refresh", async () => {
  const { servers, call, counts } = start();
  await call();
  servers.requiredAcr = "mfa";
  assertEquals([await call(), ...counts()], [200, 2, 1, 0]);
});

Deno.test("user refuses", async () => {
  const { failure } = start({ user: "refuses" });
  assertEquals((await failure()).error, "access_denied");
});

Deno.test("a user who leaves keeps the visit open until 5 minutes have passed, and is asked once", async () => {
  const { servers, open, call, failure, counts } = start({ user: "leaves" });
  let isOver = false;
  const first = failure().finally(() => isOver = true);
  await until(LIMIT_MS, () => servers.received("authorization").length === 1);
  servers.advance(299);
  const page = await servers.fetch(servers.received("authorization")[0]!.url);
  assertEquals([page.status, page.headers.get("Location")], [200, null]);
  await page.text();
  assertEquals(isOver, false);
  servers.requests.length = 0;
  servers.advance(1);
  assertEquals(pinMessage(await first).code, "timeout");
  for (const next of [failure, failure, failure]) {
    assertEquals((await next()).code, "sign_in_required");
  }
  assertEquals(counts(), [0, 0, 0]);
  servers.user = "consents";
  await open().signIn();
  assertEquals([await call(), ...counts()], [200, 1, 1, 0]);
});

Deno.test("the signal of the caller ends the visit of a user who leaves", async () => {
  const { servers, open } = start({ user: "leaves" });
  const controller = new AbortController();
  servers.intercept = ({ endpoint }) => {
    if (endpoint === "authorization") controller.abort(new Error("closed"));
    return undefined;
  };
  const { signal } = controller;
  await assertRejects(() => open().signIn({ signal }), Error, "closed");
});

Deno.test("a user who leaves is not redirected by servers that listen", async () => {
  const servers = await startTestServers({ user: "leaves" });
  const { resource, fetch: own, receiver } = servers;
  const visit = async (url: URL) => {
    const response = await fetch(url, { redirect: "manual" });
    throw new DOMException(await response.text(), "AbortError");
  };
  const authorize = codeFlow({ ...receiver, visit });
  const api = createAuthorizedFetch(resource, { fetch: own, flow: authorize });
  await assertRejects(() => api(resource), Error, "waits for the user");
  await servers.close();
});

Deno.test("user consents, refuses or leaves at a device as well", async () => {
  const rows = [
    ["consents", undefined],
    ["refuses", "access_denied"],
    ["leaves", "authorization_pending"],
  ] as const;
  await eachRowInTurn(rows, async ([user, error]) => {
    const servers = createTestServers({ user });
    const { resource, fetch } = servers;
    let waits = 0;
    const authorize = deviceFlow({
      clientMetadata: { client_name: "Device" },
      show: () => {},
      // A second wait follows a response that says to wait.
      delay: () => {
        if (++waits < 2) return Promise.resolve();
        return Promise.reject(new Error("authorization_pending"));
      },
    });
    const api = createAuthorizedFetch(resource, { fetch, flow: authorize });
    const outcome = await api(resource).catch((reason) => reason);
    assertEquals(outcome.status === 200, error === undefined);
    if (error) {
      assert(JSON.stringify([outcome, outcome.message]).includes(error));
    }
  });
});

Deno.test("iss of another server, or none, ends a sign-in before the code is used", async () => {
  for (const iss of ["https://attacker.example", null]) {
    const { servers, failure } = start({ iss });
    assertEquals((await failure()).code, "issuer_mismatch");
    assertEquals(servers.received("token").length, 0);
  }
});

Deno.test("resourceParameter requires, allows or refuses the parameter", async () => {
  const rows = [
    ["required", undefined, true],
    ["required", false, false],
    ["optional", undefined, true],
    ["optional", false, true],
    ["refused", undefined, false],
    ["refused", false, true],
  ] as const;
  await eachRowInTurn(
    rows,
    async ([resourceParameter, resource, isAccepted]) => {
      const servers = createTestServers({ resourceParameter });
      const { fetch, receiver } = servers;
      const authorize = codeFlow({ ...receiver, resourceIndicator: resource });
      const api = createAuthorizedFetch(servers.resource, {
        fetch,
        flow: authorize,
      });
      const outcome = await api(servers.resource).catch(({ error }) => error);
      assertEquals(
        outcome.status ?? outcome,
        isAccepted ? 200 : "invalid_target",
      );
    },
  );
});

Deno.test("serverMetadata and resourceMetadata change the documents", async () => {
  const { servers, failure } = start({
    serverMetadata: { issuer: "https://other.example" },
  });
  assert((await failure()).message.includes("https://other.example"));
  servers.serverMetadata = { code_challenge_methods_supported: undefined };
  assertEquals((await failure()).code, "unsupported");
  servers.serverMetadata = {};
  servers.resourceMetadata = { resource: "https://other.example" };
  assertEquals((await failure()).code, "discovery_failed");
});

Deno.test("intercept responds to any request, and handle to calls with a token", async () => {
  const { servers, call } = start({
    handle: (_request, { scopes }) =>
      new Response(`${scopes}`, { status: 201 }),
  });
  assertEquals(await call(), 201);
  servers.intercept = ({ endpoint }) =>
    endpoint === "resource" ? new Response(null, { status: 418 }) : undefined;
  assertEquals(await call(), 418);
  servers.intercept = () => {
    throw new Error("a bug in the test");
  };
  await assertRejects(call, Error, "a bug in the test");
});

Deno.test("clients, issuer and resource are as given", async () => {
  const servers = createTestServers({
    clients: [{
      client_id: "https://app.example/client.json",
      redirect_uris: ["http://127.0.0.1/cb"],
    }],
    issuer: "https://auth.example/tenant",
    resource: "https://api.example/",
    serverMetadata: { client_id_metadata_document_supported: true },
    scopes: [],
  });
  const { resource, fetch, issuer, receiver } = servers;
  const authorize = codeFlow({
    redirectUri: "http://127.0.0.1:33418/cb",
    visit: receiver.visit,
    clientMetadataUrl: "https://app.example/client.json",
  });
  const api = createAuthorizedFetch(resource, { fetch, flow: authorize });
  assertEquals((await api(`${resource}below`)).status, 200);
  assertEquals((await api.session())?.issuer, issuer);
  assertEquals(servers.received("registration"), []);
});

Deno.test("unknown options, switches, endpoints and faults throw", async () => {
  const misspelled = { lifetimeSecond: 60 } as TestServersOptions;
  for (const create of [createTestServers, startTestServers]) {
    const start = async () => await create(misspelled);
    await pinRejected(start, "invalid_argument");
  }
  for (const option of ["resource", "issuer"]) {
    const create = () => createTestServers({ [option]: "api.example" });
    pinThrown(create, "invalid_argument");
  }
  const running = await startTestServers();
  await running.close();
  for (const servers of [createTestServers(), running]) {
    assertThrows(() => Object.assign(servers, misspelled), TypeError);
    const rows = [
      ["tokens", 503],
      ["constructor", 503],
      ["token", "nonsense"],
      ["token", 99],
      ["token", 600],
      ["token", undefined],
    ];
    for (const [endpoint, fault] of rows) {
      const call = () => servers.failNext(endpoint as "token", fault as "hang");
      pinThrown(call, "invalid_argument");
    }
    const received = () => servers.received("tokens" as "token");
    pinThrown(received, "invalid_argument");
  }
});

Deno.test("switches accept no other value than theirs, whenever they are set", async () => {
  const rows: Partial<TestSwitches>[] = [
    { user: "refuse" as "refuses" },
    { resourceParameter: "no" as "refused" },
    { dpop: true as unknown as "required" },
  ];
  for (const switches of rows) {
    const create = () => createTestServers(switches);
    pinThrown(create, "invalid_argument");
    const servers = Object.assign(createTestServers(), switches);
    await pinRejected(
      () => servers.fetch(servers.resource),
      "invalid_argument",
    );
  }
});
