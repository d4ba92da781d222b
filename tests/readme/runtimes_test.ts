/** `runtimes.md` has the versions that are tested, and the secrets of the Worker. */
import { assert, assertEquals } from "@std/assert";
import packages from "../consumers/packages.json" with { type: "json" };
import { entryPoints } from "../../scripts/support/npm_package.ts";
import { pageAt, sectionOf } from "../support/markdown.ts";

const PAGE = pageAt("runtimes.md");
const read = (path: string) =>
  Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));

Deno.test("runtimes.md has the versions of the tests", () => {
  const text = PAGE.replace(/\s+/g, " ");
  const { node, bun, miniflare, typescript } = packages;
  assert(text.includes(`tested ${node.join(", ")} `));
  assert(text.includes(`tested ${bun} `));
  assert(text.includes(`tested with miniflare ${miniflare} `));
  assert(text.includes(`Tested with ${typescript.join(" and ")}.`));
  const [, engines = ""] = /engines: \{ node: "(.+?)" \}/
    .exec(read("scripts/support/npm_package.ts")) ?? [];
  assert(text.includes(engines.replace(" ||", " or")));
  const [, deno = ""] = /npx -y deno@(\S+)/.exec(read("README.md")) ?? [];
  assert(text.includes(`tested ${deno} `));
});

Deno.test("runtimes.md has each entry point in its first table", () => {
  const [table = ""] = /^\| Runtime .*?\n\n/ms.exec(PAGE) ?? [];
  const named = new Set(
    [...table.matchAll(/`(\.\/\w+)`/g)].map(([, name]) => name),
  );
  for (const { name } of entryPoints) {
    if (name !== ".") assert(named.has(name), name);
  }
});

Deno.test("wrangler.json has the variables of the Worker, and runtimes.md its secrets", () => {
  const section = sectionOf(PAGE, "## Cloudflare Workers");
  const config = JSON.parse(read("tests/examples/wrangler.json"));
  const worker = read("tests/examples/worker.ts");
  assertEquals(config.main, "worker.ts");
  const [{ name, class_name }] = config.durable_objects.bindings;
  assert(worker.includes(`export class ${class_name} extends DurableObject`));
  assertEquals(config.migrations[0].new_sqlite_classes, [class_name]);
  const secrets = [...section.matchAll(/wrangler secret put (\w+)/g)]
    .map(([, secret]) => secret);
  const given = [name, ...Object.keys(config.vars), ...secrets];
  const [, parts = ""] = /const \{ (.*?) \} = env;/.exec(worker) ?? [];
  const used = [...worker.matchAll(/\benv\.(\w+)/g)].map(([, one]) => one)
    .concat(parts.split(", "));
  assertEquals([...new Set(used)].sort(), given.sort());
});
