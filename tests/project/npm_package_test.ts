import { assertEquals } from "@std/assert";
import { finishPackageJson } from "../../scripts/support/npm_package.ts";

// The consumer tests hold the rest, but see what dnt writes only where JSR responds.
Deno.test("finishPackageJson() adds what dnt does not write, and keeps the rest", () => {
  const both = (path: string) => ({
    import: `./esm/${path}`,
    require: `./script/${path}`,
  });
  const exports = { ".": both("mod.js"), "./sub": both("lib/sub/mod.js") };
  assertEquals(
    finishPackageJson({
      name: "x",
      exports,
      bin: { program: "./esm/lib/main.js" },
      sideEffects: false,
    }),
    {
      name: "x",
      exports: { ...exports, "./package.json": "./package.json" },
      bin: { program: "esm/lib/main.js" },
      sideEffects: false,
      type: "module",
      typesVersions: { "*": { sub: ["./script/lib/sub/mod.d.ts"] } },
    },
  );
});
