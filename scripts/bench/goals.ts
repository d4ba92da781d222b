/** The goals of a benchmark run. */

import type { IGoal, ISection } from "./timing.ts";

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

/** Counts the goals that were reached, and lists those that were missed. */
export function judgeGoals(
  sections: readonly ISection[],
): { reached: number; missed: string[] } {
  const goals = sections.flatMap(goalsOf);
  const missed = goals.filter(({ reached }) => !reached);
  return {
    reached: goals.length - missed.length,
    missed: missed.map(({ text }) => text),
  };
}
