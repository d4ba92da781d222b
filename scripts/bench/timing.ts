/**
 * Timing functions against each other: in one run, in turn, on the same input.
 * Whatever disturbs a machine then disturbs all of them, and a ratio taken round
 * by round keeps little of it.
 */

import { isDeepStrictEqual } from "node:util";

const WARM_UP_MS = 150;
/** Long beside the clock's resolution, short beside a pause of the machine. */
const SAMPLE_MS = 2;
const GROUP_MS = 1_500;
/** A contestant may be so slow that the time is up in its first round. */
const MIN_ROUNDS = 3;
/** Whoever takes longer for one call is called once, and that is its time. */
const SLOW_NS = 1e9;

/** A line of the report: its cells by the titles of the columns. */
export type Row = Record<string, string | number>;

/** A goal of a whole table, with the numbers that decide it. */
export interface IGoal {
  readonly text: string;
  readonly reached: boolean;
}

/** A part of the report. */
export interface ISection {
  readonly title: string;
  /** What a reader must know to read the table. */
  readonly note?: string;
  readonly rows: readonly Row[];
  /** Goals that are not told by a `goal` in a row. */
  readonly goals?: readonly IGoal[];
}

/** One of the functions compared, ready to be called. */
export interface IContestant {
  readonly name: string;
  run(index: number): unknown;
}

/** One of the tasks compared that wait for something. */
export interface ITask {
  readonly name: string;
  run(): Promise<unknown>;
}

/** Where results go, so that no compiler finds a call superfluous. */
const sink: unknown[] = [];

/** A function and the inputs it is called with, one after another. */
export function contestant<Input>(
  name: string,
  inputs: readonly Input[],
  call: (input: Input) => unknown,
): IContestant {
  const { length } = inputs;
  return { name, run: (index) => call(inputs[index % length] as Input) };
}

/** Fails when a contestant does not do the work: its time would say nothing. */
export function requireResult(
  name: string,
  actual: unknown,
  expected: unknown,
): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`${name} gives a wrong result: ${JSON.stringify(actual)}`);
  }
}

/** Whether the function takes the input, rather than throwing. */
export function accepts<Input>(
  call: (input: Input) => unknown,
  input: Input,
): boolean {
  try {
    return !!call(input);
  } catch {
    return false;
  }
}

/**
 * The text as a server's reply brings it. V8 keeps literals and joined strings
 * in other forms, which make some calls slower and let caches answer others.
 */
export function received(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

/** Sixteen inputs of one kind, so that no cache answers for the work. */
export function variants<Input>(make: (id: string) => Input): Input[] {
  return Array.from({ length: 16 }, (_, index) => make(`id${index + 10}`));
}

function nsPerCall({ run }: IContestant, calls: number): number {
  const start = performance.now();
  for (let index = 0; index < calls; index++) sink[0] = run(index);
  return (performance.now() - start) * 1e6 / calls;
}

/**
 * Calls it until it is compiled; how many calls make one sample, and the
 * nanoseconds of the last.
 */
function warmUp(one: IContestant): { calls: number; ns: number } {
  const end = performance.now() + WARM_UP_MS;
  let calls = 1;
  let ns: number;
  do {
    ns = nsPerCall(one, calls);
    calls = Math.ceil(Math.min(SAMPLE_MS * 1e6 / ns, calls * 2));
  } while (performance.now() < end);
  return { calls, ns };
}

/**
 * The nanoseconds per call of each contestant, a number for every round. Each
 * round begins with another contestant, so that none always comes after the
 * same one's garbage.
 */
export function timeInTurn(contestants: readonly IContestant[]): number[][] {
  const warm = contestants.map(warmUp);
  const times: number[][] = contestants.map(() => []);
  const end = performance.now() + GROUP_MS;
  for (let round = 0; round < MIN_ROUNDS || performance.now() < end; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const which = (round + turn) % contestants.length;
      const { calls, ns } = warm[which]!;
      times[which]!.push(
        ns > SLOW_NS ? ns : nsPerCall(contestants[which]!, calls),
      );
    }
  }
  return times;
}

/**
 * The milliseconds of each task, a number for every round, for so long. A fifth
 * of that time goes before, and is not counted: connections are opened in it and
 * code is compiled. Who comes first changes, as in `timeInTurn`.
 */
export async function timeTasksInTurn(
  tasks: readonly ITask[],
  milliseconds: number,
): Promise<number[][]> {
  const times: number[][] = tasks.map(() => []);
  const start = performance.now();
  const counted = start + milliseconds / 5;
  const end = start + milliseconds;
  for (let round = 0; performance.now() < end; round++) {
    const counts = performance.now() >= counted;
    for (let turn = 0; turn < tasks.length; turn++) {
      const which = (round + turn) % tasks.length;
      const begin = performance.now();
      await tasks[which]!.run();
      if (counts) times[which]!.push(performance.now() - begin);
    }
  }
  return times;
}

/** The number in the middle; of two in the middle their mean. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** The median of the ratios, each taken within one round. */
export function medianRatio(
  times: readonly number[],
  base: readonly number[],
): number {
  return median(times.map((time, round) => time / base[round]!));
}

/** Says in words whether a goal is reached. */
export function verdict(reached: boolean): string {
  return reached ? "reached" : "missed";
}

/** Times contestants, of which the first is ours; goals go by their names. */
export function compare(
  contestants: readonly IContestant[],
  goals: Readonly<Record<string, (ratio: number) => boolean>> = {},
): Row[] {
  const times = timeInTurn(contestants);
  return contestants.map(({ name }, index) => {
    const ratio = medianRatio(times[index]!, times[0]!);
    const reached = goals[name]?.(ratio);
    return {
      name,
      "ns per call": median(times[index]!),
      "ratio to ours": ratio,
      goal: reached === undefined ? "" : verdict(reached),
    };
  });
}

/** A cell as text; how exact a number is shown goes by its column. */
function formatCell(title: string, cell: string | number): string {
  if (typeof cell === "string") return cell;
  const digits = /ratio|doubling|\bms\b|MiB/.test(title) ? 2 : 0;
  return cell.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Rows as a table of text, numbers to the right. */
export function formatTable(rows: readonly Row[]): string {
  const titles = Object.keys(rows[0] ?? {});
  const lines = [
    titles,
    ...rows.map((row) => titles.map((title) => formatCell(title, row[title]!))),
  ];
  const isNumber = titles.map((title) => typeof rows[0]![title] === "number");
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length))
  );
  return lines.map((line) =>
    line.map((cell, column) =>
      isNumber[column]
        ? cell.padStart(widths[column]!)
        : cell.padEnd(widths[column]!)
    ).join("  ").trimEnd()
  ).join("\n");
}
