/** The environment of the program: its output and its signals. */

/** The used part of the process. */
export interface Host {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Checks whether the standard error, which shows prompts, is a terminal. */
  readonly isTerminal: () => boolean;
  /** Checks whether the standard output is a terminal that shows colours. */
  readonly hasColours: () => boolean;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
  /** Waits until all these lines are written; rejects if that fails. */
  readonly flush: () => Promise<unknown>;
  /** Prints a line that is not a result. */
  readonly printError: (line: string) => void;
  /** Replaces the last line of the standard error, which is a terminal. */
  readonly printProgress: (text: string) => void;
  /**
   * Starts to listen, and returns a signal that aborts when the user stops the program.
   */
  readonly endSignal: () => AbortSignal;
}
