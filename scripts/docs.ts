/**
 * Builds the documentation into `./docs`, as one site: the symbols, by `deno doc --html`,
 * and the pages, from README on.
 *
 * A docstring that links what no entry point exports fails: on a page it is plain text
 * that looks like a link in an editor. `deno doc` does not group by `@category`: the
 * list of all symbols is made here.
 */
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { deno, root } from "./support/deno.ts";
import { entryPoints } from "./support/npm_package.ts";
import { filesBelow } from "./support/portable_tests.ts";
import { writePages } from "./support/pages.ts";
import { outputOf } from "./support/process.ts";

const paths = entryPoints.map(({ path }) => path);
const directory = new URL("docs/", root);

/** Returns the names that have a page. */
async function findNames(): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const path of filesBelow(directory)) {
    const [, name] = /~\/([^/]+)\.html$/.exec(path) ?? [];
    if (name !== undefined) names.add(name);
  }
  return names;
}

/** The categories, in the order of the list: what most programs need comes first. */
const CATEGORIES = [
  "Sessions",
  "Flows",
  "Stores",
  "Clients",
  "Messages of the protocol",
  "Literal layer",
  "Errors",
];

/** An export, as `deno doc --json` describes it. */
interface ISymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly location: { readonly filename: string };
    readonly jsDoc?: {
      readonly doc?: string;
      readonly tags?: readonly {
        readonly kind: string;
        readonly doc: string;
      }[];
    };
  }[];
}

/** Returns the JSON of `deno doc` for these modules. */
async function describe(...modules: string[]): Promise<string> {
  return await outputOf(Deno.execPath(), ["doc", "--json", ...modules], {
    cwd: fileURLToPath(root),
  });
}

/**
 * Returns the exports of the main entry point by category, as HTML. A type without a
 * category has that of the other exports of its file.
 */
async function listByCategory(): Promise<string> {
  const { nodes } = JSON.parse(await describe("mod.ts"));
  const symbols = Object.values(nodes).flatMap((node) =>
    (node as { symbols: ISymbol[] }).symbols
  );
  const ofFile = new Map<string, string>();
  const all = symbols.map(({ name, declarations: [first] }) => {
    const { kind, location: { filename }, jsDoc } = first!;
    const { doc } = jsDoc?.tags?.find(({ kind }) => kind === "category") ?? {};
    if (doc !== undefined) ofFile.set(filename, doc.trim());
    const isType = kind === "interface" || kind === "typeAlias";
    // Links and code as text: the page of the name has them.
    const summary = (jsDoc?.doc ?? "").split(/\n\n|\.\s/)[0]!
      .replace(/\{@link(?:code)?\s+([^}]+)\}/g, "$1").replaceAll("`", "")
      .replace(/\.$/, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return { name, isType, summary, filename, category: doc?.trim() };
  });
  const categoryOf = ({ category, isType, filename }: typeof all[number]) =>
    category ?? (isType ? ofFile.get(filename) : undefined) ?? "";
  const without = all.filter((one) => !CATEGORIES.includes(categoryOf(one)));
  if (without.length > 0) {
    const names = without.map(({ name }) => name).join(", ");
    throw new Error(`A docstring needs a @category of ${CATEGORIES}: ${names}`);
  }
  const sections = CATEGORIES.map((title) => {
    const own = all.filter((one) => categoryOf(one) === title);
    const link = (name: string) =>
      `<a href="./~/${name}.html"><code>${name}</code></a>`;
    const values = own.filter(({ isType }) => !isType);
    const types = own.filter(({ isType }) => isType);
    const items = values.map(({ name, summary }) =>
      `<li>${link(name)}: ${summary}</li>`
    );
    if (types.length > 0) {
      const names = types.map(({ name }) => link(name)).join(", ");
      items.push(`<li>Types: ${names}</li>`);
    }
    return `<h2>${title}</h2><ul>${items.join("\n")}</ul>`;
  });
  return `<div class="markdown" id="categories">${sections.join("\n")}</div>`;
}

/** Returns the names that public docstrings link. */
async function findLinkedNames(): Promise<Set<string>> {
  const json = await describe(...paths);
  const links = json.matchAll(/\{@link(?:code)?\s+(?!https?:)([\w.]+)/g);
  return new Set([...links].map(([, name = ""]) => name));
}

/** Builds the pages; returns the names that are linked and not exported. */
async function build(): Promise<string[]> {
  await Deno.remove(directory, { recursive: true }).catch(() => {});
  const args = [
    "--html",
    `--name=${config.name}`,
    `--output=${fileURLToPath(directory)}`,
  ];
  if (await deno("doc", "--quiet", ...args, ...paths) !== 0) Deno.exit(1);
  const names = await findNames();
  const index = await Deno.readTextFile(new URL("index.html", directory));
  const examples = index.indexOf('<section class="section"');
  if (examples === -1) throw new Error("docs/index.html has no section");
  const list = await listByCategory();
  await Deno.writeTextFile(
    new URL("api.html", directory),
    index.slice(0, examples) + list + index.slice(examples),
  );
  const count = await writePages(directory, index);
  console.log(`${count} pages and ${names.size} names: docs/index.html`);
  const linked = await findLinkedNames();
  const isThere = (name: string) =>
    names.has(name) || names.has(name.replace(".", ".prototype."));
  return [...linked].filter((name) => !isThere(name)).sort();
}

if (import.meta.main) {
  const missing = await build();
  for (const name of missing) {
    console.error(
      `A docstring links ${name}, which no entry point exports: write it as code`,
    );
  }
  Deno.exit(missing.length === 0 ? 0 : 1);
}
