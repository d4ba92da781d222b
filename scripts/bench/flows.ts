/**
 * Compares the flow from a 401 to a token, and discovery, of several clients in
 * turn with one pair of servers on loopback.
 */

import { discoverAuthorizationServerMetadata } from "@modelcontextprotocol/client";
import { discoverAuthorizationServer } from "../../mod.ts";
import { ACCESS_TOKEN, startServers } from "./servers.ts";
import { CLIENTS, GUARDED_BARE } from "./clients.ts";
import {
  type ISection,
  type ITaskTimes,
  median,
  medianRatio,
  requireResult,
  timeGoal,
  timeTasksInTurn,
} from "./timing.ts";

/** Measures functions by name, of which the first is ours; each returns the expected string. */
async function measure(
  functions: Readonly<Record<string, () => Promise<string | undefined>>>,
  expected: string,
  milliseconds: number,
) {
  const names = Object.keys(functions);
  const tasks = Object.entries(functions).map(([name, run]) => async () =>
    requireResult(name, await run(), expected)
  );
  const all = await timeTasksInTurn(tasks, milliseconds);
  const [ours] = all;
  const rows = all.map(({ wall, cpu }, index) => ({
    name: names[index]!,
    "ms": median(wall).toFixed(2),
    "ratio to ours": medianRatio(wall, ours!.wall),
    "ms of CPU": median(cpu).toFixed(2),
    "CPU, ratio to ours": medianRatio(cpu, ours!.cpu),
  }));
  const goal = (kind: keyof ITaskTimes, name: string, limit: number) => {
    const other = all[names.indexOf(name)]!;
    const text = `${kind} time by ${name}`;
    return timeGoal(text, ours![kind], other[kind], limit);
  };
  return { rows, goal, rounds: ours!.wall.length };
}

async function compareFlow(delayMs: number): Promise<ISection> {
  await using servers = await startServers(delayMs);
  const functions = Object.fromEntries(
    CLIENTS.map(({ name, getToken }) => [name, () => getToken(servers.target)]),
  );
  const { rows, goal, rounds } = await measure(functions, ACCESS_TOKEN, 10_000);
  return {
    title: `From 401 to a token, responses after ${delayMs} ms`,
    note: "Requests: resource, its metadata, the server's metadata, " +
      "registration, authorization, token. The servers run in another " +
      `process on loopback; ${rounds} rounds.`,
    rows,
    goals: delayMs > 0 ? [goal("wall", "bare fetches", 1.02)] : [
      goal("cpu", GUARDED_BARE, 1.1),
      goal("cpu", "@modelcontextprotocol/client", 1),
    ],
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
  const { rows, goal, rounds } = await measure(
    {
      "ours": async () =>
        (await discoverAuthorizationServer(tenant)).serverMetadata
          .token_endpoint,
      "@modelcontextprotocol/client": async () =>
        (await discoverAuthorizationServerMetadata(tenant))?.token_endpoint,
      "bare fetches": () =>
        bareDiscovery([
          `${issuer}/.well-known/oauth-authorization-server/tenant`,
          `${issuer}/.well-known/openid-configuration/tenant`,
          `${tenant}/.well-known/openid-configuration`,
        ]),
    },
    `${issuer}/token`,
    4_000,
  );
  return {
    title: "Discovery of a server whose metadata is at the third URL",
    note: "oauth4webapi and openid-client request one URL, which the caller " +
      `chooses. ${rounds} rounds.`,
    rows,
    goals: [goal("wall", "bare fetches", 1.4)],
  };
}

/** Compares the flow without and with a delay, then discovery at the third URL. */
export async function* compareFlows(): AsyncGenerator<ISection> {
  yield await compareFlow(0);
  yield await compareFlow(10);
  yield await compareThirdUrl();
}
