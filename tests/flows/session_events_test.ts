/** What an authorized fetch reports: which events, in which order, without secrets. */
import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { stub } from "@std/testing/mock";
import {
  type AuthorizedFetchEvent,
  codeFlow,
  createAuthorizedFetch,
} from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { onEvent as toSpans } from "../examples/opentelemetry.ts";
import { onEvent as toLog } from "../examples/sign_in_reasons.ts";
import { startSessionServers } from "../servers/session_servers.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { MCP } from "../support/fixtures.ts";
import { pinMessage } from "../support/pin_message.ts";
import { resourceFetch } from "../support/resource.ts";
import { statusOf } from "../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { fetchAt, test } from "./_session_world.ts";

async function start(onEvent?: (event: AuthorizedFetchEvent) => unknown) {
  const servers = await startSessionServers();
  const events: AuthorizedFetchEvent[] = [];
  let time = Date.now();
  const api = fetchAt(servers, {
    now: () => time,
    onEvent(event) {
      events.push(event);
      return onEvent?.(event);
    },
  });
  await Promise.resolve();
  return {
    ...{ servers, api, events },
    pass: (seconds: number) => time += seconds * 1000,
    /** Takes the events, those of requests as strings. */
    take: () =>
      events.splice(0).map((event) =>
        event.type === "request"
          ? `${event.method} ${event.purpose} ${event.status ?? event.code}`
          : event
      ),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

Deno.test("createAuthorizedFetch() reports the way from a 401 to a token", async () => {
  await using run = await start();
  const { servers: { issuer, resource }, api } = run;
  assertEquals(await statusOf(api(resource)), 200);
  const { client, token } = (await api.session())!;
  const durations = run.events.flatMap((event) =>
    event.type === "request" ? [event.durationMs] : []
  );
  assert(durations.every(Number.isInteger), durations.join());
  assertEquals(run.take(), [
    "GET resource 401",
    "GET resource_metadata 200",
    "GET authorization_server_metadata 200",
    { type: "discovered", issuer, source: "resource_metadata" },
    { type: "sign_in_started", issuer, reason: "no_session" },
    "POST registration 201",
    { type: "registered", issuer, client_id: client!.client_id },
    "POST token 200",
    {
      type: "sign_in_finished",
      issuer,
      expires_at: token.expires_at!,
      scopes: ["read"],
    },
    "GET resource 200",
  ]);
});

Deno.test("createAuthorizedFetch() reports refreshes, ended sessions and step-ups", async () => {
  await using run = await start();
  const { servers, api, take } = run;
  const { issuer, resource } = servers;
  let isDead = false;
  servers.server = ({ path, body }) =>
    isDead && path === "/token" && body.includes("refresh_token")
      ? Response.json({ error: "invalid_grant" }, { status: 400 })
      : undefined;
  await within(LIMIT_MS, api.signIn());
  run.events.length = 0;

  run.pass(3600);
  await statusOf(api(resource));
  const { token } = (await api.session())!;
  const { expires_at = 0 } = token;
  const refreshed = { type: "refreshed", issuer, expires_at } as const;
  assertEquals(take(), ["POST token 200", refreshed, "GET resource 200"]);

  isDead = true;
  servers.revoke();
  await statusOf(api(resource));
  const types = (events: ReturnType<typeof take>) =>
    events.flatMap((event) => typeof event === "string" ? [] : [event])
      .filter(({ type }) => type !== "discovered");
  const dropped = types(take());
  assertEquals(dropped.slice(0, 2), [
    {
      type: "session_dropped",
      issuer,
      code: "invalid_grant",
      message: pinMessage(
        dropped[0]?.type === "session_dropped" ? dropped[0].message : "",
      ),
    },
    { type: "sign_in_started", issuer, reason: "refresh_failed" },
  ]);

  await statusOf(api(`${resource}/write`));
  assertEquals(types(take()).slice(0, 2), [
    { type: "step_up", scopes: ["write"] },
    { type: "sign_in_started", issuer, reason: "step_up" },
  ]);
  await within(LIMIT_MS, api.signIn({ fresh: true }));
  assertEquals(types(take())[0], {
    type: "sign_in_started",
    issuer,
    reason: "fresh",
  });
  const { url, method } = { url: `${servers.origin}/other`, method: "POST" };
  await statusOf(api(`${url}?q=1`, { method, body: "x" }));
  // It is the caller's own request, and no other event is about it.
  assertEquals(take(), [{ type: "uncovered_request", method, url }]);
});

Deno.test("createAuthorizedFetch() puts no token, code, secret or query into an event", async () => {
  await using run = await start();
  const { servers, api } = run;
  const { resource } = servers;
  const secrets = new Set<string>();
  const note = (text: string) => {
    const form = new URLSearchParams(text);
    for (const name of ["code", "state", "code_verifier", "refresh_token"]) {
      if (form.get(name)) secrets.add(form.get(name)!);
    }
  };
  servers.server = ({ body, search }) => void [note(body), note(search)];
  servers.handler = ({ authorization }) =>
    void (authorization && secrets.add(authorization.slice(7)));
  await statusOf(api(`${resource}?password=hunter2-hunter2`));
  run.pass(3600);
  await statusOf(api(`${resource}/write?password=hunter2-hunter2`));
  await api.revoke();
  assert(secrets.size >= 6, [...secrets].join());
  const text = JSON.stringify(run.events);
  assertFalse(text.includes("?") || text.includes("hunter2"), text);
  for (const secret of secrets) assertFalse(text.includes(`"${secret}"`), text);
});

Deno.test("createAuthorizedFetch() reports a request that fails, and keeps what was sent out of its URL", async () => {
  const events: AuthorizedFetchEvent[] = [];
  const { api } = resourceFetch(({ headers }) => {
    const token = headers.get("Authorization")?.slice(7);
    const Location = `${MCP}/${encodeURIComponent(token ?? "")}`;
    if (events.length > 0) throw new TypeError("connection refused");
    return new Response(null, { status: 307, headers: { Location } });
  }, { onEvent: (event) => events.push(event) });
  await assertRejects(() => api(MCP));
  assertEquals(
    events.map((event) =>
      event.type === "request" && [event.url, event.status, event.code]
    ),
    [[MCP, 307, undefined], [
      `${MCP}/[redacted]`,
      undefined,
      "error",
    ]],
  );
});

Deno.test("createAuthorizedFetch() ignores what onEvent throws or rejects with", async () => {
  for (
    const onEvent of [
      () => {
        throw new Error("sync");
      },
      () => Promise.reject(new Error("async")),
    ]
  ) {
    await using run = await start(onEvent);
    assertEquals(await statusOf(run.api(run.servers.resource)), 200);
  }
});

Deno.test("opentelemetry.ts makes spans of requests, and events of the active span", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  try {
    await using run = await start(toSpans);
    const { servers, api } = run;
    const tracer = trace.getTracer("test");
    await tracer.startActiveSpan("call", async (span) => {
      await statusOf(api(servers.resource));
      span.end();
    });
    await provider.forceFlush();
    const spans = exporter.getFinishedSpans();
    const call = spans.find(({ name }) => name === "call")!;
    assertEquals(call.events.map(({ name }) => name), [
      "oauth.discovered",
      "oauth.sign_in_started",
      "oauth.registered",
      "oauth.sign_in_finished",
    ]);
    const requests = spans.filter(({ name }) => name !== "call");
    assertEquals(requests.map(({ name }) => name), [
      "GET resource",
      "GET resource_metadata",
      "GET authorization_server_metadata",
      "POST registration",
      "POST token",
      "GET resource",
    ]);
    for (const { parentSpanContext, attributes } of requests) {
      assertEquals(parentSpanContext?.spanId, call.spanContext().spanId);
      assert(Number(attributes["http.response.status_code"]) >= 200);
    }
    exporter.reset();
    toSpans({
      type: "request",
      purpose: "token",
      method: "POST",
      url: "https://as.example/token",
      durationMs: 10_000,
      code: "timeout",
    });
    await provider.forceFlush();
    const [failed] = exporter.getFinishedSpans();
    assertEquals(failed!.duration[0], 10);
    assertEquals(failed!.status, {
      code: SpanStatusCode.ERROR,
      message: "timeout",
    });
  } finally {
    trace.disable();
    context.disable();
    await provider.shutdown();
  }
});

Deno.test("sign_in_reasons.ts prints why a user is asked again", async () => {
  using log = stub(console, "error", () => {});
  await using run = await start(toLog);
  const { servers, api } = run;
  await statusOf(api(servers.resource));
  servers.revoke(true);
  await statusOf(api(servers.resource));
  await statusOf(api(`${servers.resource}/write`));
  const { issuer } = servers;
  const printed = log.calls.map(({ args }) => args.flat().join(" "));
  assertEquals(printed, [
    `Please sign in at ${issuer} (no_session)`,
    pinMessage(printed[1]!),
    `Please sign in at ${issuer} (refresh_failed)`,
    "The API requires more: write",
    `Please sign in at ${issuer} (step_up)`,
  ]);
});

Deno.test("createAuthorizedFetch() reports why a fresh token is refused", async () => {
  const servers = createTestServers();
  const { resource, fetch, receiver } = servers;
  const refused: AuthorizedFetchEvent[] = [];
  const authorize = codeFlow(receiver);
  const onEvent = (event: AuthorizedFetchEvent) =>
    event.type === "token_refused" && refused.push(event);
  const open = () =>
    createAuthorizedFetch(resource, { fetch, flow: authorize, onEvent });
  const url = `${resource}/x`;
  const common = { type: "token_refused", method: "PUT", url };
  const rows: [
    status: number,
    challenge: (token: string) => string,
    event: object | undefined,
  ][] = [
    [
      401,
      () =>
        'Bearer error="invalid_token", error_description="see /why?q=secret"',
      { error: "invalid_token", error_description: "see /why" },
    ],
    [401, () => "Basic", {}],
    [
      401,
      (token) => `Bearer error="invalid_token", error_description="${token}"`,
      { error: "invalid_token", error_description: "[redacted]" },
    ],
    [403, () => 'Bearer error="invalid_token"', { error: "invalid_token" }],
    [403, () => 'Bearer error="other"', undefined],
  ];
  await eachRowInTurn(rows, async ([status, challenge, expected]) => {
    servers.intercept = ({ endpoint, headers }) => {
      const [, token] = headers.get("Authorization")?.split(" ") ?? [];
      return endpoint === "resource" && token
        ? new Response(null, {
          status,
          headers: { "WWW-Authenticate": challenge(token) },
        })
        : undefined;
    };
    const response = await open()(`${url}?q=secret`, { method: "PUT" });
    assertEquals(response.status, status);
    assertEquals(
      refused.splice(0),
      (expected ? [{ ...common, status, ...expected }] : []) as typeof refused,
    );
  });
});

test("says that the token was refused if a body that cannot be sent again leads to a sign-in", async ({ servers, store, session }) => {
  const { refresh_token: _, ...token } = session.token;
  await store.save({ ...session, token });
  servers.revoke();
  const reasons: unknown[] = [];
  const api = fetchAt(servers, {
    store,
    onEvent: (event) =>
      event.type === "sign_in_started" && reasons.push(event.reason),
  });
  const post = () => {
    const body = new Blob(["x"]).stream();
    const init = { method: "POST", body };
    return statusOf(within(LIMIT_MS, api(servers.resource, init)));
  };
  const statuses = [await post(), await post()];
  assertEquals(statuses, [401, 200]);
  assertEquals(reasons, ["refused"]);
});
