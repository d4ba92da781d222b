/**
 * Measures functions in one run, in turn and with the same input. A disturbance of
 * the machine then affects all of them, and hardly changes the ratio of a round.
 */

import process from "node:process";
import { isDeepStrictEqual } from "node:util";

const WARM_UP_MS = 150;
/** Much longer than the resolution of the clock, and short compared with a pause. */
const SAMPLE_MS = 2;
const GROUP_MS = 1_500;
/** For functions so slow that the time is over in the first round. */
const MIN_ROUNDS = 3;
/** A function that takes longer is called once, and that is its time. */
const SLOW_NS = 1e9;

/** A row of the report: its cells by the titles of the columns. */
export type Row = Record<string, string | number>;

/** A goal that applies to a whole table, with the numbers that decide it. */
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
  /** Goals other than those in the column `goal`. */
  readonly goals?: readonly IGoal[];
}

/** One of the compared functions. */
interface IContestant {
  readonly name: string;
  run(index: number): unknown;
}

/** One of the compared asynchronous tasks. */
export interface ITask {
  readonly name: string;
  run(): Promise<unknown>;
}

/** The section in place of one that cannot be measured on this machine. */
export function notMeasured(title: string, failure: unknown): ISection {
  return {
    title,
    rows: [{ "not measured": String(failure).split("\n")[0]! }],
  };
}

/** Receives results, so that no compiler removes a call. */
const sink: unknown[] = [];

/** Creates a contestant that calls the function with each input in turn. */
export function contestant<Input>(
  name: string,
  inputs: readonly Input[],
  call: (input: Input) => unknown,
): IContestant {
  const { length } = inputs;
  return { name, run: (index) => call(inputs[index % length] as Input) };
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

/**
 * Returns the string as if it came from a response. V8 stores literals and
 * concatenated strings differently, which makes some calls slower and others faster.
 */
export function received(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

/** Creates sixteen inputs of one kind, so that caches do not help. */
export function variants<Input>(make: (id: string) => Input): Input[] {
  return Array.from({ length: 16 }, (_, index) => make(`id${index + 10}`));
}

function nsPerCall({ run }: IContestant, calls: number): number {
  const start = performance.now();
  for (let index = 0; index < calls; index++) sink[0] = run(index);
  return (performance.now() - start) * 1e6 / calls;
}

/**
 * Calls the function until it is compiled. Returns the number of calls for one
 * sample, and the nanoseconds of one call.
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
 * Measures the nanoseconds per call of each contestant, one number for each round.
 * Each round begins with another contestant, so that garbage collection does not
 * always affect the same one.
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

/** The milliseconds of a task: one number of each kind for each round. */
export interface ITaskTimes {
  /** Time on the clock. */
  readonly wall: number[];
  /** Time of the processor, in all threads of this process. */
  readonly cpu: number[];
}

/**
 * Measures the milliseconds of each task, for this long. The first fifth is not
 * counted: it opens connections and compiles code. The order changes as in
 * `timeInTurn`.
 */
export async function timeTasksInTurn(
  tasks: readonly ITask[],
  milliseconds: number,
): Promise<ITaskTimes[]> {
  const times = tasks.map((): ITaskTimes => ({ wall: [], cpu: [] }));
  const start = performance.now();
  const counted = start + milliseconds / 5;
  const end = start + milliseconds;
  for (let round = 0; performance.now() < end; round++) {
    const counts = performance.now() >= counted;
    for (let turn = 0; turn < tasks.length; turn++) {
      const which = (round + turn) % tasks.length;
      const cpuBefore = process.cpuUsage();
      const begin = performance.now();
      await tasks[which]!.run();
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
): number {
  return median(times.map((time, round) => time / base[round]!));
}

/** Returns the word for a goal that was reached or missed. */
export function verdict(reached: boolean): string {
  return reached ? "reached" : "missed";
}

/**
 * Compares functions by name with the same inputs; the first is ours. Fails if one does
 * not return what is expected of the first input. Goals are by names as well: how many
 * times the time of ours the other function has to take.
 */
export function compare<Input>(
  functions: Readonly<Record<string, (input: Input) => unknown>>,
  inputs: readonly Input[],
  expected: unknown,
  goals: Readonly<Record<string, number | undefined>> = {},
): Row[] {
  const contestants = Object.entries(functions).map(([name, call]) => {
    requireResult(name, call(inputs[0]!), expected);
    return contestant(name, inputs, call);
  });
  const times = timeInTurn(contestants);
  return contestants.map(({ name }, index) => {
    const ratio = medianRatio(times[index]!, times[0]!);
    const goal = goals[name];
    return {
      name,
      "ns per call": median(times[index]!),
      "ratio to ours": ratio,
      goal: goal === undefined ? "" : verdict(ratio >= goal),
    };
  });
}

/** Formats a cell; the number of digits depends on the column. */
function formatCell(title: string, cell: string | number): string {
  if (typeof cell === "string") return cell;
  const digits = /ratio|doubling|\bms\b|MiB/.test(title) ? 2 : 0;
  return cell.toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Formats rows as a table, with numbers aligned to the right. */
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
