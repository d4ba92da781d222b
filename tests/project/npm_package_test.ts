/** The npm package has what dnt leaves out. */

import { assertEquals } from "@std/assert";
import { finishPackageJson } from "../../scripts/support/npm_package.ts";

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
