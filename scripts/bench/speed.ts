/** Measures the contests: each contestant in a process of its own, in random turns. */

import { fileURLToPath } from "node:url";
import { type Contest, CONTESTS } from "./contest.ts";
import { type Addresses, startServers } from "./servers.ts";
import {
  median,
  medianRatio,
  type Section,
  takeTurns,
  timeGoal,
  type Turn,
} from "./timing.ts";

/** What the second process of the baseline is called. */
const AGAIN = ", again (control)";

interface Contestant extends AsyncDisposable {
  turn(): Promise<Turn>;
}

async function startContestant(
  contest: Contest,
  name: string,
  servers: Addresses | undefined,
): Promise<Contestant> {
  const program = fileURLToPath(new URL("contestant.ts", import.meta.url));
  const argument = { contest: CONTESTS.indexOf(contest), name, servers };
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", program, JSON.stringify(argument)],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const input = child.stdin.getWriter();
  /** Reads a line, which the program writes at once. */
  const read = async () => {
    const { value } = await lines.read();
    if (value === undefined) throw new Error(`${name} has ended`);
    return JSON.parse(value);
  };
  await read();
  const turn = new TextEncoder().encode("turn\n");
  return {
    async turn() {
      await input.write(turn);
      return await read();
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      await lines.cancel();
      await child.status;
    },
  };
}

/** Returns the unit in which milliseconds are shown. */
function unitOf(milliseconds: number) {
  if (milliseconds >= 1) return { unit: "ms", digits: 2, factor: 1 };
  return milliseconds >= 0.01
    ? { unit: "µs", digits: 0, factor: 1e3 }
    : { unit: "ns", digits: 0, factor: 1e6 };
}

async function measure(contest: Contest): Promise<Section> {
  const { title, note, delayMs, contestants, baseline, seconds } = contest;
  await using started = new AsyncDisposableStack();
  const servers = delayMs === undefined
    ? undefined
    : started.use(await startServers(delayMs));
  const names = [...Object.keys(contestants), baseline];
  const processes: Contestant[] = [];
  for (const name of names) {
    processes.push(
      started.use(await startContestant(contest, name, servers)),
    );
  }
  const all = await takeTurns(processes.map(({ turn }) => turn), seconds);
  const ours = all[0]!;
  const base = all[names.indexOf(baseline)]!;
  const { unit, digits, factor } = unitOf(median(ours.wall));
  const shown = (times: readonly number[]) =>
    (median(times) * factor).toFixed(digits);
  const rows = all.map(({ wall, cpu }, index) => ({
    name: index === names.length - 1 ? `${baseline}${AGAIN}` : names[index]!,
    [unit]: shown(wall),
    "ratio to ours": medianRatio(wall, ours.wall),
    [`${unit} of CPU`]: shown(cpu),
    "to ours": medianRatio(cpu, ours.cpu),
    "to the baseline": medianRatio(cpu, base.cpu),
    "more than it": shown(cpu.map((time, round) => time - base.cpu[round]!)),
  }));
  const rounds = `${ours.wall.length} rounds, each in a random order.`;
  const goals = contest.goals.map(({ kind, other, limit }) =>
    timeGoal(
      `${kind} time by ${other}`,
      ours[kind],
      all[names.indexOf(other)]![kind],
      limit,
    )
  );
  return { title, note: `${note ? `${note} ` : ""}${rounds}`, rows, goals };
}

/** Measures all contests, one after the other. */
export async function* compareSpeed(): AsyncGenerator<Section> {
  for (const contest of CONTESTS) yield await measure(contest);
}
