/** Callers that leave a renewal, over real sockets. */
import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetch,
  createAuthorizedFetch,
  type Flow,
  type FlowRequest,
  memoryStore,
  type Session,
} from "../../mod.ts";
import { hold, type SessionServers } from "../servers/session_servers.ts";
import { deferred, never, statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, turn, until, within } from "../support/within.ts";
import { fetchAt, signedIn, test } from "./_session_world.ts";

/** A sign-in that waits until the test lets it go on. */
function waiting(flow: Flow) {
  const requests: FlowRequest[] = [];
  let { promise, resolve } = deferred<void>();
  let called = deferred<void>();
  return {
    requests,
    /** Waits until the flow has been called. */
    called: () => within(LIMIT_MS, called.promise),
    release: () => resolve(),
    reset() {
      ({ promise, resolve } = deferred<void>());
      called = deferred<void>();
    },
    flow: async (request: FlowRequest) => {
      requests.push(request);
      called.resolve();
      await promise;
      return await flow(request);
    },
  };
}

/** A `fetch` that counts the responses that have arrived from a URL. */
function counted(from: string) {
  let count = 0;
  return {
    fetch: (async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      const response = await fetch(input, init);
      if (url === from) count++;
      return response;
    }) as typeof fetch,
    /** Waits until there are so many, and their callers have gone on. */
    async arrived(number: number): Promise<void> {
      await until(LIMIT_MS, () => count === number);
      await turn();
    },
  };
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await within(LIMIT_MS, promise);
  } catch (error) {
    return error;
  }
  throw new Error("The promise was fulfilled");
}

test.beforeSignIn("lets one caller leave a sign-in that others wait for", async ({ servers }) => {
  const flow = waiting(servers.flow());
  const responses = counted(servers.resource);
  const api = createAuthorizedFetch(servers.resource, {
    flow: flow.flow,
    fetch: responses.fetch,
  });
  const controller = new AbortController();
  const leaving = api(servers.resource, { signal: controller.signal });
  const leavingRequest = api(
    new Request(servers.resource, { signal: controller.signal }),
  );
  const staying = api(servers.resource);
  await flow.called();
  await responses.arrived(3);
  const reason = new Error("enough");
  controller.abort(reason);
  assertEquals(await rejection(leaving), reason);
  assertEquals(await rejection(leavingRequest), reason);
  assertEquals(flow.requests[0]!.signal!.aborted, false);
  flow.release();
  assertEquals(await statusOf(staying), 200);
  assertEquals(flow.requests.length, 1);
  assertEquals(flow.requests[0]!.signal!.aborted, false);
});

test.beforeSignIn("ends a sign-in that never settles when the last caller leaves, and starts anew", async ({ servers }) => {
  const flow = waiting(servers.flow());
  const responses = counted(servers.resource);
  const api = createAuthorizedFetch(servers.resource, {
    flow: flow.flow,
    fetch: responses.fetch,
  });
  const controller = new AbortController();
  const { signal } = controller;
  const calls = [1, 2, 3].map(() => api(servers.resource, { signal }));
  await flow.called();
  await responses.arrived(3);
  const reason = new Error("enough");
  controller.abort(reason);
  for (const call of calls) assertEquals(await rejection(call), reason);
  assert(flow.requests[0]!.signal!.aborted);
  assertEquals(flow.requests[0]!.signal!.reason, reason);
  assertEquals(await api.session(), undefined);

  flow.reset();
  const next = api(servers.resource);
  await flow.called();
  flow.release();
  assertEquals(await statusOf(next), 200);
  assertEquals(flow.requests.length, 2);
});

test.beforeSignIn("drops the session of a sign-in that ends after the last caller left", async ({ servers }) => {
  const late = deferred<Session>();
  const called = deferred<void>();
  const api = createAuthorizedFetch(servers.resource, {
    flow: () => {
      called.resolve();
      return late.promise;
    },
  });
  const controller = new AbortController();
  const call = api.signIn({ signal: controller.signal });
  await within(LIMIT_MS, called.promise);
  controller.abort("enough");
  assertEquals(await rejection(call), "enough");
  late.resolve({} as Session);
  await turn();
  assertEquals(await api.session(), undefined);
});

test.beforeSignIn("ends the discovery when the last caller leaves", async ({ servers }) => {
  const controller = new AbortController();
  const signals: (AbortSignal | null | undefined)[] = [];
  const api = createAuthorizedFetch(servers.resource, {
    flow: () => never(),
    fetch: (input, init) => {
      if (!String(input).includes("well-known")) return fetch(input, init);
      signals.push(init?.signal);
      queueMicrotask(() => controller.abort("enough"));
      return never();
    },
  });
  const call = api(servers.resource, { signal: controller.signal });
  assertEquals(await rejection(call), "enough");
  await turn();
  assertEquals(signals.map((signal) => signal?.aborted), [true]);
});

