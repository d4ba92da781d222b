/**
 * Signs in to servers that people run, each in its documented configuration, and
 * prints what held. The exit code is 1 if a step fails that is expected to hold.
 *
 * Arguments select servers by a part of their names. The folders of
 * `tests/interop/servers/` say what each server can play, and which steps fail today.
 */
import { parseArgs } from "node:util";
import { play, readServers, type Result } from "../tests/interop/driver.ts";
import { STEPS } from "../tests/interop/server.ts";
import {
  explain,
  isUnexpected,
  toPeerTable,
  toTable,
} from "../tests/interop/table.ts";

const HELP = `\
Signs in to real servers, and prints what held.

  deno task interop [options] [names]

  --light       only the servers that install and start fast
  --step NAME   play this step only; repeatable
  --peers       the clients of the MCP SDK sign in as well, where they can
  --list        print the names of the servers and steps
  --help        print this

Packages are installed once, in $XDG_CACHE_HOME/oauth-helper-interop. A cell of the
table is "yes", a row of the road map for a failure that is known, "FAILED", or empty
where the server cannot play the step.`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    // `deno task` passes on the `--` that npm would remove.
    args: Deno.args.filter((argument) => argument !== "--"),
    options: {
      light: { type: "boolean" },
      step: { type: "string", multiple: true },
      peers: { type: "boolean" },
      list: { type: "boolean" },
      help: { type: "boolean" },
    },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const unknown = values.step?.filter((name) => !(name in STEPS)) ?? [];
  if (unknown.length > 0) {
    throw new Error(`No such step: ${unknown.join(", ")}`);
  }
  const servers = [...await readServers()].filter(([{ name, isLight }]) =>
    (isLight || !values.light) &&
    (positionals.length === 0 ||
      positionals.some((part) => name.includes(part)))
  );
  if (servers.length === 0) throw new Error("No such server (see --list)");
  if (values.list) {
    for (const [{ name, isLight }] of servers) {
      console.log(name + (isLight ? " (light)" : ""));
    }
    for (const [name, title] of Object.entries(STEPS)) {
      console.log(`  ${name.padEnd(16)}${title}`);
    }
    return 0;
  }

  const start = performance.now();
  const results: Result[] = [];
  let failures = 0;
  for (const [server, folder] of servers) {
    try {
      const result = await play(server, folder, {
        only: values.step,
        hasPeers: values.peers,
      });
      results.push(result);
      failures += result.outcomes.filter(isUnexpected).length;
      console.log(`${server.name}: ${result.seconds.toFixed(1)} s`);
      for (const line of explain(result)) console.log(`  ${line}`);
    } catch (failure) {
      failures++;
      console.log(`${server.name}: FAILED ${(failure as Error).message}`);
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const outcomes = results.flatMap(({ outcomes }) => outcomes);
  const held = outcomes.filter(({ failure }) => failure === undefined).length;
  const known = outcomes.length - held - outcomes.filter(isUnexpected).length;
  console.log(
    `\n${toTable(results)}\n\n${results.length} servers in ${seconds} s: ` +
      `${held} steps held, ${known} fail as is known, ${failures} failed.`,
  );
  if (values.peers) console.log(`\n${toPeerTable(results)}`);
  return failures === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    // Not by itself: the keep-alive connections of the users would delay the end.
    Deno.exit(await main());
  } catch (failure) {
    console.error(failure instanceof Error ? failure.message : failure);
    Deno.exit(1);
  }
}
