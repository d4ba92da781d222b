/**
 * The program of a contestant. Its argument is JSON: the index of the contest, the name
 * of the contestant and the addresses of the servers. It prints a line when it is ready;
 * for each line that it receives, it takes a turn and prints the times of that.
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { CONTESTS } from "./contest.ts";
import { requireResult, type Turn } from "./timing.ts";

/** What a turn should take: much more than the resolution of the clock. */
const TURN_MS = 5;
const WARM_UP_MS = 2_000;

const { contest, name, servers } = JSON.parse(Deno.args[0]!);
const { contestants, inputs, expected, calls } = CONTESTS[contest]!;
const run = (await contestants[name]!())(servers);
const values = inputs(servers);
requireResult(name, await run(values[0]!), expected(servers));

/** Receives results, so that no compiler removes a call. */
const sink: unknown[] = [];

async function takeTurn(count: number): Promise<Turn> {
  const cpuBefore = process.cpuUsage();
  const begin = performance.now();
  for (let index = 0; index < count; index++) {
    const result = run(values[index % values.length]!);
    // To await what is no promise would take longer than the call.
    sink[0] = result instanceof Promise ? await result : result;
  }
  const wall = performance.now() - begin;
  const { user, system } = process.cpuUsage(cpuBefore);
  requireResult(name, await run(values[0]!), expected(servers));
  return { wall: wall / count, cpu: (user + system) / 1_000 / count };
}

/** Calls the function until it is compiled; returns how many calls take as long as a turn. */
async function warmUp(): Promise<number> {
  const end = performance.now() + WARM_UP_MS;
  let count = 1;
  do {
    const { wall } = await takeTurn(count);
    count = Math.ceil(Math.min(TURN_MS / wall, count * 2));
  } while (performance.now() < end);
  return count;
}

const found = await warmUp();
const count = calls ?? found;
console.log("{}");
for await (const _ of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await takeTurn(count)));
}
