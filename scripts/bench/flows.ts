/**
 * Compares the flow from a 401 to a token, and discovery, of several clients in
 * turn with one pair of servers on loopback.
 */

import { discoverAuthorizationServerMetadata } from "@modelcontextprotocol/client";
import { discoverAuthorizationServer } from "../../mod.ts";
import { ACCESS_TOKEN, type IServers, startServers } from "./servers.ts";
import { BARE, CLIENTS, GUARDED_BARE } from "./clients.ts";
import {
  type IGoal,
  type ISection,
  type ITask,
  type ITaskTimes,
  median,
  medianRatio,
  requireResult,
  type Row,
  timeTasksInTurn,
} from "./timing.ts";

/** How many times the time of the bare fetches ours may take. */
export const TIME_LIMITS = {
  /** CPU time, by those with a timeout, a size limit and PKCE. */
  cpuOnLoopback: 1.1,
  /** Wall time of a discovery, by those without. */
  wallOnLoopback: 1.4,
  /** Wall time, by those without. */
  wallAfter10Ms: 1.02,
};

/** The measurements of one contestant. */
interface IMeasured {
  readonly name: string;
  readonly requests: number;
  readonly times: ITaskTimes;
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
    "ms": median(times.wall),
    "ratio to ours": medianRatio(times.wall, ours!.times.wall),
    "ratio to bare": medianRatio(times.wall, bare.times.wall),
    "ms of CPU": median(times.cpu),
    "CPU, ratio to ours": medianRatio(times.cpu, ours!.times.cpu),
    "CPU, ratio to bare": medianRatio(times.cpu, bare.times.cpu),
  }));
}

/** The goal for the number of requests. Ours is the first row. */
function requestsGoal([ours, ...others]: readonly IMeasured[]): IGoal {
  const fewest = Math.min(
    ...others.filter(({ name }) => !name.startsWith(BARE))
      .map(({ requests }) => requests),
  );
  return {
    text: `no more requests than the best of the others: ${
      ours!.requests
    }, and ${fewest}`,
    reached: ours!.requests <= fewest,
  };
}

/** A goal for the time of ours by that of another row. */
function timeGoal(
  kind: keyof ITaskTimes,
  ours: IMeasured,
  other: IMeasured,
  limit: number,
): IGoal {
  const ratio = medianRatio(ours.times[kind], other.times[kind]);
  const time = kind === "cpu" ? "CPU time" : "wall time";
  return {
    text: `${time} at most ${limit} times that of ${other.name}: ` +
      ratio.toFixed(3),
    reached: ratio <= limit,
  };
}

function flowGoals(measured: readonly IMeasured[], delayMs: number): IGoal[] {
  const [ours, mcp] = measured;
  const rowOf = (name: string) => measured.find((row) => row.name === name)!;
  const requests = requestsGoal(measured);
  if (delayMs > 0) {
    const limit = TIME_LIMITS.wallAfter10Ms;
    return [requests, timeGoal("wall", ours!, rowOf(BARE), limit)];
  }
  // On loopback the client takes the time, and not the servers.
  const guarded = rowOf(GUARDED_BARE);
  return [
    requests,
    timeGoal("cpu", ours!, guarded, TIME_LIMITS.cpuOnLoopback),
    timeGoal("cpu", ours!, mcp!, 1),
  ];
}

async function compareFlow(
  delayMs: number,
  milliseconds: number,
): Promise<ISection> {
  await using servers = await startServers(delayMs);
  const tasks = CLIENTS.map(({ name, getToken }): ITask => ({
    name,
    run: async () =>
      requireResult(
        name,
        await getToken(servers.target),
        ACCESS_TOKEN,
      ),
  }));
  const measured = await measure(servers, tasks, milliseconds);
  const speed = delayMs > 0 ? `after ${delayMs} ms` : "without delay";
  return {
    title: `From 401 to a token, servers that respond ${speed}`,
    note: "Requests: resource, its metadata, the server's metadata, " +
      "registration, authorization, token. The servers run in another " +
      `process on loopback; ${measured[0]!.times.wall.length} rounds.`,
    rows: rowsOf(measured),
    goals: flowGoals(measured, delayMs),
  };
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
  await using servers = await startServers();
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
  const limit = TIME_LIMITS.wallOnLoopback;
  return {
    title: "Discovery of a server whose metadata is at the third URL",
    note: "oauth4webapi and openid-client request one URL, which the caller " +
      `chooses. ${ours!.times.wall.length} rounds.`,
    rows: rowsOf(measured),
    goals: [
      requestsGoal([ours!, theirs!]),
      timeGoal("wall", ours!, bare!, limit),
      {
        text: `one request with preferredServerMetadataUrl: ${
          preferred!.requests
        }`,
        reached: preferred!.requests === 1,
      },
      timeGoal("wall", preferred!, bareOnce!, limit),
    ],
  };
}

/** Compares the flow without and with a delay, then discovery at the third URL. */
export async function* compareFlows(): AsyncGenerator<ISection> {
  yield await compareFlow(0, 10_000);
  yield await compareFlow(10, 10_000);
  yield await compareThirdUrl();
}
