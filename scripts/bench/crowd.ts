/**
 * Measures the memory and time of a thousand discoveries at once. Each sample runs
 * in a new process.
 *
 * Run as a program, this file is such a process. Its arguments are the name of the
 * discovery and the target; it prints one line of JSON.
 */

import { fileURLToPath } from "node:url";
import { discoverAuthorization } from "../../mod.ts";
import { root } from "../support/deno.ts";
import { outputOf } from "../support/process.ts";
import { startServers } from "./servers.ts";
import { type ISection, median, medianRatio, type Row } from "./timing.ts";

/** How many times the memory of the bare fetches ours may take. */
export const MEMORY_LIMIT = 1.3;
const CALLS = 1_000;
const SAMPLES = 5;

interface ISample {
  readonly ms: number;
  /** Growth of the resident set to its maximum, in MiB. */
  readonly growth: number;
}

/** Functions that fetch both metadata documents and return the token endpoint. */
const DISCOVERIES: Record<
  string,
  (target: string, challenge: string) => Promise<string | undefined>
> = {
  "ours": async (target, challenge) =>
    (await discoverAuthorization(target, { challenge })).serverMetadata
      .token_endpoint,
  "bare fetches": async (_target, challenge) => {
    const read = async (url: string) =>
      await (await fetch(url, { headers: { Accept: "application/json" } }))
        .json();
    const [, url = ""] = /resource_metadata="(.*?)"/.exec(challenge) ?? [];
    const { authorization_servers: [issuer] } = await read(url);
    const { token_endpoint } = await read(
      `${issuer}/.well-known/oauth-authorization-server`,
    );
    return token_endpoint;
  },
};

async function sampleHere(name: string, target: string): Promise<ISample> {
  const discover = DISCOVERIES[name]!;
  const response = await fetch(target);
  await response.arrayBuffer();
  const challenge = response.headers.get("www-authenticate") ?? "";
  const rss = () => Deno.memoryUsage().rss / 2 ** 20;
  for (let warmUp = 0; warmUp < 10; warmUp++) await discover(target, challenge);

  const before = rss();
  let highest = before;
  const look = () => highest = Math.max(highest, rss());
  const timer = setInterval(look, 10);
  const start = performance.now();
  const found = await Promise.all(
    Array.from({ length: CALLS }, () => discover(target, challenge)),
  );
  const ms = performance.now() - start;
  look();
  clearInterval(timer);
  if (!found.every(Boolean)) throw new Error(`${name} found nothing`);
  return { ms, growth: highest - before };
}

/** Measures memory and time of each, in turn. */
export async function compareCrowds(): Promise<ISection> {
  const names = Object.keys(DISCOVERIES);
  const samples: ISample[][] = names.map(() => []);
  await using servers = await startServers();
  const program = ["run", "-A", "--quiet", fileURLToPath(import.meta.url)];
  for (let round = 0; round < SAMPLES; round++) {
    for (const [index, name] of names.entries()) {
      const args = [...program, name, servers.target];
      const options = { cwd: fileURLToPath(root) };
      const printed = await outputOf(Deno.execPath(), args, options);
      samples[index]!.push(JSON.parse(printed));
    }
  }
  const msOf = (index: number) => samples[index]!.map(({ ms }) => ms / CALLS);
  const growthOf = (index: number) =>
    samples[index]!.map(({ growth }) => growth);
  const last = names.length - 1;
  const ratio = medianRatio(growthOf(0), growthOf(last));
  const rows = names.map((name, index): Row => ({
    name,
    "ms per call": median(msOf(index)),
    "ratio to bare, time": medianRatio(msOf(index), msOf(last)),
    "MiB": median(growthOf(index)),
    "ratio to bare, memory": medianRatio(growthOf(index), growthOf(last)),
  }));
  return {
    title: `${CALLS.toLocaleString("en-US")} discoveries at once`,
    note: "Two requests each, metadata of the resource and of the server. " +
      "MiB is the growth of the resident set to its maximum; " +
      `${SAMPLES} processes of each.`,
    rows,
    goals: [{
      text: `at most ${MEMORY_LIMIT} times the memory of the bare fetches: ` +
        ratio.toFixed(2),
      reached: ratio <= MEMORY_LIMIT,
    }],
  };
}

if (import.meta.main) {
  const [name = "", target = ""] = Deno.args;
  console.log(JSON.stringify(await sampleHere(name, target)));
}
