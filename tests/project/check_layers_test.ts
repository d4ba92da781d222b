/** The check of layers finds forbidden imports, circles and files in no folder. */

import { assertEquals } from "@std/assert";
import { findLayerProblems } from "../../scripts/check_layers.ts";

const ROOT = "file:///project/";
const FOLDERS = { ground: [], middle: ["ground"], top: ["ground"] };
const ROOMS = { "top/pure/": [], "top/state/": ["top/pure/", "top/_a.ts"] };

/** Each module and what it imports, and what is wrong with that. */
const ROWS: [graph: Record<string, string[]>, problems: string[]][] = [
  [{
    "mod.ts": ["npm:x", "lib/top/a.ts"],
    "lib/top/a.ts": ["lib/top/_b.ts", "lib/ground/c.ts"],
    "lib/top/_b.ts": ["lib/ground/c.ts"],
    "lib/ground/c.ts": [],
  }, []],
  [{ "lib/ground/a.ts": ["lib/top/b.ts"] }, [
    "ground/a.ts must not import top/b.ts",
  ]],
  [{ "lib/top/a.ts": ["lib/middle/b.ts"] }, [
    "top/a.ts must not import middle/b.ts",
  ]],
  ...["npm:x", "node:fs", "mod.ts"].map((target): typeof ROWS[number] => [
    { "lib/top/a.ts": [target] },
    [`top/a.ts must not import ${full(target)}, outside lib/`],
  ]),
  [{
    "lib/top/a.ts": ["lib/top/b.ts"],
    "lib/top/b.ts": ["lib/top/c.ts"],
    "lib/top/c.ts": ["lib/top/a.ts"],
  }, ["Circle: top/a.ts -> top/b.ts -> top/c.ts -> top/a.ts"]],
  [{
    "lib/top/pure/a.ts": ["lib/ground/b.ts", "lib/top/pure/c.ts"],
    "lib/top/state/a.ts": ["lib/top/pure/c.ts", "lib/top/_a.ts"],
    "lib/top/_b.ts": ["lib/top/state/a.ts"],
  }, []],
  [{ "lib/top/pure/a.ts": ["lib/top/state/b.ts"] }, [
    "top/pure/a.ts must not import top/state/b.ts",
  ]],
  [{ "lib/top/state/a.ts": ["lib/top/_c.ts"] }, [
    "top/state/a.ts must not import top/_c.ts",
  ]],
  [{ "lib/attic/a.ts": [] }, [`${ROOT}lib/attic/a.ts is in no folder of lib/`]],
];

function full(path: string): string {
  return path.includes(":") ? path : ROOT + path;
}

Deno.test("findLayerProblems() finds imports that are not allowed, circles and files in no folder", () => {
  for (const [graph, problems] of ROWS) {
    const modules = Object.entries(graph).map(([path, imports]) => ({
      specifier: full(path),
      imports: imports.map(full),
    }));
    assertEquals(findLayerProblems(modules, FOLDERS, ROOMS), problems);
  }
});
