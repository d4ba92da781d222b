/**
 * Compares the flow from a 401 to a token, and discovery, of several clients in
 * turn with one pair of servers on loopback.
 */

import { discoverAuthorizationServerMetadata } from "@modelcontextprotocol/client";
import { discoverAuthorizationServer } from "../../mod.ts";
import { type IServers, startServers } from "./servers.ts";
import { BARE, CLIENTS } from "./clients.ts";
import {
  type IGoal,
  type ISection,
  type ITask,
  median,
  medianRatio,
  requireResult,
  type Row,
  timeTasksInTurn,
} from "./timing.ts";

/** How many times the wall time of the bare fetches ours may take. */
export const WALL_TIME_LIMITS = { onLoopback: 1.4, after10Ms: 1.02 };

/** The measurements of one contestant. */
interface IMeasured {
  readonly name: string;
  readonly requests: number;
  readonly times: readonly number[];
}

/** Counts the requests of one run of each task, then measures all in turn. */
async function measure(
  servers: IServers,
  tasks: readonly ITask[],
  milliseconds: number,
): Promise<IMeasured[]> {
  const requests: number[] = [];
  for (const { run } of tasks) {
    await servers.countRequests();
    await run();
    requests.push(await servers.countRequests());
  }
  const times = await timeTasksInTurn(tasks, milliseconds);
  return tasks.map(({ name }, index) => ({
    name,
    requests: requests[index]!,
    times: times[index]!,
  }));
}

function rowsOf(measured: readonly IMeasured[]): Row[] {
  const [ours] = measured;
  const bare = measured.find(({ name }) => name === BARE)!;
  return measured.map(({ name, requests, times }) => ({
    name,
    requests,
    "ms": median(times),
    "ratio to ours": medianRatio(times, ours!.times),
    "ratio to bare": medianRatio(times, bare.times),
  }));
}

/** The goals of a comparison: ours is its first row, bare fetches the last. */
function goalsOf(measured: readonly IMeasured[], limit: number): IGoal[] {
  const [ours, ...others] = measured;
  const bare = others.find(({ name }) => name === BARE)!;
  const fewest = Math.min(
    ...others.filter(({ name }) => !name.startsWith(BARE))
      .map(({ requests }) => requests),
  );
  const ratio = medianRatio(ours!.times, bare.times);
  return [{
    text: `no more requests than the best of the others: ${
      ours!.requests
    }, and ${fewest}`,
    reached: ours!.requests <= fewest,
  }, {
    text: `wall time at most ${limit} times that of the bare fetches: ` +
      ratio.toFixed(3),
    reached: ratio <= limit,
  }];
}

/** On loopback, where the client takes the time and not the servers. */
function mcpGoals([ours, mcp]: readonly IMeasured[], delayMs: number): IGoal[] {
  if (delayMs > 0) return [];
  const ratio = medianRatio(ours!.times, mcp!.times);
  return [{
    text: `no slower than ${mcp!.name}: ${ratio.toFixed(3)}`,
    reached: ratio <= 1,
  }];
}

async function compareFlow(
  delayMs: number,
  milliseconds: number,
  limit: number,
): Promise<ISection> {
  const servers = await startServers(delayMs);
  try {
    const tasks = CLIENTS.map(({ name, getToken }): ITask => ({
      name,
      run: async () =>
        requireResult(
          name,
          await getToken(servers.target),
          "at-of-the-benchmark",
        ),
    }));
    const measured = await measure(servers, tasks, milliseconds);
    const speed = delayMs > 0 ? `after ${delayMs} ms` : "without delay";
    return {
      title: `From 401 to a token, servers that respond ${speed}`,
      note: "Requests: resource, its metadata, the server's metadata, " +
        "registration, authorization, token. The servers run in another " +
        `process on loopback; ${measured[0]!.times.length} rounds.`,
      rows: rowsOf(measured),
      goals: [...goalsOf(measured, limit), ...mcpGoals(measured, delayMs)],
    };
  } finally {
    await servers.stop();
  }
}

async function bareDiscovery(urls: readonly string[]): Promise<string> {
  for (const url of urls) {
    const response = await fetch(url, {
      headers: { Accept: "application/json" },
    });
    if (response.ok) return (await response.json()).token_endpoint;
    await response.arrayBuffer();
  }
  return "";
}

async function compareThirdUrl(): Promise<ISection> {
  const servers = await startServers();
  try {
    const { tenant, issuer } = servers;
    const urls = [
      `${issuer}/.well-known/oauth-authorization-server/tenant`,
      `${issuer}/.well-known/openid-configuration/tenant`,
      `${tenant}/.well-known/openid-configuration`,
    ];
    const contestants: Record<string, () => Promise<string | undefined>> = {
      "ours": async () =>
        (await discoverAuthorizationServer(tenant)).serverMetadata
          .token_endpoint,
      "@modelcontextprotocol/client": async () =>
        (await discoverAuthorizationServerMetadata(tenant))?.token_endpoint,
      [BARE]: () => bareDiscovery(urls),
      "ours, with preferredServerMetadataUrl": async () =>
        (await discoverAuthorizationServer(tenant, {
          preferredServerMetadataUrl: urls[2],
        })).serverMetadata.token_endpoint,
      "bare fetch of that URL": () => bareDiscovery(urls.slice(2)),
    };
    const tasks = Object.entries(contestants).map(([name, find]): ITask => ({
      name,
      run: async () => requireResult(name, await find(), `${issuer}/token`),
    }));
    const measured = await measure(servers, tasks, 4_000);
    const [ours, theirs, bare, preferred, bareOnce] = measured;
    const again = medianRatio(preferred!.times, bareOnce!.times);
    const limit = WALL_TIME_LIMITS.onLoopback;
    return {
      title: "Discovery of a server whose metadata is at the third URL",
      note:
        "oauth4webapi and openid-client request one URL, which the caller " +
        `chooses. ${ours!.times.length} rounds.`,
      rows: rowsOf(measured),
      goals: [...goalsOf([ours!, theirs!, bare!], limit), {
        text: `one request with preferredServerMetadataUrl: ${
          preferred!.requests
        }`,
        reached: preferred!.requests === 1,
      }, {
        text: `its wall time at most ${limit} times that of a bare fetch: ` +
          again.toFixed(3),
        reached: again <= limit,
      }],
    };
  } finally {
    await servers.stop();
  }
}

/** Compares the flow without and with a delay, then discovery at the third URL. */
export async function* compareFlows(): AsyncGenerator<ISection> {
  yield await compareFlow(0, 10_000, WALL_TIME_LIMITS.onLoopback);
  yield await compareFlow(10, 10_000, WALL_TIME_LIMITS.after10Ms);
  yield await compareThirdUrl();
}
