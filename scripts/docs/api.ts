/**
 * The pages of the API: one for each file of `lib/` that has exports, as a file is about
 * one noun of the protocol, and one for each entry point. TypeDoc writes them as Markdown.
 */
import { basename, dirname, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";
import config from "../../deno.json" with { type: "json" };
import { root } from "../support/deno.ts";
import { entryPoints, toSpecifier } from "../support/npm_package.ts";
import { BUILD_SECONDS, copyFromRoot, outputOf } from "../support/process.ts";
import { descriptionOf, linkTo, writePage } from "./pages.ts";

/** The categories, in the order of the menu: what most programs need comes first. */
const CATEGORIES = [
  "Sessions",
  "Flows",
  "Stores",
  "Clients",
  "Messages of the protocol",
  "Literal layer",
  "Errors",
];

export interface Export {
  readonly name: string;
  readonly isType: boolean;
  /** The file that it comes from, such as `lib/session/store.ts`. */
  readonly file: string;
}

export interface ApiPage {
  /** The path on the site, without `.md`. */
  readonly path: string;
  readonly title: string;
  /** What a program imports, such as `@scope/name/stores`. */
  readonly specifier: string;
  /** A heading of the menu: a category, or the specifier of another entry point. */
  readonly section: string;
  /** Its exports; the page of an entry point has none. */
  readonly exports: readonly Export[];
}

const read = (path: string) => Deno.readTextFileSync(new URL(path, root));

/** What `deno doc --json` says about an export. */
interface ISymbol {
  readonly name: string;
  readonly declarations: readonly [
    { readonly kind: string; readonly location: { readonly filename: string } },
  ];
}

async function exportsOf(path: string): Promise<Export[]> {
  const json = await outputOf(Deno.execPath(), ["doc", "--json", path], {
    cwd: fileURLToPath(root),
  });
  const modules: { symbols: ISymbol[] }[] = Object.values(
    JSON.parse(json).nodes,
  );
  return modules.flatMap(({ symbols }) => symbols).map((
    { name, declarations: [{ kind, location: { filename } }] },
  ) => ({
    name,
    isType: kind === "interface" || kind === "typeAlias",
    file: filename.slice(root.href.length),
  }));
}

/** Returns the words of a file name, such as "Known client". */
function wordsOf(file: string): string {
  const words = basename(file, ".ts").replace(/^_/, "").replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}

function listPages(entryPoint: string, exports: readonly Export[]) {
  const specifier = toSpecifier(config.name, entryPoint);
  const files = new Set(exports.map(({ file }) => file));
  const groups = Map.groupBy(exports, ({ file }) => {
    // `code_flow_options.ts` belongs to `code_flow.ts`.
    const main = file.replace(/_options\.ts$/, ".ts");
    return files.has(main) ? main : file;
  });
  return [...groups].map(([file, exports]): ApiPage => {
    const values = exports.filter(({ isType }) => !isType);
    const [, category = ""] = /@category (.+)/.exec(read(file)) ?? [];
    if (entryPoint === "." && !CATEGORIES.includes(category)) {
      throw new Error(`${file} needs a @category of ${CATEGORIES}`);
    }
    const words = wordsOf(file);
    return {
      path: `api${entryPoint.slice(1)}/${
        words.toLowerCase().replaceAll(" ", "-")
      }`,
      title: values.length === 1 || values.length === 2
        ? values.map(({ name }) => name).join(", ")
        : words,
      specifier,
      section: entryPoint === "." ? category : specifier,
      exports,
    };
  });
}

/** Returns the pages of the API, in the order of the menu. */
export async function listApiPages(): Promise<ApiPage[]> {
  const pages: ApiPage[] = [];
  const files = new Map<string, string>();
  for (const { name: entryPoint, path } of entryPoints) {
    const own = (await exportsOf(path)).filter(({ name, file }) => {
      const other = files.get(name);
      files.set(name, file);
      if (other === undefined || other === file) return other === undefined;
      throw new Error(`${file} and ${other} both export ${name}`);
    });
    const specifier = toSpecifier(config.name, entryPoint);
    const title = `API of ${specifier}`;
    pages.push({
      path: `api${entryPoint.slice(1)}/index`,
      title,
      specifier,
      section: specifier,
      exports: [],
    });
    pages.push(
      ...listPages(entryPoint, own).sort((a, b) =>
        CATEGORIES.indexOf(a.section) - CATEGORIES.indexOf(b.section)
      ),
    );
  }
  return pages;
}

/** Returns the path of the module of a page: TypeDoc has an `index` of its own. */
const modulePath = (path: string) => path.replace(/\/index$/, "/module");

function moduleOf({ path, specifier, exports }: ApiPage): string {
  const up = relative(dirname(path), ".");
  const entry = entryPoints.find(({ name }) =>
    toSpecifier(config.name, name) === specifier
  )!;
  if (exports.length === 0) {
    return `${/^\/\*\*[^]*?\*\//.exec(read(entry.path))?.[0]}\nexport {};\n`;
  }
  return exports.map(({ name, file, isType }) =>
    `export ${isType ? "type " : ""}{ ${name} } from "${up}/${file}";\n`
  ).join("");
}

/** Returns what TypeDoc has written, below another heading. Throws if an export is missing. */
export function finishPage(markdown: string, page: ApiPage): string {
  const { title, specifier, exports } = page;
  const content = markdown.replace(/^# .*\n+/, "");
  if (exports.length === 0) return `# ${title}\n\n${content}`;
  const headings = content.replaceAll("\\", "").matchAll(/^## (\w+)/gm);
  const found = new Set([...headings].map(([, name]) => name));
  const missing = exports.find(({ name }) => !found.has(name));
  if (missing) throw new Error(`The export ${missing.name} has no page`);
  // "Parameters" and the like are no headings: exports and members have such names.
  const body = content.replace(
    /^```[^]*?^```|^#+ ([^{\n]+)$/gm,
    (whole, title) => title === undefined ? whole : `**${title}**`,
  );
  return `# ${title} {#page-top}\n\nFrom \`${specifier}\`.\n\n${
    withDefaults(body)
  }`;
}

/**
 * Writes defaults as text: TypeDoc shows them as code, with the braces of the tag, and
 * with the asterisks of the comment in front of further lines.
 */
function withDefaults(markdown: string): string {
  return markdown.replace(
    /^\*\*Default\*\*\n+```ts\n\{([^]*?)\}\n```$/gm,
    (_, value: string) => {
      const text = value.replace(/\n\s*\* ?/g, "\n");
      const isCode = !/[` ]/.test(text);
      return `**Default:** ${isCode ? `\`${text}\`` : text}`;
    },
  );
}

/** Returns the pages of an entry point as lists, below the headings of the menu. */
function contentsOf(
  index: ApiPage,
  pages: readonly (ApiPage & { description: string })[],
): string {
  const own = pages.filter(({ specifier, exports }) =>
    specifier === index.specifier && exports.length > 0
  );
  return [...Map.groupBy(own, ({ section }) => section)].map(
    ([section, pages]) => {
      const items = pages.map(({ path, title, description }) =>
        `- [${title}](${linkTo(path, index.path)}): ${description}\n`
      );
      const heading = section === index.specifier ? "Exports" : section;
      return `\n## ${heading}\n\n${items.join("")}`;
    },
  ).join("");
}

/**
 * Writes the pages into `scripts/site/api` of this directory, where TypeDoc is installed.
 * It reads a module for each page, in `api/`, beside a copy of `lib/`. Throws if a
 * docstring links what no entry point exports. Returns the pages with descriptions.
 */
export async function writeApi(
  directory: string,
  pages: readonly ApiPage[],
  repository: string | undefined,
): Promise<(ApiPage & { description: string })[]> {
  await copyFromRoot("lib", directory);
  await copyFromRoot("scripts/docs", directory);
  for (const page of pages) {
    const file = `${directory}/${modulePath(page.path)}.ts`;
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, moduleOf(page));
  }
  const program = "node_modules/typedoc/bin/typedoc";
  const sources = repository === undefined
    ? ["--disableSources"]
    : ["--sourceLinkTemplate", `${repository}/blob/main/{path}#L{line}`];
  const args = [program, "--options", "scripts/docs/typedoc.json", ...sources];
  await outputOf("node", args, { cwd: directory, seconds: BUILD_SECONDS });
  const site = `${directory}/scripts/site`;
  // Its list of modules: the pages of the entry points have better ones.
  await Deno.remove(`${site}/README.md`);
  const written = await Promise.all(pages.map(async (page) => {
    const file = `${site}/${modulePath(page.path)}.md`;
    const markdown = await Deno.readTextFile(file);
    await Deno.remove(file);
    const { exports, title } = page;
    const isNamed = exports.some(({ name }) => title.startsWith(name));
    const description = isNamed || exports.length <= 2
      ? descriptionOf(markdown)
      : exports.map(({ name }) => name).join(", ");
    return { ...page, description, text: finishPage(markdown, page) };
  }));
  for (const page of written) {
    const { path, text, description, exports } = page;
    const isIndex = exports.length === 0;
    const contents = isIndex ? contentsOf(page, written) : "";
    // The guide has pages of the same names.
    const titleTemplate = `:title | API of ${page.specifier}`;
    const members = {
      description,
      editLink: false,
      ...(isIndex ? {} : { titleTemplate }),
    };
    await writePage(site, path, text + contents, members);
  }
  return written;
}
