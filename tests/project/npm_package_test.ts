/** The npm package has what dnt leaves out, and maps that lead to sources. */

import { assertEquals } from "@std/assert";
import {
  findMapProblems,
  finishPackageJson,
} from "../../scripts/support/npm_package.ts";

// The consumer tests hold the rest, but see what dnt writes only where JSR responds.
Deno.test("finishPackageJson() adds what dnt does not write, and keeps the rest", () => {
  assertEquals(
    finishPackageJson({
      name: "x",
      exports: {
        ".": { import: "./esm/mod.js" },
        "./sub": { import: "./esm/lib/sub/mod.js" },
      },
      bin: { program: "./esm/lib/main.js" },
      scripts: { test: "node test_runner.cjs" },
      sideEffects: false,
    }),
    {
      name: "x",
      exports: {
        // Without `import`, so that `require` finds them too.
        ".": { types: "./esm/mod.d.ts", default: "./esm/mod.js" },
        "./sub": {
          types: "./esm/lib/sub/mod.d.ts",
          default: "./esm/lib/sub/mod.js",
        },
        "./package.json": "./package.json",
      },
      bin: { program: "esm/lib/main.js" },
      sideEffects: false,
      type: "module",
    },
  );
  assertEquals(
    JSON.stringify(
      finishPackageJson({ exports: { ".": { import: "./m.js" } }, bin: {} })
        .exports,
    ),
    '{".":{"types":"./m.d.ts","default":"./m.js"},"./package.json":"./package.json"}',
  );
});

Deno.test("findMapProblems() finds declarations and modules that lead to no source", () => {
  const map = (source: string) => JSON.stringify({ sources: [source] });
  assertEquals(
    findMapProblems(
      new Map([
        ["esm/lib/a.d.ts", ""],
        ["esm/lib/a.d.ts.map", map("../../src/lib/a.ts")],
        ["src/lib/a.ts", ""],
        ["esm/b.d.ts", ""],
        ["esm/b.d.ts.map", map("../src/b.ts")],
        ["esm/c.d.ts", ""],
        ["esm/lib/a.js", ""],
        ["esm/lib/a.js.map", map("../../src/lib/a.ts")],
        ["esm/d.js", ""],
        ["esm/d.js.map", map("../lib/a.ts")],
        ["esm/e.js", ""],
      ]),
    ),
    [
      "esm/b.d.ts.map: src/b.ts is missing",
      "esm/c.d.ts has no map",
      "esm/d.js.map: lib/a.ts is missing",
      "esm/e.js has no map",
    ],
  );
});
