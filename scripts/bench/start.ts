/** Measures what an import costs at the start of a program on Node. */

import config from "../../deno.json" with { type: "json" };
import { run } from "../support/process.ts";
import {
  median,
  medianRatio,
  type Section,
  takeTurns,
  timeGoal,
  type Turn,
} from "./timing.ts";

/** Node with no import: twice, the second of which is the control. */
const BARE = "bare Node";

/** What is imported; the first is ours. */
const PROGRAMS: readonly [name: string, specifier?: string][] = [
  ["ours, packed", config.name],
  ["ours, ./native", `${config.name}/native`],
  ["openid-client", "openid-client"],
  ["oauth4webapi", "oauth4webapi"],
  ["@modelcontextprotocol/client", "@modelcontextprotocol/client"],
  [BARE],
  [`${BARE}, again (control)`],
];

async function node(args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run("node", args, { cwd });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

export async function nodeVersion(): Promise<string> {
  return (await node(["--version"], Deno.cwd())).trim();
}

/** Measures the imports of packages that are installed in a directory. */
export async function compareStart(directory: string): Promise<Section> {
  const turns = PROGRAMS.map(([, specifier], index) => {
    const file = `start_${index}.mjs`;
    const code = `${specifier ? `import ${JSON.stringify(specifier)};` : ""}
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({
  wall: performance.now(),
  cpu: (user + system) / 1_000,
}));`;
    Deno.writeTextFileSync(`${directory}/${file}`, code);
    return async (): Promise<Turn> => JSON.parse(await node([file], directory));
  });
  const times = await takeTurns(turns, 30);
  const index = PROGRAMS.findIndex(([name]) => name === BARE);
  const bare = times[index]!.cpu;
  const added = times.map(({ cpu }) =>
    cpu.map((time, round) => time - bare[round]!)
  );
  const rows = PROGRAMS.map(([name], index) => ({
    name,
    "ms of CPU": median(times[index]!.cpu).toFixed(1),
    "more than bare Node": median(added[index]!).toFixed(1),
    "ms": median(times[index]!.wall).toFixed(1),
    "CPU, to bare Node": medianRatio(times[index]!.cpu, bare),
  }));
  const other = PROGRAMS.findIndex(([name]) => name === "openid-client");
  return {
    title: "Start of a program on Node, by what it imports",
    note: `${bare.length} rounds; each start is a new process.`,
    rows,
    goals: [
      timeGoal(
        "cpu time by openid-client",
        times[0]!.cpu,
        times[other]!.cpu,
        1,
      ),
    ],
  };
}
