/** The report of the benchmark as Markdown. */

import { formatCell, type IGoal, type ISection } from "./timing.ts";

/** Everything that a run found out. */
interface IReport {
  readonly environment: Readonly<Record<string, string | number>>;
  readonly limits: Readonly<Record<string, string | number>>;
  readonly sections: readonly ISection[];
}

/** The goals of a section: those of its rows, then those of the whole table. */
function goalsOf({ title, rows, goals = [] }: ISection): IGoal[] {
  const ofRows = rows.filter(({ goal }) => goal).map((row): IGoal => ({
    text: `${title}: ${row.name ?? row.pattern}`,
    reached: row.goal === "reached",
  }));
  const ofTable = goals.map(({ text, reached }) => ({
    text: `${title}: ${text}`,
    reached,
  }));
  return [...ofRows, ...ofTable];
}

/** How many goals are reached, and how many are not. */
export function countGoals(sections: readonly ISection[]) {
  const goals = sections.flatMap(goalsOf);
  const reached = goals.filter((goal) => goal.reached).length;
  return { reached, missed: goals.length - reached };
}

/** A cell that keeps its bars, and tells no path of the machine. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/(\/[\w.-]+){2,}/g, "…");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function table({ rows }: ISection): string {
  const titles = Object.keys(rows[0] ?? {});
  return [
    line(titles),
    line(
      titles.map((title) =>
        typeof rows[0]![title] === "number" ? "---:" : "---"
      ),
    ),
    ...rows.map((row) =>
      line(titles.map((title) => cell(formatCell(title, row[title]!))))
    ),
  ].join("\n");
}

function list(goals: readonly IGoal[]): string {
  return goals.map(({ text }) => `- ${text}`).join("\n");
}

/** A document that `deno fmt` still has to lay out. */
export function formatMarkdown(
  { environment, limits, sections }: IReport,
): string {
  const facts = Object.entries({ ...environment, ...limits })
    .map(([name, value]) => line([name, cell(String(value))]));
  const goals = sections.flatMap(goalsOf);
  const missed = goals.filter(({ reached }) => !reached);
  const reached = goals.filter((goal) => goal.reached);
  return [
    "# Results of the benchmark",
    "Written by `deno task bench`, never by hand. Every table is of one run, in " +
    "which the contestants took turns; times are medians, and ratios medians of " +
    "the ratios of each turn. A ratio to ours above 1 says that ours is the " +
    "faster or smaller one. openid-client has no metadata of resources and no " +
    "challenges, so it is shown, and is no peer with the same reach.",
    [line(["", ""]), line(["---", "---"]), ...facts].join("\n"),
    "## Goals",
    `${missed.length} missed:`,
    list(missed),
    `${reached.length} reached:`,
    list(reached),
    ...sections.flatMap((section) => [
      `## ${section.title}`,
      ...(section.note ? [section.note] : []),
      table(section),
    ]),
  ].filter(Boolean).join("\n\n") + "\n";
}
