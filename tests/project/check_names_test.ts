/** An underscore means that no entry point exports anything of the file. */

import { assertEquals } from "@std/assert";
import { findMisnamed } from "../../scripts/check_names.ts";

Deno.test("findMisnamed() finds files whose underscore says something else than their exports", () => {
  const sources = {
    "mod.ts": 'export { a, type IA } from "./lib/x/a.ts";\n' +
      'export {\n  b as c,\n} from "./lib/x/b.ts";\nexport { h };\n' +
      'import { h } from "./lib/x/_h.ts";\nexport * from "./lib/x/g.ts";\n',
    "lib/x/a.ts": "export const a = 1;\nexport interface IA {}\n",
    // It passes on what another file declares.
    "lib/x/b.ts": 'export { d as b } from "./_d.ts";\n',
    "lib/x/_d.ts": "export const d = 1;\n",
    "lib/x/_e.ts": "export const e = 1;\n",
    "lib/x/f.ts": "export const f = 1;\n",
    "lib/x/g.ts": "export const g = 1;\n",
    "lib/x/_h.ts": "export const h = 1;\n",
  };
  assertEquals(findMisnamed(sources, ["mod.ts"]), [
    ["lib/x/_d.ts", "lib/x/d.ts"],
    ["lib/x/_h.ts", "lib/x/h.ts"],
    ["lib/x/b.ts", "lib/x/_b.ts"],
    ["lib/x/f.ts", "lib/x/_f.ts"],
  ]);
});
