/**
 * Holds the public surface together: what `mod.ts` exports, what the packed
 * package exports, value by value and type by type, and the reviewed list in
 * `tests/support/public_api.txt`. Who means to change the surface runs it with `--update`
 * and reads the difference.
 *
 * `--package PATH` compares a tarball or a directory, such as dnt's `./npm`, in
 * place of what `deno pack` makes.
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { install, outputOf } from "./support/process.ts";
import { type IPackage, preparePackage } from "./support/package.ts";
import { root } from "./support/deno.ts";
import { readPublicApi } from "./support/public_api.ts";

const LIST = new URL("tests/support/public_api.txt", root);

/** What is in one list and not in the other, a line each. */
export function compareLists(
  actual: readonly string[],
  expected: readonly string[],
): string[] {
  return [
    ...expected.filter((line) => !actual.includes(line)).map((line) =>
      `- ${line}`
    ),
    ...actual.filter((line) => !expected.includes(line)).map((line) =>
      `+ ${line}`
    ),
  ];
}

/** The values that the package exports once it is installed and loaded. */
async function importedValues(
  { name, tarball }: IPackage,
  temporary: string,
): Promise<string[]> {
  const cwd = await install(`${temporary}/installed`, {
    [name]: `file:${tarball}`,
  });
  const code = `console.log(JSON.stringify(Object.keys(await import(${
    JSON.stringify(name)
  })).sort()))`;
  await Deno.writeTextFile(`${cwd}/list.mjs`, code);
  return JSON.parse(await outputOf("node", ["list.mjs"], { cwd }));
}

async function check(path: string | undefined, update: boolean) {
  const temporary = await Deno.makeTempDir({ prefix: "exports_" });
  try {
    const source = readPublicApi(fileURLToPath(new URL("mod.ts", root)));
    const text = source.lines.join("\n") + "\n";
    if (update) await Deno.writeTextFile(LIST, text);
    const reviewed = (await Deno.readTextFile(LIST)).trimEnd().split("\n");
    const packed = await preparePackage(path, temporary);
    const declared = readPublicApi(packed.declarations);
    const sections: [title: string, differences: string[]][] = [
      [
        "mod.ts and tests/support/public_api.txt",
        compareLists(source.lines, reviewed),
      ],
      [
        "the package's declarations and mod.ts",
        compareLists(declared.lines, source.lines),
      ],
      [
        "the package's values and mod.ts",
        compareLists(await importedValues(packed, temporary), source.values),
      ],
    ];
    const differing = sections.filter(([, differences]) =>
      differences.length > 0
    );
    for (const [title, differences] of differing) {
      console.error(`Different, ${title}:\n${differences.join("\n")}\n`);
    }
    console.log(
      `Exports: ${source.values.length} values, ${source.lines.length} lines ` +
        `of the public surface, ${differing.length} of ${sections.length} ` +
        `comparisons fail (package from ${packed.origin}).`,
    );
    return differing.length === 0;
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { package: { type: "string" }, update: { type: "boolean" } },
  });
  Deno.exit(await check(values.package, values.update ?? false) ? 0 : 1);
}
