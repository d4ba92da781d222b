/**
 * Writes the options of each command into the manual, `.github/docs/command.md`, from
 * the table that the program reads: below each heading that is the name of a command,
 * the table of options is replaced. Run it after a change of `lib/cli/_options.ts`; a
 * test compares them.
 */
import { type Command, OPTIONS, optionsOf } from "../lib/cli/_options.ts";
import { root } from "./support/deno.ts";

const MANUAL = new URL(".github/docs/command.md", root);

/** Every command that has an option. */
export const COMMANDS: readonly Command[] = [
  ...new Set(Object.values(OPTIONS).flatMap(({ of }) => [...of])),
];

/** Returns the rows of a command's options: each an option, and what it does. */
export function optionRows(command: Command): [option: string, does: string][] {
  return Object.entries(optionsOf(command))
    .map(([name, { short, value, help }]) => {
      const option = `--${name}${value === undefined ? "" : ` ${value}`}`;
      const does = typeof help === "string" ? help : help[command] ?? "";
      return [
        short === undefined ? option : `-${short}, ${option}`,
        does.replaceAll("|", "\\|"),
      ];
    });
}

/** Returns a page with the tables of these options. */
export function withTables(page: string): string {
  return COMMANDS.reduce((text, command) => {
    const rows = optionRows(command)
      .map(([option, does]) => `| \`${option}\` | ${does} |`);
    const table = ["| Option | What it does |", "| --- | --- |", ...rows];
    const section = new RegExp(
      `(\n## ${command}\n.*?\n)\\| Option .*?\n\n`,
      "s",
    );
    if (!section.test(text)) throw new Error(`No table below ## ${command}`);
    return text.replace(
      section,
      (_, start: string) => `${start}${table.join("\n")}\n\n`,
    );
  }, page);
}

if (import.meta.main) {
  const page = await Deno.readTextFile(MANUAL);
  await Deno.writeTextFile(MANUAL, withTables(page));
  console.log("Run deno fmt, which aligns the tables");
}
