/**
 * Compares what the sources export with the packed package, value by value and
 * type by type, and with the reviewed list in `tests/support/public_api.txt`. To
 * change the public API, run this with `--update` and review the difference.
 *
 * `--sources` skips the package, which the consumers load: it is compared before a
 * release and once a week.
 *
 * `--package PATH` compares a tarball or a directory, such as dnt's `./npm`,
 * instead of the output of `deno task pack`.
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { root } from "./support/deno.ts";
import { entryPoints, toSpecifier } from "./support/npm_package.ts";
import { type Package, preparePackage } from "./support/package.ts";
import { install, outputOf, temporaryDirectory } from "./support/process.ts";
import { type PublicApi, readPublicApi } from "./support/public_api.ts";

const LIST = new URL("tests/support/public_api.txt", root);

/** Returns a line for each difference: `-` for missing and `+` for additional. */
function compareLists(
  actual: readonly string[],
  expected: readonly string[],
): string[] {
  const missing = expected.filter((line) => !actual.includes(line));
  const additional = actual.filter((line) => !expected.includes(line));
  return [
    ...missing.map((line) => `- ${line}`),
    ...additional.map((line) => `+ ${line}`),
  ];
}

/** Puts the name of its entry point before a line, except for the main one. */
const label = (entryPoint: string) => (line: string) =>
  entryPoint === "." ? line : `${entryPoint} ${line}`;

/**
 * Skips the members that the main entry point lists with the same types: the others
 * export types again that their signatures name.
 */
function withoutRepeatedMembers(
  lines: readonly string[],
  main: readonly string[],
): string[] {
  const isMember = (line: string) => /^\w+ \w+[.[]/.test(line);
  return lines.filter((line) => !isMember(line) || !main.includes(line));
}

/** Reads the public API of all entry points, each by the path of its module. */
function readAll(pathOf: (name: string, path: string) => string): PublicApi {
  const apis = entryPoints.map(({ name, path }) => ({
    name,
    ...readPublicApi(pathOf(name, path)),
  })).map(({ name, values, lines }, index, [main]) => ({
    values: values.map(label(name)),
    lines: (index === 0 ? lines : withoutRepeatedMembers(lines, main!.lines))
      .map(label(name)),
  }));
  return {
    values: apis.flatMap(({ values }) => values),
    lines: apis.flatMap(({ lines }) => lines),
  };
}

/** Installs and imports the package; returns the names of the exported values. */
async function importedValues(
  { name, tarball }: Package,
  temporary: string,
): Promise<string[]> {
  const cwd = await install(`${temporary}/installed`, {
    [name]: `file:${tarball}`,
  });
  const values: string[] = [];
  for (const { name: entryPoint } of entryPoints) {
    const specifier = JSON.stringify(toSpecifier(name, entryPoint));
    const code =
      `console.log(JSON.stringify(Object.keys(await import(${specifier})).sort()))`;
    await Deno.writeTextFile(`${cwd}/list.mjs`, code);
    const names: string[] = JSON.parse(
      await outputOf("node", ["list.mjs"], { cwd }),
    );
    values.push(...names.map(label(entryPoint)));
  }
  return values;
}

async function comparePackage(
  path: string | undefined,
  source: PublicApi,
): Promise<[title: string, differences: string[]][]> {
  await using folder = await temporaryDirectory("exports_");
  const temporary = folder.path;
  const packed = await preparePackage(path, temporary);
  const declared = readAll((name) => packed.declarations[name]!);
  return [
    [
      `the declarations of ${packed.origin} and the sources`,
      compareLists(declared.lines, source.lines),
    ],
    [
      `the values of ${packed.origin} and the sources`,
      compareLists(await importedValues(packed, temporary), source.values),
    ],
  ];
}

interface CheckOptions {
  readonly package?: string | undefined;
  readonly update?: boolean | undefined;
  readonly sources?: boolean | undefined;
}

async function check({ package: path, update, sources }: CheckOptions) {
  const source = readAll((_, path) => fileURLToPath(new URL(path, root)));
  const text = source.lines.join("\n") + "\n";
  if (update) await Deno.writeTextFile(LIST, text);
  const reviewed = (await Deno.readTextFile(LIST)).trimEnd().split("\n");
  const sections: [title: string, differences: string[]][] = [
    [
      "the sources and tests/support/public_api.txt",
      compareLists(source.lines, reviewed),
    ],
    ...(sources ? [] : await comparePackage(path, source)),
  ];
  const differing = sections.filter(([, differences]) =>
    differences.length > 0
  );
  for (const [title, differences] of differing) {
    console.error(`Different, ${title}:\n${differences.join("\n")}\n`);
  }
  console.log(
    `Exports: ${source.values.length} values, ${source.lines.length} lines ` +
      `of the public API, ${differing.length} of ${sections.length} ` +
      "comparisons fail.",
  );
  return differing.length === 0;
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      package: { type: "string" },
      sources: { type: "boolean" },
      update: { type: "boolean" },
    },
  });
  Deno.exit(await check(values) ? 0 : 1);
}
