/** The environment of the program: its output and its signals. */

/** The part of the process that the program uses. */
export interface Host {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Checks whether the standard error, where the program asks, is a terminal. */
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
   * Starts to listen, and returns a signal that aborts when the user ends the program.
   */
  readonly endSignal: () => AbortSignal;
}
