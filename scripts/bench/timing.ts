/**
 * Measures functions in one run, in turn and with the same input. A disturbance of
 * the machine then affects all of them, and hardly changes the ratio of a round.
 */

import process from "node:process";
import { isDeepStrictEqual } from "node:util";
import type { Row } from "../support/table.ts";

const WARM_UP_MS = 150;
/** Much longer than the resolution of the clock, and short compared with a pause. */
const SAMPLE_MS = 2;
const GROUP_MS = 1_500;

/** A goal of this library. */
export interface IGoal {
  readonly text: string;
  readonly reached: boolean;
}

/** A section of the report. */
export interface ISection {
  readonly title: string;
  /** Explains the table. */
  readonly note?: string;
  readonly rows: readonly Row[];
  readonly goals?: readonly IGoal[];
}

/** Fails if a result is wrong, since the time would then be meaningless. */
export function requireResult(
  name: string,
  actual: unknown,
  expected: unknown,
): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(
      `${name} returned a wrong result: ${JSON.stringify(actual)}`,
    );
  }
}

/** Returns the order of a round; each begins with another task, so that garbage collection does not always affect the same one. */
function orderOf(count: number, round: number): number[] {
  return Array.from({ length: count }, (_, turn) => (round + turn) % count);
}

/** Receives results, so that no compiler removes a call. */
const sink: unknown[] = [];

function nsPerCall(run: (index: number) => unknown, calls: number): number {
  const start = performance.now();
  for (let index = 0; index < calls; index++) sink[0] = run(index);
  return (performance.now() - start) * 1e6 / calls;
}

/** Calls a function until it is compiled; returns the number of calls for one sample. */
function warmUp(run: (index: number) => unknown): number {
  const end = performance.now() + WARM_UP_MS;
  let calls = 1;
  do {
    const ns = nsPerCall(run, calls);
    calls = Math.ceil(Math.min(SAMPLE_MS * 1e6 / ns, calls * 2));
  } while (performance.now() < end);
  return calls;
}

/** The milliseconds of a task: one number of each kind for each round. */
export interface ITaskTimes {
  /** Time on the clock. */
  readonly wall: number[];
  /** Time of the processor, in all threads of this process. */
  readonly cpu: number[];
}

/**
 * Measures the tasks, for this many milliseconds. The first fifth is not counted: it
 * opens connections and compiles code.
 */
export async function timeTasksInTurn(
  tasks: readonly (() => Promise<unknown>)[],
  milliseconds: number,
): Promise<ITaskTimes[]> {
  const times = tasks.map((): ITaskTimes => ({ wall: [], cpu: [] }));
  const start = performance.now();
  const counted = start + milliseconds / 5;
  const end = start + milliseconds;
  for (let round = 0; performance.now() < end; round++) {
    const counts = performance.now() >= counted;
    for (const which of orderOf(tasks.length, round)) {
      const cpuBefore = process.cpuUsage();
      const begin = performance.now();
      await tasks[which]!();
      const wall = performance.now() - begin;
      const { user, system } = process.cpuUsage(cpuBefore);
      if (!counts) continue;
      times[which]!.wall.push(wall);
      times[which]!.cpu.push((user + system) / 1_000);
    }
  }
  return times;
}

/** Returns the median. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** Returns the median of the ratios, each of which is of one round. */
export function medianRatio(
  times: readonly number[],
  base: readonly number[],
): string {
  return median(times.map((time, round) => time / base[round]!)).toFixed(2);
}

/** Returns the goal that ours takes at most so many times as long as another. */
export function timeGoal(
  text: string,
  ours: readonly number[],
  others: readonly number[],
  limit: number,
): IGoal {
  const ratio = medianRatio(ours, others);
  const goal = `${text}: ${ratio} (goal: at most ${limit})`;
  return { text: goal, reached: Number(ratio) <= limit };
}

/**
 * Compares functions by name with the same inputs; the first is ours, which has to be
 * as fast as the second. Fails if one does not return what is expected of the first input.
 */
export function compare<Input>(
  title: string,
  functions: Readonly<Record<string, (input: Input) => unknown>>,
  inputs: readonly Input[],
  expected: unknown,
): ISection {
  const entries = Object.entries(functions);
  const runs = entries.map(([name, call]) => {
    requireResult(name, call(inputs[0]!), expected);
    return (index: number) => call(inputs[index % inputs.length]!);
  });
  const calls = runs.map(warmUp);
  const times: number[][] = runs.map(() => []);
  const end = performance.now() + GROUP_MS;
  for (let round = 0; performance.now() < end; round++) {
    for (const which of orderOf(runs.length, round)) {
      times[which]!.push(nsPerCall(runs[which]!, calls[which]!));
    }
  }
  const [ours, other] = times;
  return {
    title,
    rows: entries.map(([name], index) => ({
      name,
      "ns per call": Math.round(median(times[index]!)),
      "ratio to ours": medianRatio(times[index]!, ours!),
    })),
    goals: [timeGoal(`time by ${entries[1]![0]}`, ours!, other!, 1)],
  };
}
