/**
 * Installs the packed package in every supported runtime and runs the same scenario
 * there (`tests/consumers/`). Also runs the unit tests, from the sources. Prints a
 * table; the exit code is 1 if anything failed or a runtime is not available.
 *
 * `--package PATH` tests a tarball or a directory, such as dnt's `./npm`, instead of
 * the output of `deno task pack`. `--only NAME` runs one consumer. `--all` runs every
 * version of Node, instead of the oldest and the newest.
 */

import { parseArgs } from "node:util";
import { runChromium, runUnused, runWorkerd } from "./consumers/bundle.ts";
import { type Context, installTool, packages } from "./consumers/context.ts";
import { runDeno } from "./consumers/deno.ts";
import { findBun, findNode, runBun, runNode } from "./consumers/node.ts";
import { runOwnTests } from "./consumers/own_tests.ts";
import { preparePackage } from "./support/package.ts";
import { temporaryDirectory } from "./support/process.ts";
import { startConsumerServer } from "./consumers/server.ts";
import { formatRows, type Row } from "./consumers/table.ts";
import { runLinters, runTypeScript } from "./consumers/types.ts";
import { runUnitTests } from "./consumers/unit_tests.ts";

const CONSUMERS: Record<
  string,
  (context: Context) => Promise<readonly Row[]>
> = {
  node: runNode,
  bun: runBun,
  workerd: runWorkerd,
  chromium: runChromium,
  deno: runDeno,
  unused: runUnused,
  typescript: runTypeScript,
  unit_tests: runUnitTests,
  own_tests: runOwnTests,
  linters: runLinters,
};

/** Downloads all tools at once; a failure is reported where the tool is used. */
async function download(temporary: string): Promise<void> {
  const context = { temporary };
  const tool = (name: string, version: string) =>
    installTool(context, name, version);
  await Promise.allSettled([
    ...packages.node.map((version) => findNode(context, version)),
    findBun(context),
    tool("miniflare", packages.miniflare),
    tool("esbuild", packages.esbuild),
    ...packages.typescript.map((version) => tool("typescript", version)),
    tool("publint", packages.publint),
    tool("@arethetypeswrong/cli", packages["@arethetypeswrong/cli"]),
  ]);
}

const { values } = parseArgs({
  args: Deno.args,
  options: {
    package: { type: "string" },
    only: { type: "string" },
    // Read in consumers/context.ts.
    all: { type: "boolean" },
  },
});
const started = performance.now();
const rows: Row[] = [];
{
  await using directory = await temporaryDirectory("consumers_");
  const temporary = directory.path;
  await using server = await startConsumerServer();
  if (values.only === undefined) await download(temporary);
  const context: Context = {
    package: await preparePackage(values.package, temporary),
    server: server.origin,
    temporary,
  };
  const { name, version, origin } = context.package;
  console.log(`${name} ${version} from ${origin}`);
  // One after the other: several use all processors.
  for (const [name, consume] of Object.entries(CONSUMERS)) {
    if (values.only !== undefined && values.only !== name) continue;
    rows.push(...await consume(context));
  }
}
const seconds = Math.round((performance.now() - started) / 1_000);
console.log(`\n${formatRows(rows)}\n\n${seconds} s.`);
Deno.exit(rows.some(({ failure }) => failure !== undefined) ? 1 : 0);
