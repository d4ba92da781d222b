/** Versions, imports, paths and the top level of the project agree with each other. */

import { existsSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { filesBelow } from "../../scripts/support/portable_tests.ts";
import { loadedPackages } from "../support/loaded_packages.ts";
import { VERSION } from "../../lib/cli/_version.ts";

const root = new URL("../..", import.meta.url);
const PACKAGES = "scripts/import_map.json";

function readText(name: string): string {
  return Deno.readTextFileSync(new URL(name, root));
}

function readImports(name: string): Record<string, string> {
  return JSON.parse(readText(name)).imports;
}

Deno.test("CHANGELOG.md has each version once, and deno.json, oauth-helper, README.md and the form for bugs have the newest", () => {
  const { version } = JSON.parse(readText("deno.json"));
  assertEquals(VERSION, version);
  const readme = readText("README.md");
  assertEquals(/client-([\w.-]+)\.tgz/.exec(readme)?.[1], version);
  const form = readText(".github/ISSUE_TEMPLATE/bug.yml");
  assertEquals(/client ([\w.-]+) on/.exec(form)?.[1], version);
  const headings = readText("CHANGELOG.md").match(/^## .*$/gm) ?? [];
  const versions = headings.map((heading) =>
    /^## \[?(\d+\.\d+\.\d+(?:-rc\.\d+)?)\]?(?:\s|$)/.exec(heading)?.[1] ??
      heading
  );
  assertEquals(versions[0], version);
  const newestFirst = [...new Set(versions)].sort((a, b) =>
    b.localeCompare(a, "en", { numeric: true })
  );
  assertEquals(versions, newestFirst);
});

Deno.test("deno.json names no package itself: Deno would download all of them for any task", () => {
  const { imports, importMap } = JSON.parse(readText("deno.json"));
  assertEquals([imports, importMap], [undefined, `./${PACKAGES}`]);
});

Deno.test("the demo's servers are in few packages, and each import of a package has a version", async () => {
  const { imports } = JSON.parse(readText(PACKAGES));
  const demo = new URL("scripts/demo.ts", root);
  const packages = await loadedPackages(demo, { isLazyToo: true });
  assertEquals(packages.sort(), ["express", "jose", "oidc-provider"]);
  for (const name of packages) assert(/@\d/.test(imports[name]), name);
});

Deno.test("import_map.json for npm names every npm package with the same version", () => {
  const imports = Object.entries(readImports(PACKAGES));
  const npm = imports.filter(([, target]) => target.startsWith("npm:"));
  const map = readImports("scripts/npm_only/import_map.json");
  assert(npm.length > 0);
  for (const [name, target] of npm) assertEquals(map[name], target, name);
});

Deno.test("import_map.json for npm has the same scopes", () => {
  const scopesOf = (name: string, up: string) =>
    Object.entries(JSON.parse(readText(name)).scopes)
      .map(([path, imports]) => [path.replace(up, ""), imports]);
  assertEquals(
    scopesOf("scripts/npm_only/import_map.json", "../../"),
    scopesOf(PACKAGES, "../"),
  );
});

Deno.test("import_map.json for npm names nothing else", () => {
  const known = readImports(PACKAGES);
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
      assertEquals(target, known[name]?.replace(/^\.\.\//, "../../"), name);
    }
  }
});

Deno.test("the top level contains nothing but the known files and folders", () => {
  const ignored = readText(".gitignore").replaceAll("/", "").split("\n");
  const names = [...Deno.readDirSync(root)].map(({ name }) => name).filter((
    name,
  ) => !/^\.|\.tgz$/.test(name) && !ignored.includes(name));
  const files = ["CHANGELOG.md", "LICENSE", "README.md", "deno.json", "mod.ts"];
  const folders = ["lib", "scripts", "tests"];
  assertEquals(names.sort(), [...files, ...folders].sort());
});

Deno.test("the documents in .github/ name only tests and scripts that exist", () => {
  for (const { name } of Deno.readDirSync(new URL(".github/", root))) {
    if (!name.endsWith(".md")) continue;
    const paths = readText(`.github/${name}`)
      .matchAll(/`((?:tests|scripts)\/[^`\s<]*)`/g);
    for (const [, path = ""] of paths) {
      assert(existsSync(new URL(path, root)), `${name}: ${path}`);
    }
  }
});

Deno.test("a row of a table in a docstring is one line: Markdown ends a table elsewhere", async () => {
  const broken: string[] = [];
  const directory = new URL("lib/", root);
  for await (const path of filesBelow(directory)) {
    const text = await Deno.readTextFile(new URL(path, directory));
    for (const [line] of text.matchAll(/^ *\* \|.*$/gm)) {
      if (!line.endsWith("|")) broken.push(`lib/${path}: ${line}`);
    }
  }
  assertEquals(broken, []);
});
