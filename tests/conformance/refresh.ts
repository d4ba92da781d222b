/**
 * Scenarios about refresh tokens, in the shape of those of the MCP conformance suite,
 * which has none: `start()` returns the URL of a server, a client uses it, and
 * `getChecks()` returns what was right and what was not.
 *
 * The client lists the tools, then calls all of them at the same time. It repeats once
 * what has failed, as a user would who presses a button again.
 */
import {
  type IRunningTestServers,
  type ITestRequest,
  type ITestServersOptions,
  startTestServers,
} from "../../lib/testing/mod.ts";

/** One check, as the suite has it. */
export interface ICheck {
  id: string;
  name: string;
  description: string;
  status: "SUCCESS" | "FAILURE";
  timestamp: string;
  specReferences: { id: string; url: string }[];
  errorMessage?: string;
}

/** A scenario, as the suite has it. */
export interface IScenario {
  name: string;
  description: string;
  start(): Promise<{ serverUrl: string }>;
  stop(): Promise<void>;
  getChecks(): ICheck[];
}

const SPEC = {
  refresh: {
    id: "RFC-6749-6",
    url: "https://www.rfc-editor.org/rfc/rfc6749#section-6",
  },
  rotation: {
    id: "RFC-9700-4.14.2",
    url: "https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2",
  },
  resource: {
    id: "RFC-8707-2",
    url: "https://www.rfc-editor.org/rfc/rfc8707#section-2",
  },
};

/** What happened at the servers. */
class Trace {
  readonly #requests: readonly ITestRequest[];
  readonly refreshes: readonly ITestRequest[];

  constructor(servers: IRunningTestServers) {
    this.#requests = servers.requests;
    this.refreshes = servers.received("token", "refresh_token");
  }

  count(endpoint: ITestRequest["endpoint"]): number {
    return this.#requests.filter((one) => one.endpoint === endpoint).length;
  }

  /** How many calls of this method had a result. */
  done(method: string): number {
    return this.#requests.filter((one) =>
      one.endpoint === "resource" && one.status === 200 &&
      one.body.includes(`"${method}"`)
    ).length;
  }

  /** The scopes of the last authorization request. */
  get scopes(): string[] {
    const last = this.#requests.findLast((one) =>
      one.endpoint === "authorization"
    );
    return last?.params.get("scope")?.split(" ") ?? [];
  }
}

type Test = [id: string, description: string, (trace: Trace) => boolean];

const signIns = (count: number): Test => [
  "no-needless-sign-in",
  `The user signs in ${count === 1 ? "once" : "twice"}`,
  (trace) => trace.count("authorization") === count,
];
const registrations = (count: number): Test => [
  "no-needless-registration",
  `The client registers ${count === 1 ? "once" : "twice"}`,
  (trace) => trace.count("registration") === count,
];
const refreshes = (count: number): Test => [
  "refreshed",
  `${count} refreshes succeed`,
  ({ refreshes }) =>
    refreshes.filter(({ status }) => status === 200).length === count,
];
const usedOnce: Test = [
  "refresh-token-used-once",
  "No refresh token is sent twice",
  ({ refreshes }) => {
    const sent = refreshes.map(({ params }) => params.get("refresh_token"));
    return new Set(sent).size === sent.length;
  },
];
const finished = (calls: number): Test => [
  "calls-succeed",
  "The list and the calls of the tools succeed",
  (trace) => trace.done("tools/list") > 0 && trace.done("tools/call") === calls,
];

interface IDefinition {
  name: string;
  description: string;
  options?: ITestServersOptions;
  tools?: number;
  /** What happens before the first call of a method. */
  before: Record<string, (servers: IRunningTestServers) => void>;
  tests: Test[];
}

const expire = (servers: IRunningTestServers) => servers.expireAccessTokens();

const DEFINITIONS: IDefinition[] = [
  {
    name: "refresh-after-expiry",
    description: "An access token expires, and is refreshed without the user.",
    before: { "tools/list": expire },
    tests: [
      refreshes(1),
      [
        "refresh-resource",
        "The refresh has the resource parameter",
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
        "No refresh is tried",
        ({ refreshes }) => refreshes.length === 0,
      ],
      [
        "union-of-scopes",
        "The scopes so far are requested as well",
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

function toScenario(
  { name, description, options, tools = 1, before, tests }: IDefinition,
): IScenario {
  let servers: IRunningTestServers;
  const events = new Map(Object.entries(before));
  return {
    name: `auth/${name}`,
    description,
    async start() {
      servers = await startTestServers({
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
      return { serverUrl: servers.resource };
    },
    stop: () => servers.close(),
    getChecks() {
      const trace = new Trace(servers);
      return tests.map(([id, description, hasPassed]) => ({
        id,
        name: id,
        description,
        timestamp: new Date().toISOString(),
        specReferences: [
          id === "refresh-resource"
            ? SPEC.resource
            : id === "refresh-token-used-once"
            ? SPEC.rotation
            : SPEC.refresh,
        ],
        ...hasPassed(trace) ? { status: "SUCCESS" } : {
          status: "FAILURE",
          errorMessage: `${trace.count("authorization")} sign-ins, ` +
            `${trace.count("registration")} registrations, refreshes: ` +
            `${trace.refreshes.map((one) => one.status ?? "lost")}`,
        },
      }));
    },
  };
}

/** Returns the scenarios; each can be started once. */
export function refreshScenarios(): IScenario[] {
  return DEFINITIONS.map(toScenario);
}