/** Leaves a call during its refresh; returns what lets the refresh go on. */
async function leaveRefresh(
  servers: SessionServers,
  api: AuthorizedFetch,
): Promise<() => void> {
  const refresh = hold(({ body }) => body.includes("refresh_token="));
  servers.server = refresh.handler;
  const controller = new AbortController();
  const call = api(servers.resource, { signal: controller.signal });
  await refresh.received();
  controller.abort("enough");
  assertEquals(await rejection(call), "enough");
  return refresh.release;
}

test("finishes a refresh that no caller waits for, and stores its result", async ({ servers, api, store, session, call, sent }) => {
  servers.revoke();
  const release = await leaveRefresh(servers, api);
  // The next caller waits for that refresh, and finds what it has stored.
  const next = call();
  await turn();
  release();
  assertEquals(await next, 200);
  sent({ refreshes: 1 });
  const { token } = (await store.load())!;
  assert(token!.access_token !== session.token.access_token);
});

test("does not ask the user when a refresh fails after the last caller left", async ({ servers, api, store, sent }) => {
  servers.revoke(true);
  const release = await leaveRefresh(servers, api);
  release();
  await until(LIMIT_MS, async () => !(await store.load())?.token?.access_token);
  await turn();
  sent({ refreshes: 1 });
});

test.beforeSignIn("starts anew while a refresh that no caller waits for is under way", async ({ servers }) => {
  const responses = counted(servers.resource);
  const { api } = await signedIn(servers, { fetch: responses.fetch });
  servers.revoke(true);
  const release = await leaveRefresh(servers, api);
  const next = api(servers.resource);
  // After those of the sign-in, for the challenge, and of the call.
  await responses.arrived(3);
  release();
  assertEquals(await statusOf(next), 200);
  assertEquals(servers.visits.length, 1);
});

test.beforeSignIn("rejects with the reason of a signal that has aborted, and makes no request", async ({ servers, api }) => {
  const signal = AbortSignal.abort("enough");
  const request = new Request(servers.resource, { signal });
  assertEquals(await rejection(api(servers.resource, { signal })), "enough");
  assertEquals(await rejection(api(request)), "enough");
  assertEquals(await rejection(api.signIn({ signal })), "enough");
  assertEquals([servers.calls, servers.requests, servers.visits], [
    [],
    [],
    [],
  ]);
});

test("passes the signal to the request, also for its body", async ({ servers, api }) => {
  const arrived = deferred<void>();
  servers.handler = () => {
    arrived.resolve();
    return new Response(new ReadableStream({ pull: () => never() }));
  };
  const controller = new AbortController();
  const { signal } = controller;
  const response = await api(servers.resource, { signal });
  const reading = rejection(response.text());
  controller.abort(new Error("enough"));
  assertEquals(await reading, signal.reason);
});

test.beforeSignIn("throws what authorize throws, to every caller", async ({ servers }) => {
  const reason = { redirect: "https://as.example/authorize" };
  let count = 0;
  const responses = counted(servers.resource);
  const api = createAuthorizedFetch(servers.resource, {
    fetch: responses.fetch,
    flow: async () => {
      if (++count === 1) await responses.arrived(3);
      throw reason;
    },
  });
  const errors = await Promise.all(
    [1, 2, 3].map(() => rejection(api(servers.resource))),
  );
  for (const error of errors) assert(error === reason);
  assertEquals(count, 1);
  assertEquals(await rejection(api(servers.resource)), reason);
  assertEquals(count, 2);
});

test.beforeSignIn("ends the wait for the lock when the last caller has left", async ({ servers }) => {
  const controller = new AbortController();
  const signals: (AbortSignal | undefined)[] = [];
  const store = {
    ...memoryStore(),
    // Another process holds the lock.
    lock<T>(_task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      signals.push(signal);
      controller.abort("left");
      return never();
    },
  };
  const api = fetchAt(servers, { store });
  const { signal } = controller;
  assertEquals(await rejection(api(servers.resource, { signal })), "left");
  assertEquals(signals.map((one) => one?.aborted), [true]);
});

test.beforeSignIn("does not wait for the body of a Request when its signal aborts", async ({ servers, api }) => {
  const reading = deferred<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: () => {
      reading.resolve();
      return new Promise(() => {});
    },
  }, { highWaterMark: 0 });
  const controller = new AbortController();
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const { signal } = controller;
  const call = api(new Request(servers.resource, { ...init, signal }));
  await within(LIMIT_MS, reading.promise);
  const reason = new Error("enough");
  controller.abort(reason);
  assertEquals(await rejection(call), reason);
  assertEquals(servers.calls, []);
});
