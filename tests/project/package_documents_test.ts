/** The documents of a package have no dead link, and no hidden folder. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  declarationsBelow,
  findDeadLinks,
  makeDocuments,
} from "../../scripts/support/package_documents.ts";

const URL_OF_REPOSITORY = "https://code.example/oauth-helper/client";

async function documentsWith(url: string | undefined) {
  const documents = await makeDocuments({
    moduleAt: declarationsBelow("esm/"),
    url,
  });
  const texts = new Map(
    [...documents].filter((one): one is [string, string] =>
      typeof one[1] === "string"
    ),
  );
  const isModule = (path: string) => /^esm\/(lib\/.*|mod)\.d\.ts$/.test(path);
  const isFolder = (path: string) =>
    [...documents.keys()].some((one) => one.startsWith(`${path}/`));
  const dead = findDeadLinks(
    texts,
    (path) => documents.has(path) || isModule(path) || isFolder(path),
  );
  return { documents, texts, dead };
}

Deno.test("the documents of a package link only files of the package, whatever is known of the repository", async () => {
  for (const url of [undefined, URL_OF_REPOSITORY]) {
    const { documents, dead } = await documentsWith(url);
    assertEquals(dead, []);
    for (const path of documents.keys()) assert(!/(^|\/)\./.test(path), path);
    for (const path of ["docs/quickstart.md", "skills/oauth-helper/SKILL.md"]) {
      assert(documents.has(path), path);
    }
    const project = [...documents.keys()]
      .filter((path) => path.startsWith("docs/project/"));
    assertEquals(project.sort(), [
      "docs/project/COMPARISON.md",
      "docs/project/SECURITY.md",
    ]);
  }
});

Deno.test("README.md of a package links the repository once it is known, for the pages of registries", async () => {
  const { texts } = await documentsWith(URL_OF_REPOSITORY);
  const readme = texts.get("README.md")!;
  assertStringIncludes(readme, `(${URL_OF_REPOSITORY}/blob/v`);
  assertStringIncludes(readme, `(${URL_OF_REPOSITORY}/raw/v`);
  const relative = [...readme.matchAll(/\]\((?!#|https:)([^)]+)\)/g)];
  assertEquals(relative, []);
});

Deno.test("the skill for coding agents has at most 80 lines, and names only exports and documents", async () => {
  const { texts, documents } = await documentsWith(undefined);
  const skill = texts.get("skills/oauth-helper/SKILL.md")!;
  assert(skill.split("\n").length <= 81);
  assert(/^---\nname: oauth-helper\ndescription: /.test(skill));
  const api = await Deno.readTextFile(
    new URL("../support/public_api.txt", import.meta.url),
  );
  const names = [...skill.matchAll(/`(\w+)\(?/g)].map(([, name = ""]) => name)
    .filter((name) =>
      /^(create|code|device|client|file|redis|durable|shared|per|exchange|advice|discover|fetch)[A-Z]/
        .test(name)
    );
  assert(names.length > 10);
  for (const name of names) assertStringIncludes(api, name);
  for (const [path] of skill.matchAll(/docs\/[\w-]+\.md/g)) {
    assert(documents.has(path), path);
  }
});
