/**
 * Scenarios about refresh tokens, of which the MCP conformance suite has none.
 *
 * The client lists the tools, then calls all of them at the same time. It repeats once
 * what has failed, as a user would who presses a button again.
 */
import {
  type RunningTestServers,
  startTestServers,
  type TestRequest,
  type TestServersOptions,
} from "../../lib/testing/mod.ts";

/** A check that was made, with what happened if it did not hold. */
export interface Check {
  id: string;
  failure: string | undefined;
}

function traceOf({ requests, received }: RunningTestServers) {
  const refreshes = received("token", "refresh_token");
  const count = (endpoint: TestRequest["endpoint"]) =>
    received(endpoint).length;
  return {
    refreshes,
    count,
    done: (method: string) =>
      requests.filter(({ endpoint, status, body }) =>
        endpoint === "resource" && status === 200 &&
        body.includes(`"${method}"`)
      ).length,
    /** The scopes of the last authorization request. */
    scopes: received("authorization").at(-1)?.params.get("scope")?.split(" ") ??
      [],
    summary: `${count("authorization")} sign-ins, ` +
      `${count("registration")} registrations, refreshes: ` +
      refreshes.map(({ status }) => status ?? "lost"),
  };
}

type Test = readonly [
  id: string,
  hasPassed: (trace: ReturnType<typeof traceOf>) => boolean,
];

const signIns = (count: number): Test => [
  "no-needless-sign-in",
  (trace) => trace.count("authorization") === count,
];
const registrations = (count: number): Test => [
  "no-needless-registration",
  (trace) => trace.count("registration") === count,
];
const refreshes = (count: number): Test => [
  "refreshed",
  ({ refreshes }) =>
    refreshes.filter(({ status }) => status === 200).length === count,
];
const usedOnce: Test = [
  "refresh-token-used-once",
  ({ refreshes }) => {
    const sent = refreshes.map(({ params }) => params.get("refresh_token"));
    return new Set(sent).size === sent.length;
  },
];
const finished = (calls: number): Test => [
  "calls-succeed",
  (trace) => trace.done("tools/list") > 0 && trace.done("tools/call") === calls,
];

export interface Scenario {
  name: string;
  description: string;
  options?: TestServersOptions;
  tools?: number;
  /** What happens before the first call of a method. */
  before: Record<string, (servers: RunningTestServers) => void>;
  tests: readonly Test[];
}

const expire = (servers: RunningTestServers) => servers.expireAccessTokens();

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "refresh-after-expiry",
    description: "An access token expires, and is refreshed without the user.",
    before: { "tools/list": expire },
    tests: [
      refreshes(1),
      [
        "refresh-resource",
        ({ refreshes }) =>
          refreshes.length > 0 &&
          refreshes.every(({ params }) => params.has("resource")),
      ],
      signIns(1),
      registrations(1),
      finished(1),
    ],
  },
  {
    name: "refresh-rotation",
    description:
      "Each refresh returns a new refresh token, which replaces the first.",
    before: { "tools/list": expire, "tools/call": expire },
    tests: [refreshes(2), usedOnce, signIns(1), finished(1)],
  },
  {
    name: "refresh-without-rotation",
    description:
      "A refresh returns no refresh token: the first one stays valid.",
    options: { rotate: false },
    before: { "tools/list": expire, "tools/call": expire },
    tests: [refreshes(2), signIns(1), finished(1)],
  },
  {
    name: "refresh-concurrent",
    description: "Eight calls find the access token expired at the same time.",
    tools: 8,
    before: { "tools/call": expire },
    tests: [refreshes(1), usedOnce, signIns(1), finished(8)],
  },
  {
    name: "refresh-lost-response",
    description:
      "The response of a refresh is lost; the server accepts the token again for 30 s.",
    options: { replaySeconds: 30 },
    before: {
      "tools/list"(servers) {
        expire(servers);
        servers.failNext("token", "lose_response");
      },
    },
    tests: [signIns(1), registrations(1), finished(1)],
  },
  {
    name: "refresh-unavailable",
    description: "The token endpoint responds once with 503 and invalid_grant.",
    before: {
      "tools/list"(servers) {
        expire(servers);
        const body = JSON.stringify({ error: "invalid_grant" });
        const headers = { "Content-Type": "application/json" };
        servers.failNext("token", new Response(body, { status: 503, headers }));
      },
    },
    tests: [signIns(1), registrations(1), finished(1)],
  },
  {
    name: "refresh-invalid-grant",
    description:
      "The grant was revoked: the user signs in again, with the same client.",
    before: { "tools/list": (servers) => servers.revoke() },
    tests: [signIns(2), registrations(1), finished(1)],
  },
  {
    name: "refresh-invalid-client",
    description:
      "The registration was deleted: the client registers once more.",
    before: {
      "tools/list"(servers) {
        expire(servers);
        servers.forgetClients();
      },
    },
    tests: [signIns(2), registrations(2), finished(1)],
  },
  {
    name: "refresh-step-up",
    description: "A tool requires another scope, which no refresh can add.",
    options: {
      requiredScopes: ({ body }) =>
        body.includes('"tools/call"') ? ["read", "write"] : ["read"],
    },
    before: {},
    tests: [
      [
        "no-refresh-for-scopes",
        ({ refreshes }) => refreshes.length === 0,
      ],
      [
        "union-of-scopes",
        ({ scopes }) => ["read", "write"].every((one) => scopes.includes(one)),
      ],
      signIns(2),
      registrations(1),
      finished(1),
    ],
  },
];

/** Responds as an MCP server without sessions. */
async function respond(request: Request, tools: number): Promise<Response> {
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const { id, method, params } = await request.json();
  if (id === undefined) return new Response(null, { status: 202 });
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "refresh", version: "1.0.0" },
    },
    "tools/list": {
      tools: Array.from({ length: tools }, (_, index) => ({
        name: `tool-${index}`,
        inputSchema: { type: "object" },
      })),
    },
    "tools/call": { content: [] },
  };
  const result = results[method];
  const error = { code: -32601, message: `No method ${method}` };
  return Response.json({
    jsonrpc: "2.0",
    id,
    ...result ? { result } : { error },
  });
}

/** How long a refresh takes: long enough for others to come in between. */
const REFRESH_MS = 30;

export async function playAt(
  { options, tools = 1, before, tests }: Scenario,
  use: (url: URL) => Promise<void>,
): Promise<Check[]> {
  const events = new Map(Object.entries(before));
  const servers = await startTestServers({
    ...options,
    handle: (request) => respond(request, tools),
    async intercept({ body, params }) {
      for (const [method, event] of events) {
        if (!body.includes(`"${method}"`)) continue;
        events.delete(method);
        event(servers);
      }
      if (params.has("refresh_token")) {
        await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
      }
      return undefined;
    },
  });
  try {
    await use(new URL(servers.resource));
  } catch {
    // The checks say what did not happen.
  } finally {
    await servers.close();
  }
  const trace = traceOf(servers);
  return tests.map(([id, hasPassed]) => ({
    id,
    failure: hasPassed(trace) ? undefined : trace.summary,
  }));
}
