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
      sideEffects: false,
    }),
    {
      name: "x",
      exports: {
        // Without a condition, so that `require` finds them too.
        ".": "./esm/mod.js",
        "./sub": "./esm/lib/sub/mod.js",
        "./package.json": "./package.json",
      },
      bin: { program: "esm/lib/main.js" },
      sideEffects: false,
      type: "module",
    },
  );
});
