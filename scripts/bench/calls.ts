/**
 * Compares the CPU time of a call with a valid token, by several clients in turn with
 * one resource on loopback.
 */

import { withOAuth } from "@modelcontextprotocol/client";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import {
  createAuthorizedFetch,
  type ISession,
  memoryStore,
} from "../../mod.ts";
import { createMcpProvider } from "../../tests/support/mcp_provider.ts";
import { ACCESS_TOKEN, startServers } from "./servers.ts";
import {
  type ISection,
  median,
  medianRatio,
  requireResult,
  timeTasksInTurn,
} from "./timing.ts";

/** How many calls are one measurement: more than the resolution of the clock needs. */
const CALLS = 50;

/** Requests the target with the token. */
type Call = (target: string) => Promise<Response>;

/** A session whose token is valid for an hour. */
function sessionOf(resource: string, issuer: string): ISession {
  return {
    issuer,
    resource,
    serverMetadata: { issuer, token_endpoint: `${issuer}/token` },
    client: { issuer, client_id: "c1" },
    token: {
      access_token: ACCESS_TOKEN,
      token_type: "Bearer",
      expires_in: 3600,
      expires_at: Date.now() / 1_000 + 3_600,
      refresh_token: "rt-of-the-benchmark",
    },
    scopes: ["files:read"],
  };
}

/**
 * The ways to make a call; the first is ours, the last the baseline. oauth4webapi and
 * openid-client keep no token: the caller checks its expiry, and renews it.
 */
function waysTo(target: string, issuer: string): Record<string, Call> {
  const authorize = () => Promise.reject(new Error("The user is asked"));
  const store = memoryStore(sessionOf(target, issuer));
  const ours = createAuthorizedFetch(target, { authorize, store });
  const { provider } = createMcpProvider();
  provider.saveTokens({ access_token: ACCESS_TOKEN, token_type: "Bearer" });
  const configuration = new openid.Configuration({ issuer }, "c1");
  openid.allowInsecureRequests(configuration);
  const headers = { Authorization: `Bearer ${ACCESS_TOKEN}` };
  return {
    "ours": (url) => ours(url),
    "ours, with a Request": (url) => ours(new Request(url)),
    "@modelcontextprotocol/client": withOAuth(provider, target)(fetch),
    "oauth4webapi": (url) =>
      oauth.protectedResourceRequest(
        ACCESS_TOKEN,
        "GET",
        new URL(url),
        undefined,
        undefined,
        { [oauth.allowInsecureRequests]: true },
      ),
    "openid-client": (url) =>
      openid.fetchProtectedResource(
        configuration,
        ACCESS_TOKEN,
        new URL(url),
        "GET",
      ),
    "bare fetch with a Request": (url) => fetch(new Request(url, { headers })),
    "bare fetch": (url) => fetch(url, { headers }),
  };
}

/** Measures calls with a valid token. */
export async function compareCalls(): Promise<ISection> {
  await using servers = await startServers();
  const { target, issuer } = servers;
  const ways = Object.entries(waysTo(target, issuer));
  const tasks = ways.map(([name, call]) => async () => {
    for (let count = 0; count < CALLS; count++) {
      const response = await call(target);
      requireResult(name, await response.json(), { ok: true });
    }
  });
  const times = (await timeTasksInTurn(tasks, 10_000)).map(({ cpu }) => cpu);
  const [ours, bare] = [times[0]!, times.at(-1)!];
  const perCall = (numbers: readonly number[]) =>
    Math.round(median(numbers) / CALLS * 1_000);
  const rows = ways.map(([name], index) => {
    const added = times[index]!.map((time, round) => time - bare[round]!);
    return {
      name,
      "µs of CPU per call": perCall(times[index]!),
      "more than a bare fetch": perCall(added),
      "ratio to ours": medianRatio(times[index]!, ours),
    };
  });
  return {
    title: "Calls with a valid token",
    note: "One after another, with the session in memory. The servers run in " +
      `another process on loopback; ${ours.length} rounds of ${CALLS} calls.`,
    rows,
  };
}
