/**
 * The cases of the table of faults as tests. A fault is played to three functions, others
 * for each fault, as all functions read responses in the same place; with `FAULTS=all`,
 * once a week, to all.
 */

import * as library from "../../mod.ts";
import { type Case, nameOf } from "./case.ts";
import { runCase } from "./run_case.ts";
import { TABLES } from "./table.ts";

const FUNCTIONS = 3;

/** Leaves out functions of the faults that are played to more. */
function choose(cases: readonly Case[]): Case[] {
  if (Deno.env.get("FAULTS") === "all") return [...cases];
  const faults = [...Map.groupBy(cases, ({ fault }) => fault).values()];
  return faults.flatMap((group, index) =>
    group.filter((_, place) =>
      (place + index * FUNCTIONS) % group.length < FUNCTIONS
    )
  );
}

export function playTables(...names: (keyof typeof TABLES)[]): void {
  for (const one of choose(names.flatMap((name) => TABLES[name]))) {
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
