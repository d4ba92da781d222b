/**
 * Calls one operation in a process of its own and prints how much memory that
 * took. Arguments: the library's module, the operation, two origins: of a good
 * server and of the one that plays the fault.
 */

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import type { Library, OperationName, World } from "./case.ts";
import { CALLS } from "./operations.ts";

const [address = "", operation = "", good = "", here = ""] = process.argv
  .slice(2);
const library: Library = await import(address);

/** Bytes of resident memory at the highest, since it was last forgotten. */
function peak(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}

/** Forgets what the start took, where the system can; see proc(5). */
function forgetPeak(): boolean {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
    return true;
  } catch {
    return false;
  }
}

async function call(origin: string): Promise<string> {
  const world: World = {
    here: origin,
    elsewhere: origin,
    controller: new AbortController(),
  };
  try {
    await CALLS[operation as OperationName](library, world, {}, {});
    return "a result";
  } catch (failure) {
    const [one] = failure instanceof AggregateError
      ? failure.errors
      : [failure];
    return one?.code ?? one?.name ?? String(one);
  }
}

await call(good);
const start = peak();
const isExact = forgetPeak();
const ended = await call(here);
console.log(JSON.stringify({ ended, peak: peak(), start, isExact }));
