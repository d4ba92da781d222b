/**
 * Measures in turns, in a random order. A disturbance of the machine then affects all,
 * and hardly changes the ratio of a round.
 */

import { isDeepStrictEqual } from "node:util";
import type { Row } from "../support/table.ts";

export interface Goal {
  readonly text: string;
  readonly reached: boolean;
}

export interface Section {
  readonly title: string;
  /** Explains the table. */
  readonly note?: string;
  readonly rows: readonly Row[];
  readonly goals?: readonly Goal[];
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

/** The milliseconds of a call, the average of one turn. */
export interface Turn {
  /** Time on the clock. */
  readonly wall: number;
  /** Time of the processor, in all threads of the process. */
  readonly cpu: number;
}

export type Kind = keyof Turn;

/** The times of all turns of a contestant, one number for each round. */
export type Times = Readonly<Record<Kind, number[]>>;

/** Returns the indices up to a number in a random order. */
function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}

/**
 * Lets contestants take turns, for this many seconds. The first fifth is not counted: it
 * opens connections and compiles code.
 */
export async function takeTurns(
  contestants: readonly (() => Promise<Turn>)[],
  seconds: number,
): Promise<Times[]> {
  const times = contestants.map((): Times => ({ wall: [], cpu: [] }));
  const start = performance.now();
  const counted = start + seconds * 1_000 / 5;
  const end = start + seconds * 1_000;
  for (let now = start; now < end; now = performance.now()) {
    for (const which of shuffled(contestants.length)) {
      const { wall, cpu } = await contestants[which]!();
      if (now < counted) continue;
      times[which]!.wall.push(wall);
      times[which]!.cpu.push(cpu);
    }
  }
  return times;
}

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
): Goal {
  const ratio = medianRatio(ours, others);
  const goal = `${text}: ${ratio} (goal: at most ${limit})`;
  return { text: goal, reached: Number(ratio) <= limit };
}
