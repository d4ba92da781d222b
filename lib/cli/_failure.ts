/** Failures of the program itself, and how the program ends. */

/** The exit codes; after a signal, 128 and its number. */
export const ExitCode = {
  /** The command was successful. */
  Done: 0,
  /** The command failed, or the doctor found a server that no client can use. */
  Failed: 1,
  /** The arguments are not valid. */
  Usage: 2,
  /** The user has to sign in, but the program cannot prompt. */
  PersonNeeded: 3,
} as const;

/** One of the exit codes. */
export type ExitCode = typeof ExitCode[keyof typeof ExitCode];

/** A command that helps after a failure, with the URL of the one that failed. */
export type NextCommand = "doctor" | "login";

/** The user's options: words, with a command to run after each but the last. */
export interface Remedy {
  readonly words: readonly string[];
  readonly commands: readonly NextCommand[];
}

/** Returns a fix from a template with the names of commands. */
export function remedy(
  words: readonly string[],
  ...commands: readonly NextCommand[]
): Remedy {
  return { words, commands };
}

/** An error of the program, with a fix for the user. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly remedy: string | Remedy | undefined;

  constructor(exitCode: number, message: string, remedy?: string | Remedy) {
    super(message);
    this.exitCode = exitCode;
    this.remedy = remedy;
  }
}

export function usageError(message: string): Failure {
  return new Failure(ExitCode.Usage, message);
}

/** Counts the characters to change, add or remove between two names. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const changed = (row[j] ?? 0) + (character === b[j] ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Returns a question with the nearest name, or an empty string. */
export function didYouMean(given: string, names: readonly string[]): string {
  const near = names
    .map((name) => ({ name, changes: distance(given.slice(0, 40), name) }))
    .filter(({ name, changes }) => changes <= name.length / 3)
    .sort((a, b) => a.changes - b.changes);
  return near[0] ? `. Did you mean ${near[0].name}?` : "";
}
