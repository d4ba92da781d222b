/** Reads the TAP report of Node's test runner. */

import { stripVTControlCharacters } from "node:util";
import type { IRun } from "../support/process.ts";

/** Returns the failing tests of a report, each with its error. */
function failuresOf(tap: string): string[] {
  const failing = /^not ok \d+ - (.+)\n {2}---\n([^]*?)\n {2}\.\.\.$/gm;
  return [...tap.matchAll(failing)].map(([, name, details = ""]) => {
    const [, error = "no error"] =
      /^ {2}error: (?:\|-\n)?(.*(?:\n {4}.*)*)/m.exec(details) ?? [];
    return `${name}: ${error.trim().replace(/\s+/g, " ")}`;
  });
}

/** Returns how many tests of a run passed, and what is wrong. */
export function judgeTap(
  { code, stdout, stderr }: IRun,
): { passed: number; failure?: string | undefined } {
  const tap = stripVTControlCharacters(stdout);
  // Counted here, because a run that was stopped has no summary.
  const passed = [...tap.matchAll(/^ok \d+(?!.* # (?:SKIP|TODO))/gm)].length;
  const problems = failuresOf(tap);
  if (code !== 0) problems.push(...stderr.trim().split("\n").filter(Boolean));
  if (problems.length === 0 && code !== 0) problems.push(`Exit code ${code}`);
  if (problems.length === 0 && passed === 0) problems.push("No test was run");
  return { passed, failure: problems.join("\n") || undefined };
}
