import * as library from "../../mod.ts";
import { nameOf } from "./case.ts";
import { runCase } from "./run_case.ts";
import { TABLE } from "./table.ts";

for (const one of TABLE) {
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

Deno.test("the table of faults has no name twice", () => {
  const names = TABLE.map(nameOf);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(twice.join(", "));
});
