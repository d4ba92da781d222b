import { assertEquals } from "@std/assert";
import { findLayerProblems, FOLDERS } from "../../scripts/check_layers.ts";

const ROOT = "file:///project/";
const TEST_FOLDERS = { ground: [], middle: ["ground"], top: ["ground"] };

/** Checks modules given as `"lib/top/a.ts": ["lib/ground/b.ts"]`. */
function check(graph: Record<string, string[]>): string[] {
  const full = (path: string) => path.includes(":") ? path : ROOT + path;
  return findLayerProblems(
    Object.entries(graph).map(([path, imports]) => ({
      specifier: full(path),
      imports: imports.map(full),
    })),
    TEST_FOLDERS,
  );
}

Deno.test("findLayerProblems() accepts imports from allowed folders and from the same one", () => {
  assertEquals(
    check({
      "mod.ts": ["npm:x", "lib/top/a.ts"],
      "lib/top/a.ts": ["lib/top/_b.ts", "lib/ground/c.ts"],
      "lib/top/_b.ts": ["lib/ground/c.ts"],
      "lib/middle/d.ts": ["lib/ground/c.ts"],
      "lib/ground/c.ts": [],
    }),
    [],
  );
});

Deno.test("findLayerProblems() finds an import from a folder that is not allowed", () => {
  assertEquals(check({ "lib/ground/a.ts": ["lib/top/b.ts"] }), [
    "ground/a.ts must not import top/b.ts",
  ]);
  assertEquals(check({ "lib/top/a.ts": ["lib/middle/b.ts"] }), [
    "top/a.ts must not import middle/b.ts",
  ]);
});

Deno.test("findLayerProblems() finds an import from outside lib/", () => {
  for (const target of ["npm:x", "node:fs", `${ROOT}mod.ts`]) {
    assertEquals(check({ "lib/top/a.ts": [target] }), [
      `top/a.ts must not import ${target}, outside lib/`,
    ]);
  }
});

Deno.test("findLayerProblems() finds a circle within a folder, however long", () => {
  assertEquals(
    check({
      "lib/top/a.ts": ["lib/top/b.ts"],
      "lib/top/b.ts": ["lib/top/c.ts"],
      "lib/top/c.ts": ["lib/top/a.ts"],
    }),
    ["Circle: top/a.ts -> top/b.ts -> top/c.ts -> top/a.ts"],
  );
  assertEquals(check({ "lib/top/a.ts": ["lib/top/a.ts"] }), [
    "Circle: top/a.ts -> top/a.ts",
  ]);
});

Deno.test("findLayerProblems() finds a file that is in no folder", () => {
  assertEquals(check({ "lib/a.ts": [] }), [
    `${ROOT}lib/a.ts is in no folder of lib/`,
  ]);
  assertEquals(check({ "lib/attic/a.ts": [] }), [
    `${ROOT}lib/attic/a.ts is in no folder of lib/`,
  ]);
});

Deno.test("FOLDERS names the folders of lib/ and allows none to import itself back", () => {
  const lib = new URL("../../lib", import.meta.url);
  const folders = [...Deno.readDirSync(lib)].map(({ name }) => name);
  assertEquals(folders.sort(), Object.keys(FOLDERS).sort());
  const order = Object.keys(FOLDERS);
  for (const [folder, allowed] of Object.entries(FOLDERS)) {
    for (const other of allowed) {
      assertEquals(order.indexOf(other) < order.indexOf(folder), true);
    }
  }
});
