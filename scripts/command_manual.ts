/**
 * Writes the options into the manual, `.github/docs/command.md`, from the table that the
 * program reads: below each heading that is the name of a command, the table of its own
 * options is replaced, and below `SHARED` the table of the options that every command
 * with a sign-in accepts. Run it after a change of `lib/cli/_options.ts`; a test compares
 * them.
 */
import {
  type Command,
  type CommandOption,
  OPTIONS,
} from "../lib/cli/_options.ts";
import { root } from "./support/deno.ts";

const MANUAL = new URL(".github/docs/command.md", root);

export const SHARED = "Shared options" as const;

export const COMMANDS: readonly Command[] = [
  ...new Set(Object.values(OPTIONS).flatMap(({ of }) => [...of])),
];

/** The commands that accept every shared option. */
export const SIGN_IN: readonly Command[] = ["login", "token", "headers"];

/**
 * Returns the rows below a heading: each an option, and what it does; of a shared one
 * also the other commands that accept it.
 */
export function optionRows(heading: Command | typeof SHARED): string[][] {
  return Object.entries<CommandOption>(OPTIONS).flatMap(
    ([name, { of, help, short, value }]) => {
      const isShared = typeof help === "string" &&
        SIGN_IN.every((command) => of.includes(command));
      const isHere = heading === SHARED
        ? isShared
        : !isShared && of.includes(heading);
      if (!isHere) return [];
      const does = typeof help === "string"
        ? help
        : heading !== SHARED && help[heading] || "";
      const others = of.filter((command) => !SIGN_IN.includes(command))
        .map((command) => `\`${command}\``).join(", ");
      return [[
        `${short === undefined ? "" : `-${short}, `}--${name}` +
        (value === undefined ? "" : ` ${value}`),
        does.replaceAll("|", "\\|"),
        ...isShared ? [others] : [],
      ]];
    },
  );
}

export function withTables(page: string): string {
  return [...COMMANDS, SHARED].reduce((text, heading) => {
    const isShared = heading === SHARED;
    const table = [
      `| Option | What it does |${isShared ? " Other commands |" : ""}`,
      `| --- | --- |${isShared ? " --- |" : ""}`,
      ...optionRows(heading).map(([option, ...cells]) =>
        `| \`${option}\` | ${cells.join(" | ")} |`
      ),
    ];
    const section = new RegExp(
      `(\n## ${heading}\n.*?\n)\\| Option .*?\n\n`,
      "s",
    );
    if (!section.test(text)) throw new Error(`No table below ## ${heading}`);
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
