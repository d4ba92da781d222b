/**
 * Runs the whole table in this runtime and prints what came of it, a line of
 * JSON for each case. First argument: the URL of the library's module.
 */

import process from "node:process";
import { type Library, nameOf } from "./case.ts";
import { runCase } from "./run_case.ts";
import { TABLE } from "./table.ts";

const [address = ""] = process.argv.slice(2);
const library: Library = await import(address);
for (const one of TABLE) {
  const problem = await runCase(library, one);
  const { operation } = one;
  console.log(JSON.stringify({ operation, name: nameOf(one), problem }));
}
