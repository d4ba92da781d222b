/** The cases of the table of faults as tests. */

import * as library from "../../mod.ts";
import { nameOf } from "./case.ts";
import { runCase } from "./run_case.ts";
import { TABLES } from "./table.ts";

/** Makes a test of each case of these tables. */
export function playTables(...names: (keyof typeof TABLES)[]): void {
  for (const one of names.flatMap((name) => TABLES[name])) {
    Deno.test({
      name: nameOf(one),
      sanitizeOps: true,
      sanitizeResources: true,
      sanitizeExit: true,
      async fn() {
        const problem = await runCase(library, one);
        if (problem !== undefined) throw new Error(problem);
      },
    });
  }
}
