import { existsSync } from "node:fs";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { VERSION } from "../../lib/cli/_version.ts";

const root = new URL("../..", import.meta.url);

function readText(name: string): string {
  return Deno.readTextFileSync(new URL(name, root));
}

function readImports(name: string): Record<string, string> {
  return JSON.parse(readText(name)).imports;
}

Deno.test("deno.json has the version of the newest heading of CHANGELOG.md", () => {
  const { version } = JSON.parse(readText("deno.json"));
  assertMatch(version, /^\d+\.\d+\.\d+$/);
  const headings = readText("CHANGELOG.md").split("\n")
    .filter((line) => line.startsWith("## "));
  assertMatch(headings[0] ?? "", /^## \[?\d+\.\d+\.\d+\]?(\s|$)/);
  const [newest] = /\d+\.\d+\.\d+/.exec(headings[0] ?? "") ?? [];
  assertEquals(version, newest);
});

Deno.test("oauth-helper has the version of deno.json", () => {
  assertEquals(VERSION, JSON.parse(readText("deno.json")).version);
});

Deno.test("CHANGELOG.md names each version once, the newest first", () => {
  const versions = readText("CHANGELOG.md").split("\n")
    .map((line) => /^## \[?(\d+)\.(\d+)\.(\d+)/.exec(line)?.slice(1, 4))
    .filter((version) => version !== undefined)
    // Zero-padded, so that strings compare like numbers.
    .map((parts) => parts.map((part) => part.padStart(6, "0")).join("."));
  assert(versions.length > 0);
  assertEquals(versions, [...new Set(versions)].sort().reverse());
});

Deno.test("import_map.json names every npm package as deno.json does", () => {
  const imports = Object.entries(readImports("deno.json"));
  const npm = imports.filter(([, target]) => target.startsWith("npm:"));
  const map = readImports("scripts/npm_only/import_map.json");
  assert(npm.length > 0);
  for (const [name, target] of npm) assertEquals(map[name], target, name);
});

Deno.test("import_map.json names nothing that is missing in deno.json", () => {
  const known = readImports("deno.json");
  const { name: self, exports } = JSON.parse(readText("deno.json"));
  const map = readImports("scripts/npm_only/import_map.json");
  for (const [name, target] of Object.entries(map)) {
    if (name === self || name.startsWith(`${self}/`)) {
      const path = exports[name.replace(self, ".")];
      assertEquals(target, path.replace(".", "../.."), name);
    } else if (name.endsWith("/")) {
      const whole = known[name.slice(0, -1)] ?? "";
      assertEquals(target, whole.replace("npm:", "npm:/") + "/", name);
    } else if (target.startsWith("./")) {
      const [scope, pack] = name.split("/");
      assert(known[`${scope}/${pack}`]?.startsWith("jsr:"), name);
    } else {
      // A file of the project stands below the map.
      assertEquals(target, known[name]?.replace(/^\.\//, "../../"), name);
    }
  }
});

Deno.test("the top level contains nothing but the known files and folders", () => {
  const ignored = readText(".gitignore").split("\n").filter(Boolean)
    .map((line) => line.replaceAll("/", ""));
  const isIgnored = (name: string) =>
    ignored.some((pattern) =>
      pattern.startsWith("*")
        ? name.endsWith(pattern.slice(1))
        : name === pattern
    );
  const names = [...Deno.readDirSync(root)]
    .map(({ name }) => name)
    .filter((name) => !name.startsWith(".") && !isIgnored(name));
  assertEquals(
    names.sort(),
    [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "deno.json",
      "lib",
      "mod.ts",
      "scripts",
      "tests",
    ],
  );
});

Deno.test("the documents in .github/ name only tests and scripts that exist", () => {
  const directory = new URL(".github/", root);
  for (const { name } of Deno.readDirSync(directory)) {
    if (!name.endsWith(".md")) continue;
    const document = readText(`.github/${name}`);
    for (
      const [, path = ""] of document.matchAll(
        /`((?:tests|scripts)\/[^`\s<]*)`/g,
      )
    ) {
      assert(existsSync(new URL(path, root)), `${name}: ${path}`);
    }
  }
});
