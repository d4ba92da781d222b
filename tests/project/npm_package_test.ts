import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  entryPoints,
  findRepositoryProblems,
  finishPackageJson,
  isAllowedFile,
  isVersion,
  repositoryMembers,
  repositoryUrl,
  toSpecifier,
} from "../../scripts/support/npm_package.ts";

const URL_OF_A_FORGE = "https://forge.example/group/client";

Deno.test("entryPoints begins with the main module, and all modules exist", () => {
  assertEquals(entryPoints[0], { name: ".", path: "./mod.ts" });
  for (const { name, path } of entryPoints) {
    assertMatch(name, /^\.(\/[a-z_]+)*$/);
    const file = new URL(`../../${path}`, import.meta.url);
    assert(Deno.statSync(file).isFile, path);
  }
});

Deno.test("toSpecifier() appends the name of an entry point to the package's", () => {
  assertEquals(toSpecifier("@scope/name", "."), "@scope/name");
  assertEquals(toSpecifier("@scope/name", "./sub"), "@scope/name/sub");
});

Deno.test("repositoryUrl() uses the variables of a workflow where there is no constant", () => {
  const environment = {
    GITHUB_SERVER_URL: "https://forge.example",
    GITHUB_REPOSITORY: "group/client",
  };
  const url = repositoryUrl(environment);
  assertEquals(url, repositoryUrl({}) ?? URL_OF_A_FORGE);
});

Deno.test("repositoryMembers() returns the three members of package.json", () => {
  assertEquals(repositoryMembers(undefined), {});
  assertEquals(repositoryMembers(URL_OF_A_FORGE), {
    homepage: `${URL_OF_A_FORGE}#readme`,
    bugs: { url: `${URL_OF_A_FORGE}/issues` },
    repository: { type: "git", url: `git+${URL_OF_A_FORGE}.git` },
  });
});

Deno.test("findRepositoryProblems() accepts a package.json with all three members", () => {
  const packageJson = { name: "x", ...repositoryMembers(URL_OF_A_FORGE) };
  assertEquals(findRepositoryProblems(packageJson, URL_OF_A_FORGE), []);
});

Deno.test("findRepositoryProblems() names each member that is missing or differs", () => {
  const { homepage, bugs } = repositoryMembers(URL_OF_A_FORGE);
  const other = repositoryMembers("https://forge.example/other/client");
  assertEquals(
    findRepositoryProblems({ homepage, bugs }, URL_OF_A_FORGE),
    [
      'package.json: "repository" is missing, expected ' +
      '{"type":"git","url":"git+https://forge.example/group/client.git"}',
    ],
  );
  assertEquals(findRepositoryProblems(other, URL_OF_A_FORGE).length, 3);
  assertMatch(
    findRepositoryProblems(other, undefined).join(),
    /^The URL of the repository is unknown: /,
  );
});

Deno.test("isAllowedFile() allows dnt's files for tests only", () => {
  for (const name of ["mod.js", "lib", "_dnt.test_shims.js"]) {
    assert(isAllowedFile(name), name);
  }
  assert(isAllowedFile("_dnt.test_polyfills.d.ts"));
  assert(!isAllowedFile("_dnt.polyfills.js"));
  assert(!isAllowedFile("_dnt.shims.js"));
});

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

Deno.test("isVersion() accepts versions as in deno.json", () => {
  for (const version of ["0.9.0", "1.10.2", "1.0.0-rc.1"]) {
    assert(isVersion(version), version);
  }
  for (const text of ["", "v1.0.0", "1.0", "1.0.0 ", "1.0.0.0", "--help"]) {
    assert(!isVersion(text), text);
  }
});
