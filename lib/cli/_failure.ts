/** Failures of the program itself, and how the program ends. */

/** The exit codes; a signal ends the program with 128 and its number. */
export const ExitCode = {
  /** The command was successful. */
  Done: 0,
  /** The command failed, or the doctor found a server that no client can use. */
  Failed: 1,
  /** The arguments are not valid. */
  Usage: 2,
  /** A person has to sign in, but the program cannot ask one. */
  PersonNeeded: 3,
} as const;

/** One of the exit codes. */
export type ExitCode = typeof ExitCode[keyof typeof ExitCode];

/** An error of the program, with a remedy for the user. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly remedy: string | undefined;

  constructor(exitCode: number, message: string, remedy?: string) {
    super(message);
    this.exitCode = exitCode;
    this.remedy = remedy;
  }
}

/** Returns the error of arguments that are not valid. */
export function usageError(message: string): Failure {
  return new Failure(ExitCode.Usage, message);
}
