import { assertEquals } from "@std/assert";
import { findLayerProblems, FLOORS } from "../scripts/check_layers.ts";

const ROOT = "file:///project/";
const INVENTED = [["ground", "cellar"], ["middle", "_hidden"], ["top"]];

/** Checks modules given as `"lib/top.ts": ["lib/middle.ts"]`. */
function check(graph: Record<string, string[]>): string[] {
  const address = (name: string) => name.includes(":") ? name : ROOT + name;
  const modules = Object.entries(graph).map(([name, imports]) => ({
    specifier: address(name),
    imports: imports.map(address),
  }));
  return findLayerProblems(modules, INVENTED);
}

Deno.test("findLayerProblems() finds nothing in a graph that runs downwards", () => {
  assertEquals(
    check({
      "mod.ts": ["lib/top.ts", "lib/ground.ts"],
      "lib/top.ts": ["lib/middle.ts", "lib/_hidden.ts", "lib/ground.ts"],
      "lib/middle.ts": ["lib/ground.ts", "lib/cellar.ts"],
      "lib/_hidden.ts": ["lib/cellar.ts"],
      "lib/ground.ts": [],
      "lib/cellar.ts": [],
    }),
    [],
  );
  assertEquals(findLayerProblems([], INVENTED), []);
});

Deno.test("findLayerProblems() finds an import sideways", () => {
  assertEquals(check({ "lib/ground.ts": ["lib/cellar.ts"] }), [
    "lib/ground.ts (floor 0) imports lib/cellar.ts (floor 0)",
  ]);
  assertEquals(check({ "lib/middle.ts": ["lib/middle.ts"] }), [
    "lib/middle.ts (floor 1) imports lib/middle.ts (floor 1)",
  ]);
});

Deno.test("findLayerProblems() finds an import upwards", () => {
  assertEquals(check({ "lib/ground.ts": ["lib/top.ts"] }), [
    "lib/ground.ts (floor 0) imports lib/top.ts (floor 2)",
  ]);
  assertEquals(check({ "lib/middle.ts": ["lib/ground.ts", "lib/top.ts"] }), [
    "lib/middle.ts (floor 1) imports lib/top.ts (floor 2)",
  ]);
});

Deno.test("findLayerProblems() finds an import from outside lib/", () => {
  for (
    const target of [
      "npm:jose@6.2.17",
      "jsr:@std/assert@^1",
      "node:crypto",
      "https://example.com/x.ts",
      `${ROOT}mod.ts`,
      `${ROOT}scripts/ok.ts`,
    ]
  ) {
    assertEquals(check({ "lib/top.ts": ["lib/ground.ts", target] }), [
      `lib/top.ts imports ${target}, which is no file of lib/`,
    ]);
  }
});

Deno.test("findLayerProblems() finds a file that is on no floor", () => {
  assertEquals(check({ "lib/attic.ts": [] }), ["lib/attic.ts is on no floor"]);
  assertEquals(check({ "lib/ground/deep.ts": [] }), [
    "ground/deep.ts is on no floor",
  ]);
  assertEquals(check({ "lib/top.ts": ["lib/attic.ts"] }), [
    `lib/top.ts imports ${ROOT}lib/attic.ts, which is no file of lib/`,
  ]);
});

Deno.test("findLayerProblems() lists every problem", () => {
  assertEquals(
    check({
      "lib/ground.ts": ["lib/cellar.ts", "lib/top.ts", "npm:x"],
      "lib/attic.ts": [],
      "lib/middle.ts": ["lib/_hidden.ts"],
    }),
    [
      "lib/ground.ts (floor 0) imports lib/cellar.ts (floor 0)",
      "lib/ground.ts (floor 0) imports lib/top.ts (floor 2)",
      "lib/ground.ts imports npm:x, which is no file of lib/",
      "lib/attic.ts is on no floor",
      "lib/middle.ts (floor 1) imports lib/_hidden.ts (floor 1)",
    ],
  );
});

Deno.test("findLayerProblems() leaves modules outside lib/ alone", () => {
  assertEquals(
    check({
      "mod.ts": ["npm:x", "lib/ground.ts"],
      "tests/x_test.ts": ["mod.ts", "lib/top.ts"],
      "npm:x": ["node:fs"],
    }),
    [],
  );
});

Deno.test("FLOORS names every file of lib/ once and nothing else", () => {
  const named = FLOORS.flat().map((name) => `${name}.ts`).sort();
  const files = [...Deno.readDirSync(new URL("../lib", import.meta.url))]
    .map(({ name }) => name).sort();
  assertEquals(named, files);
});
